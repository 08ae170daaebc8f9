use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use drystone_formats::ArrivalFailure;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService,
};
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientOptions, Error, ObjectStore, RetryConfig, StaticCredentialProvider};
use reqwest::redirect::Policy;

/// Time limit for a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;
/// Longest reason of a failure, in letters.
const MAX_TEXT: usize = 200;
pub(super) const NO_RANGES: &str = "the server cannot send parts of files (no range requests)";
pub(super) const NOT_FOUND: &str = "the server has no such file (404)";
pub(super) const DENIED: &str = "the server denies access (401 or 403)";
pub(super) const REDIRECTS: &str = "the server redirects elsewhere; open the address there";

/// Environment variables with a key for each store. One set of all of its variables suffices.
const AWS_KEYS: &[&[&str]] = &[&["AWS_ACCESS_KEY_ID"]];
const GOOGLE_KEYS: &[&[&str]] = &[
    &["SERVICE_ACCOUNT"],
    &["GOOGLE_SERVICE_ACCOUNT"],
    &["GOOGLE_SERVICE_ACCOUNT_PATH"],
    &["GOOGLE_SERVICE_ACCOUNT_KEY"],
    &["GOOGLE_APPLICATION_CREDENTIALS"],
    &["GOOGLE_BEARER_TOKEN"],
];
const AZURE_KEYS: &[&[&str]] = &[
    &["AZURE_STORAGE_ACCOUNT_KEY"],
    &["AZURE_STORAGE_ACCESS_KEY"],
    &["AZURE_STORAGE_MASTER_KEY"],
    &["AZURE_STORAGE_SAS_KEY"],
    &["AZURE_STORAGE_SAS_TOKEN"],
    &["AZURE_STORAGE_TOKEN"],
    &["AZURE_STORAGE_USE_EMULATOR"],
    &["AZURE_USE_AZURE_CLI"],
    &["AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_SECRET"],
    &["AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE"],
];

/// Whether the environment has a key.
fn has_key(keys: &[&[&str]]) -> bool {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    keys.iter().any(|all| all.iter().all(is_set))
}

/// A web server or object store, and a path on it. No request leaves for another server, except one
/// that issues tokens for a key of the environment.
pub(super) struct Server {
    pub(super) store: Box<dyn ObjectStore>,
    pub(super) path: Path,
}

impl Server {
    /// Prepares requests to an address. `silence` is the time limit for the silence of the server. Sends nothing.
    ///
    /// # Errors
    /// An address that is not valid or not supported.
    pub(super) fn new(
        address: &str,
        retry: RetryConfig,
        silence: Duration,
    ) -> Result<Self, String> {
        let url = reqwest::Url::parse(address).map_err(|error| format!("no address: {error}"))?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err("addresses with ? or # are not supported".into());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("addresses with a name or password are not supported".into());
        }
        let client = ClientOptions::new()
            .with_connect_timeout(CONNECT_LIMIT)
            .with_timeout_disabled()
            .with_allow_http(true);
        let connector = Connector { silence };
        // Without a key, the library would request one at other addresses.
        let store: Result<Box<dyn ObjectStore>, Error> = match url.scheme() {
            "s3" => {
                let store = AmazonS3Builder::from_env()
                    .with_url(address)
                    .with_skip_signature(!has_key(AWS_KEYS))
                    .with_client_options(client)
                    .with_retry(retry)
                    .with_http_connector(connector);
                store.build().map(|store| Box::new(store) as _)
            }
            "gs" => {
                let mut store = GoogleCloudStorageBuilder::from_env().with_url(address);
                if !has_key(GOOGLE_KEYS) {
                    // Keeps the library from reading keys of other programs in the user's folder.
                    let none = GcpCredential { bearer: String::new() };
                    let none = Arc::new(StaticCredentialProvider::new(none));
                    store = store.with_credentials(none).with_skip_signature(true);
                }
                let store = store
                    .with_client_options(client)
                    .with_retry(retry)
                    .with_http_connector(connector);
                store.build().map(|store| Box::new(store) as _)
            }
            "az" => {
                let store = MicrosoftAzureBuilder::from_env()
                    .with_url(address)
                    .with_skip_signature(!has_key(AZURE_KEYS))
                    .with_client_options(client)
                    .with_retry(retry)
                    .with_http_connector(connector);
                store.build().map(|store| Box::new(store) as _)
            }
            _ => {
                let mut base = url.clone();
                base.set_path("/");
                let store = HttpBuilder::new()
                    .with_url(base)
                    .with_client_options(client)
                    .with_retry(retry)
                    .with_http_connector(connector);
                store.build().map(|store| Box::new(store) as _)
            }
        };
        let store = store.map_err(|error| text_of(&error))?;
        let path = Path::from_url_path(url.path()).map_err(|error| error.to_string())?;
        Ok(Self { store, path })
    }
}

/// Returns an address without what may be secret in it, for messages.
pub(super) fn shown(address: &str) -> String {
    let shown = address.split(['?', '#']).next().unwrap_or_default();
    match (shown.split_once("://"), shown.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        _ => shown.to_owned(),
    }
}

/// Makes clients that do not leave the host of the address.
#[derive(Debug)]
struct Connector {
    silence: Duration,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        // Installed once in a process; another provider does as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT_LIMIT)
            .read_timeout(self.silence)
            .redirect(Policy::custom(|attempt| {
                let is_allowed = attempt.previous().first().is_some_and(|first| {
                    attempt.previous().len() < MAX_REDIRECTS && is_same_server(first, attempt.url())
                });
                if is_allowed { attempt.follow() } else { attempt.stop() }
            }))
            .build();
        let client =
            client.map_err(|source| Error::Generic { store: "HTTP", source: source.into() });
        client.map(|client| HttpClient::new(Client(client)))
    }
}

/// A client that does not read the content of answers that refuse: it may be endless.
#[derive(Debug)]
struct Client(reqwest::Client);

impl HttpService for Client {
    fn call<'a, 'b>(
        &'a self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let response = HttpService::call(&self.0, request).await?;
            if response.status().is_success() {
                return Ok(response);
            }
            let (parts, _) = response.into_parts();
            Ok(HttpResponse::from_parts(parts, Vec::new().into()))
        })
    }
}

/// Whether two addresses are of the same server: scheme, host and port are equal, or both have the usual
/// port and the second is encrypted.
fn is_same_server(first: &reqwest::Url, other: &reqwest::Url) -> bool {
    let is_equal = first.scheme() == other.scheme() && first.port() == other.port();
    let is_encrypted =
        first.port().is_none() && other.port().is_none() && other.scheme() == "https";
    first.host_str() == other.host_str() && (is_equal || is_encrypted)
}

pub(super) fn replaced() -> ArrivalFailure {
    ArrivalFailure::lasting("the file was replaced while it was read; open it again")
}

/// Returns what a failure means for the user, and whether it can pass.
pub(super) fn failure_of(error: &Error) -> ArrivalFailure {
    match error {
        Error::Precondition { .. } => replaced(),
        Error::NotFound { .. } => ArrivalFailure::passing(NOT_FOUND),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            ArrivalFailure::passing(DENIED)
        }
        error => {
            let text = text_of(error);
            let no_ranges = ["non-partial response", "Range request not supported"];
            if no_ranges.iter().any(|words| text.contains(words)) {
                return ArrivalFailure::passing(NO_RANGES);
            }
            let Some((_, status)) = text.split_once("status code: ") else {
                return ArrivalFailure::passing(text);
            };
            let status: String = status.chars().take(3).collect();
            ArrivalFailure::passing(match status.starts_with('3') {
                true => REDIRECTS.into(),
                false => format!("the server answers with status {status}"),
            })
        }
    }
}

/// Returns the innermost reason of an error, which names no address.
fn text_of(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    let text = inner.to_string();
    text.chars().filter(|letter| !letter.is_control()).take(MAX_TEXT).collect()
}
