use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use drystone_formats::{Format, SourceError};
use futures_util::StreamExt;
use object_store::{
    BackoffConfig, Error, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStoreExt, RetryConfig,
    WriteMultipart, path,
};
use tokio::runtime::Runtime;

use super::is_object_address;
use super::server::{Server, failure_of, shown};

const SIGNATURE: [u8; 8] = Format::PACKED_SIGNATURE;
/// Start of the addresses of object stores.
/// Time limit for the silence of a server, also while it takes a piece of an upload. Below [`PATIENCE`], so that the
/// request is tried again.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
/// Time for which failures that may pass are tried again: of files, and of what is asked before the work.
pub(super) const PATIENCE: Duration = Duration::from_secs(180);
pub(super) const SHORT_PATIENCE: Duration = Duration::from_secs(10);
/// Delays between attempts.
const BACKOFF: BackoffConfig = BackoffConfig {
    init_backoff: Duration::from_millis(500),
    max_backoff: Duration::from_secs(15),
    base: 2.0,
};
/// Length of the pieces of an upload, in bytes. Object stores take at most 10,000 pieces, of at least 5 MiB.
const PIECE_BYTES: u64 = 8 << 20;
const MAX_PIECES: u64 = 9_000;
const REPLACED: &str = "the file was replaced meanwhile; begin again";
/// Maximum number of pieces under way. Each has to arrive within [`SILENCE_LIMIT`].
const MAX_PIECES_AT_ONCE: usize = 2;

/// Copies a file to an object store, such as `s3://BUCKET/KEY`, and calls `each` with the number of bytes that were
/// handed over. The object appears when it is complete, and replaces an older one. Credentials, region and
/// endpoint come from the same environment variables as those of [`open_remote`](crate::open_remote).
///
/// # Cost
/// Memory: three pieces of 8 MiB, or of 1/9000 of the file if that is more.
///
/// # Errors
/// A file that cannot be read, the address of a web server, and a store that cannot be reached or refuses.
/// Failures that may pass are tried again for three minutes.
pub fn upload(file: &Path, address: &str, each: &mut dyn FnMut(u64)) -> Result<(), SourceError> {
    let transfer = Transfer::to(address, PATIENCE)?;
    let unreadable = |problem| SourceError::Unreadable { path: file.into(), problem };
    let input = File::open(file).map_err(unreadable)?;
    let size = input.metadata().map_err(unreadable)?.len();
    let sent = transfer.runtime.block_on(transfer.send(input, size, each));
    sent.map_err(|error| match error {
        NotSent::Input(problem) => unreadable(problem),
        NotSent::Store(error) => not_sent(address, failure_of(&error).problem),
    })
}

/// Whether an upload to an address of an object store replaces nothing but a packed world. True if the object
/// cannot be read, as with rights for writing only. Begins an upload and cancels it, so that missing rights are
/// found before the file is made.
///
/// # Errors
/// The address of a web server, and a store that cannot be reached or denies uploads.
pub fn is_replaceable(address: &str) -> Result<bool, SourceError> {
    let Transfer { runtime, server: Server { store, path } } =
        Transfer::to(address, SHORT_PATIENCE)?;
    let checked = runtime.block_on(async {
        match store.get_range(&path, 0..SIGNATURE.len() as u64).await {
            Ok(start) if start != SIGNATURE[..] => return Ok(false),
            Ok(_)
            | Err(
                Error::NotFound { .. }
                | Error::PermissionDenied { .. }
                | Error::Unauthenticated { .. },
            ) => {}
            // The range is not in an empty object.
            Err(error) if failure_of(&error).problem.contains("416") => {}
            Err(error) => return Err(error),
        }
        let mut upload = store.put_multipart(&path).await?;
        // The right to cancel may be missing.
        let _ = upload.abort().await;
        Ok(true)
    });
    checked.map_err(|error| not_sent(address, failure_of(&error).problem))
}

fn not_sent(address: &str, problem: String) -> SourceError {
    SourceError::NotSent { path: shown(address).into(), problem }
}

/// Copies the file at an address of a web server or object store to this machine.
///
/// # Errors
/// An address that cannot be reached or has no such file, and a file that cannot be written. Failures that may
/// pass are tried again for three minutes.
pub fn download(address: &str, file: &Path) -> Result<(), SourceError> {
    let failed = |problem| SourceError::NotReceived { path: shown(address).into(), problem };
    let transfer = Transfer::new(address, PATIENCE).map_err(failed)?;
    let received = transfer.receive(&transfer.server.path, file, None);
    received.map_err(|problem| failed(problem.to_string()))
}

/// Copies whole files from and to a server, in the calling thread.
pub(super) struct Transfer {
    pub(super) runtime: Runtime,
    pub(super) server: Server,
}

/// Reason why a file was not sent.
enum NotSent {
    Input(io::Error),
    Store(Error),
}

impl Transfer {
    /// Prepares requests to an address. Failures that may pass are tried again for a time.
    pub(super) fn new(address: &str, patience: Duration) -> Result<Self, String> {
        // The time ends the attempts, not their number.
        let (backoff, max_retries) = (BACKOFF, usize::MAX);
        let retry = RetryConfig { backoff, max_retries, retry_timeout: patience };
        let server = Server::new(address, retry, SILENCE_LIMIT.min(patience))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Ok(Self { runtime: runtime.map_err(|error| error.to_string())?, server })
    }

    /// Prepares an upload, as [`new`](Self::new) does.
    ///
    /// # Errors
    /// The address of a web server, of a bucket or of a folder.
    fn to(address: &str, patience: Duration) -> Result<Self, SourceError> {
        let failed = |problem: &str| {
            not_sent(address, format!("{problem}; name an object, such as s3://BUCKET/KEY"))
        };
        if !is_object_address(address) {
            return Err(failed("only object stores can be written"));
        }
        let transfer =
            Self::new(address, patience).map_err(|problem| not_sent(address, problem))?;
        match transfer.server.path.as_ref().is_empty() || address.ends_with('/') {
            true => Err(failed("this is a folder")),
            false => Ok(transfer),
        }
    }

    async fn send(
        &self,
        mut input: File,
        size: u64,
        each: &mut dyn FnMut(u64),
    ) -> Result<(), NotSent> {
        let Server { store, path } = &self.server;
        let piece = PIECE_BYTES.max(size.div_ceil(MAX_PIECES));
        let mut next = || {
            let mut bytes = Vec::new();
            let read = (&mut input).take(piece).read_to_end(&mut bytes);
            read.map(|_| bytes).map_err(NotSent::Input)
        };
        if size <= piece {
            store.put(path, next()?.into()).await.map_err(NotSent::Store)?;
            return Ok(());
        }
        let upload = store.put_multipart(path).await.map_err(NotSent::Store)?;
        let mut pieces = WriteMultipart::new_with_chunk_size(upload, piece as usize);
        let mut done = 0;
        let ended = loop {
            let bytes = match next() {
                Ok(bytes) if bytes.is_empty() => break Ok(()),
                Ok(bytes) => bytes,
                Err(problem) => break Err(problem),
            };
            if let Err(error) = pieces.wait_for_capacity(MAX_PIECES_AT_ONCE).await {
                break Err(NotSent::Store(error));
            }
            done += bytes.len() as u64;
            pieces.put(bytes.into());
            each(done);
        };
        match ended {
            Ok(()) => pieces.finish().await.map(drop).map_err(NotSent::Store),
            Err(problem) => {
                // The first problem is reported.
                let _ = pieces.abort().await;
                Err(problem)
            }
        }
    }

    /// Copies an object to a file. Fails if it does not have the expected length.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) for an object that does not exist; errors of the network and of
    /// the file.
    pub(super) fn receive(
        &self,
        object: &path::Path,
        file: &Path,
        expected_bytes: Option<u64>,
    ) -> io::Result<()> {
        // An error of this machine must not look like one of the object.
        let unwritable = |problem: io::Error| {
            io::Error::other(format!("{} cannot be written: {problem}", file.display()))
        };
        let mut output = File::create(file).map_err(unwritable)?;
        let mut found: Option<ObjectMeta> = None;
        let mut done = 0;
        self.runtime.block_on(async {
            loop {
                let before = done;
                let result = self.request(object, done, found.as_ref()).await?;
                let size = result.meta.size;
                if expected_bytes.is_some_and(|expected| expected != size) {
                    return Err(io::Error::other(REPLACED));
                }
                found.get_or_insert_with(|| result.meta.clone());
                let mut parts = result.into_stream();
                let failure = loop {
                    match parts.next().await {
                        None => break None,
                        Some(Err(error)) => break Some(io_error(error)),
                        Some(Ok(part)) => {
                            output.write_all(&part).map_err(unwritable)?;
                            done += part.len() as u64;
                        }
                    }
                };
                match failure {
                    None if done == size => return Ok(()),
                    // What has come is not requested again.
                    _ if before < done && done < size => {}
                    Some(failure) => return Err(failure),
                    None => {
                        return Err(io::Error::other(format!("{done} of {size} bytes have come")));
                    }
                }
            }
        })
    }

    /// Requests an object from a byte on, which must be the one that was `found` before.
    async fn request(
        &self,
        object: &path::Path,
        start: u64,
        found: Option<&ObjectMeta>,
    ) -> io::Result<GetResult> {
        let range = found.map(|_| GetRange::Offset(start));
        let options = GetOptions { range, ..GetOptions::default() };
        let result = self.server.store.get_opts(object, options).await.map_err(io_error)?;
        let is_same = |found: &ObjectMeta| {
            let meta = &result.meta;
            (found.size, &found.e_tag, found.last_modified)
                == (meta.size, &meta.e_tag, meta.last_modified)
        };
        match found.is_none_or(is_same) {
            true => Ok(result),
            false => Err(io::Error::other(REPLACED)),
        }
    }
}

fn io_error(error: Error) -> io::Error {
    let problem = failure_of(&error).problem;
    match error {
        Error::NotFound { .. } => io::Error::new(io::ErrorKind::NotFound, problem),
        _ => io::Error::other(problem),
    }
}

#[cfg(test)]
mod tests {
    use drystone_testing::Random;
    use object_store::memory::InMemory;

    use super::*;

    fn transfer() -> Transfer {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let store = Box::new(InMemory::new());
        Transfer { runtime, server: Server { store, path: path::Path::from("a/b.dsw") } }
    }

    /// Files of one piece, of several, and of none come back as they were.
    #[test]
    fn files_of_any_length_are_copied() {
        let folder = tempfile::TempDir::new().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        let mut random = Random::new(26);
        for size in [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES, 5 * PIECE_BYTES + 77] {
            let word = random.below(u32::MAX).to_le_bytes();
            let bytes: Vec<u8> =
                (0..size).map(|at| word[at as usize % 4] ^ (at >> 12) as u8).collect();
            std::fs::write(&from, &bytes).unwrap();
            let (transfer, mut shown) = (transfer(), 0);
            let mut show = |done| shown = done;
            let sent = transfer.send(File::open(&from).unwrap(), size, &mut show);
            assert!(transfer.runtime.block_on(sent).is_ok());
            assert_eq!(shown, if size > PIECE_BYTES { size } else { 0 });
            let path = &transfer.server.path;
            transfer.receive(path, &to, Some(size)).unwrap();
            assert!(std::fs::read(&to).unwrap() == bytes, "{size}");
            let error = transfer.receive(path, &to, Some(size + 1)).unwrap_err();
            assert!(error.to_string().contains("was replaced"), "{error}");
            let error = transfer.receive(&path.clone().join("c"), &to, None).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
    }
}
