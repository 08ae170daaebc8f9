//! A web server for trying worlds and pages on this machine.

use std::{
    future::IntoFuture,
    io::ErrorKind,
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    extract::Request,
    http::{HeaderName, HeaderValue, Method, StatusCode, header, request::Parts},
    middleware::{self, Next},
    response::IntoResponse,
};
use drystone_store::PackedWorld;
use futures_util::future::{self, Either};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tokio::{net::TcpListener, runtime::Builder, time};
use tower_http::{
    cors::{AllowOrigin, CorsLayer},
    services::{ServeDir, ServeFile},
    set_header::SetResponseHeaderLayer,
};

use crate::{AppError, cli::ServeArguments, output};

/// Time for answers that are being sent when the server stops.
const STOP_LIMIT: Duration = Duration::from_secs(3);
/// Time between two looks for an interruption.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// Serves a file or a folder until the process is interrupted.
pub(crate) fn run(options: &ServeArguments) -> Result<(), AppError> {
    let path = &options.path;
    let failed = |problem: String| AppError::File { path: path.clone(), problem };
    let is_folder = path.metadata().map_err(|error| failed(error.to_string()))?.is_dir();
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(format!("cannot be served: {error}")))?;
    runtime.block_on(async {
        let address = SocketAddr::new(options.host, options.port);
        let listener = TcpListener::bind(address).await.map_err(|error| {
            failed(match error.kind() {
                ErrorKind::AddrInUse => {
                    format!("port {} is in use; choose another one with --port", options.port)
                }
                _ => format!("cannot be served at {address}: {error}"),
            })
        })?;
        let address = listener.local_addr().map_err(|error| failed(error.to_string()))?;
        let flag = super::stop_on_signal();
        output::print(&lines(path, is_folder, address))?;
        let server = axum::serve(listener, routes(path, is_folder));
        let server = server.with_graceful_shutdown(stopped(Arc::clone(&flag)));
        let limit = async move {
            stopped(flag).await;
            time::sleep(STOP_LIMIT).await;
        };
        match future::select(Box::pin(server.into_future()), Box::pin(limit)).await {
            Either::Left((result, _)) => result.map_err(|error| failed(error.to_string())),
            Either::Right(_) => Ok(()),
        }
    })
}

/// Returns what is printed at the start.
fn lines(path: &Path, is_folder: bool, address: SocketAddr) -> String {
    let name = if is_folder { String::new() } else { name_of(path) };
    // All addresses of this machine: one that works here is printed.
    let is_any = address.ip().is_unspecified();
    let host = if is_any { format!("localhost:{}", address.port()) } else { address.to_string() };
    let link = format!("http://{host}/{name}");
    let shown = output::plain(&path.display().to_string());
    let view = if is_folder { String::new() } else { format!("drystone view {link}\n") };
    format!("serving {shown} at {link} (Ctrl+C stops)\n{view}")
}

/// Returns the name of a file in its address.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    utf8_percent_encode(&name, NON_ALPHANUMERIC).to_string().replace("%2E", ".")
}

/// Whether an address may be answered: with a single file, its name; in a folder, every path without hidden
/// parts, such as those of version control.
fn is_served(address: &str, only: Option<&str>) -> bool {
    let Ok(address) = percent_decode_str(address).decode_utf8() else { return false };
    match only {
        Some(name) => address.strip_prefix('/') == Some(name),
        None => !address.split(['/', '\\']).any(|part| part.starts_with('.')),
    }
}

/// Returns the answers: files with ranges, checked for changes at each visit. Pages of other servers can read
/// packed worlds. Pages are isolated from those of other servers, so that browsers let them have threads.
fn routes(path: &Path, is_folder: bool) -> Router {
    let name = path.file_name().filter(|_| !is_folder);
    let only = name.map(|name| name.to_string_lossy().into_owned());
    let router = match is_folder {
        true => Router::new().fallback_service(ServeDir::new(path)),
        false => Router::new().fallback_service(ServeFile::new(path)),
    };
    let check = middleware::from_fn(move |request: Request, next: Next| {
        let is_served = is_served(request.uri().path(), only.as_deref());
        async move {
            match is_served {
                true => next.run(request).await,
                false => StatusCode::NOT_FOUND.into_response(),
            }
        }
    });
    let is_world = |_: &HeaderValue, request: &Parts| {
        let path = request.uri.path().to_ascii_lowercase();
        path.ends_with(&format!(".{}", PackedWorld::EXTENSION))
    };
    let cors = CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(is_world))
        .allow_methods([Method::GET, Method::HEAD])
        .allow_headers([header::RANGE, header::IF_MATCH, header::IF_RANGE])
        .expose_headers([header::CONTENT_RANGE, header::ETAG, header::LAST_MODIFIED]);
    let fixed = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
    };
    router
        .layer(check)
        .layer(cors)
        .layer(fixed(header::CACHE_CONTROL, "no-cache"))
        .layer(fixed(HeaderName::from_static("cross-origin-opener-policy"), "same-origin"))
        .layer(fixed(HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"))
        .layer(fixed(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
}

/// Ends when the process is interrupted.
async fn stopped(flag: Arc<AtomicBool>) {
    while !flag.load(Ordering::Relaxed) {
        time::sleep(LOOK_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_spaces_and_other_letters_are_coded_in_addresses() {
        assert_eq!(name_of(Path::new("worlds/alps1.dsw")), "alps1.dsw");
        assert_eq!(name_of(Path::new("a b{x}é.dsw")), "a%20b%7Bx%7D%C3%A9.dsw");
    }

    #[test]
    fn only_the_file_or_what_is_not_hidden_is_served() {
        for address in ["/a%20(1).dsw", "/a%20%281%29.dsw"] {
            assert!(is_served(address, Some("a (1).dsw")), "{address}");
        }
        for address in ["/", "/a", "/x/a%20(1).dsw", "a%20(1).dsw", "/%ff"] {
            assert!(!is_served(address, Some("a (1).dsw")), "{address}");
        }
        for address in ["/", "/a/b.dsw", "/a..b"] {
            assert!(is_served(address, None), "{address}");
        }
        for address in ["/.git/config", "/a/%2egit", "/../a", "/a/%2e%2e%5cb", "/%ff"] {
            assert!(!is_served(address, None), "{address}");
        }
    }
}
