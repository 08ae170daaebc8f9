//! An object store on this machine that speaks as much of S3, Google Cloud Storage and Azure Blob Storage as the tests
//! need.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// An object store on a free port of this machine. Serves requests that are signed, with any key, as long as the
/// process runs. Objects have names such as `bucket/folder/name`.
pub struct ObjectServer {
    shared: Arc<Mutex<Shared>>,
    port: u16,
}

#[derive(Default)]
struct Shared {
    objects: BTreeMap<String, Vec<u8>>,
    /// Pieces of objects that are being uploaded, by the number of the upload.
    uploads: Vec<BTreeMap<u32, Vec<u8>>>,
    /// Pieces of objects that are being uploaded to Azure, by their names.
    blocks: BTreeMap<String, Vec<u8>>,
    /// Method, part of the target, and status of requests that will be refused, each once.
    refusals: Vec<(&'static str, &'static str, u16)>,
    /// Method and target of all requests.
    requests: Vec<String>,
}

/// A request: method, target and content.
struct Request {
    method: String,
    name: String,
    query: String,
    range: Option<String>,
    body: Vec<u8>,
}

impl ObjectServer {
    /// Starts a server.
    ///
    /// # Errors
    /// If no port can be opened.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let shared = Arc::<Mutex<Shared>>::default();
        let of_listener = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&of_listener);
                // A client may close its connection at any time.
                thread::spawn(move || drop(serve(&shared, stream)));
            }
        });
        Ok(Self { shared, port })
    }

    /// Returns the environment variables of programs that use this server.
    pub fn variables(&self) -> [(&'static str, String); 10] {
        let address = format!("http://127.0.0.1:{}", self.port);
        [
            ("AZURE_STORAGE_ENDPOINT", address.clone()),
            ("AZURE_STORAGE_ACCOUNT_NAME", "account".into()),
            ("AZURE_STORAGE_ACCOUNT_KEY", "a2V5".into()),
            ("GOOGLE_BASE_URL", address.clone()),
            ("GOOGLE_BEARER_TOKEN", "token".into()),
            ("AWS_ENDPOINT", address),
            ("AWS_ALLOW_HTTP", "true".into()),
            ("AWS_ACCESS_KEY_ID", "key".into()),
            ("AWS_SECRET_ACCESS_KEY", "secret".into()),
            ("AWS_REGION", "us-east-1".into()),
        ]
    }

    /// Stores an object.
    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        lock(&self.shared).objects.insert(name.into(), bytes);
    }

    /// Returns an object, if there is one.
    pub fn get(&self, name: &str) -> Option<Vec<u8>> {
        lock(&self.shared).objects.get(name).cloned()
    }

    /// Status of [`refuse`](Self::refuse) for an answer that is cut in the middle.
    pub const CUT: u16 = 0;

    /// Refuses the next request with this method whose target contains `part`.
    pub fn refuse(&self, method: &'static str, part: &'static str, status: u16) {
        lock(&self.shared).refusals.push((method, part, status));
    }

    /// Returns method and target of all requests since the last call.
    pub fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.shared).requests)
    }
}

fn serve(shared: &Mutex<Shared>, stream: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut words = line.split(' ').map(str::to_owned);
        let [method, target] = [words.next().unwrap_or_default(), words.next().unwrap_or_default()];
        let (mut range, mut len, mut is_signed) = (None, 0, false);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "range" => range = Some(value.to_owned()),
                "content-length" => len = value.parse().unwrap_or_default(),
                "authorization" => {
                    let kinds = ["AWS4-HMAC-SHA256 ", "Bearer token", "SharedKey account:"];
                    is_signed = kinds.iter().any(|kind| value.starts_with(kind));
                }
                _ => {}
            }
        }
        let mut body = vec![0; len];
        reader.read_exact(&mut body)?;
        let (name, query) = target.split_once('?').unwrap_or((&target, ""));
        // Google's client writes all dots like this.
        let name = name.trim_start_matches('/').replace("%2E", ".");
        let query = query.to_owned();
        let is_head = method == "HEAD";
        let request = Request { method, name, query, range, body };
        let refusal = lock(shared).take_refusal(&request.method, &target);
        let is_cut = refusal == Some(ObjectServer::CUT);
        let (status, headers, body) = match refusal.filter(|_| !is_cut) {
            None if is_signed => lock(shared).answer(request),
            status => (status.unwrap_or(403), String::new(), Vec::new()),
        };
        let len = body.len();
        let modified = "Last-Modified: Fri, 27 Nov 2026 20:00:00 GMT";
        write!(
            stream,
            "HTTP/1.1 {status} X\r\nContent-Length: {len}\r\n{modified}\r\n{headers}\r\n"
        )?;
        if is_cut {
            return stream.write_all(&body[..len / 2]);
        }
        if !is_head {
            stream.write_all(&body)?;
        }
    }
}

/// Status, headers and content of an answer.
type Answer = (u16, String, Vec<u8>);

impl Shared {
    /// Notes a request, and returns the status that refuses it, if one does.
    fn take_refusal(&mut self, method: &str, target: &str) -> Option<u16> {
        self.requests.push(format!("{method} {target}"));
        let is_refused =
            |(refused, part, _): &(&str, &str, u16)| *refused == method && target.contains(part);
        let refused = self.refusals.iter().position(is_refused)?;
        Some(self.refusals.remove(refused).2)
    }

    fn answer(&mut self, request: Request) -> Answer {
        let text = |text: String| (200, String::new(), text.into_bytes());
        let value = |key: &str| {
            let pairs = request.query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.clone().find(|(name, _)| *name == key).map(|(_, value)| value.replace("%2F", "/"))
        };
        let upload = value("uploadId").and_then(|id| id.parse::<usize>().ok());
        let tag = "ETag: \"1\"\r\n".to_owned();
        match (request.method.as_str(), upload) {
            ("GET", _) if value("list-type").is_some() => {
                text(self.list(&request.name, &value("prefix").unwrap_or_default()))
            }
            ("GET" | "HEAD", _) => match self.objects.get(&request.name) {
                None => (404, String::new(), Vec::new()),
                Some(bytes) => part_of(bytes, request.range.as_deref()),
            },
            ("PUT", Some(upload)) => {
                let number = value("partNumber").and_then(|it| it.parse().ok()).unwrap_or_default();
                self.uploads[upload].insert(number, request.body);
                (200, tag, Vec::new())
            }
            ("PUT", None) if value("comp").as_deref() == Some("block") => {
                let id = value("blockid").unwrap_or_default().replace("%3D", "=");
                self.blocks.insert(id, request.body);
                (201, String::new(), Vec::new())
            }
            ("PUT", None) if value("comp").is_some() => {
                let list = String::from_utf8_lossy(&request.body);
                let ids = list.split(['<', '>']).filter_map(|id| self.blocks.remove(id));
                let bytes = ids.collect::<Vec<_>>().concat();
                self.objects.insert(request.name, bytes);
                (201, tag, Vec::new())
            }
            ("PUT", None) => {
                self.objects.insert(request.name, request.body);
                (200, tag, Vec::new())
            }
            ("POST", None) => {
                self.uploads.push(BTreeMap::new());
                let id = self.uploads.len() - 1;
                let tag = "InitiateMultipartUploadResult";
                text(format!("<{tag}><UploadId>{id}</UploadId></{tag}>"))
            }
            ("POST", Some(upload)) => {
                let bytes =
                    std::mem::take(&mut self.uploads[upload]).into_values().collect::<Vec<_>>();
                self.objects.insert(request.name, bytes.concat());
                let tag = "CompleteMultipartUploadResult";
                text(format!("<{tag}><ETag>\"1\"</ETag></{tag}>"))
            }
            ("DELETE", Some(upload)) => {
                self.uploads[upload].clear();
                (204, String::new(), Vec::new())
            }
            _ => (405, String::new(), Vec::new()),
        }
    }

    /// Lists the objects of a bucket below a folder, without those of its folders.
    fn list(&self, bucket: &str, folder: &str) -> String {
        let mut text = String::from("<ListBucketResult><IsTruncated>false</IsTruncated>");
        for (name, bytes) in &self.objects {
            let Some((own_bucket, key)) = name.split_once('/') else { continue };
            let rest = key.strip_prefix(folder).filter(|rest| !rest.contains('/'));
            if own_bucket == bucket && rest.is_some() {
                let _ = write!(
                    text,
                    "<Contents><Key>{key}</Key><LastModified>2026-11-27T20:00:00.000Z</LastModified>\
                     <ETag>\"1\"</ETag><Size>{}</Size></Contents>",
                    bytes.len()
                );
            }
        }
        text + "</ListBucketResult>"
    }
}

/// Answers with an object, or a range of it.
fn part_of(bytes: &[u8], range: Option<&str>) -> Answer {
    let tag = "ETag: \"1\"\r\n";
    let wanted = range.and_then(|it| it.strip_prefix("bytes=")?.split_once('-'));
    let last = |text: &str| if text.is_empty() { Ok(usize::MAX) } else { text.parse() };
    let wanted = wanted.and_then(|(start, end)| Some((start.parse().ok()?, last(end).ok()?)));
    let Some((start, last)): Option<(usize, usize)> = wanted else {
        return (200, tag.into(), bytes.to_vec());
    };
    let last = last.min(bytes.len().saturating_sub(1));
    match bytes.get(start..=last) {
        Some(part) => {
            let all = bytes.len();
            (206, format!("{tag}Content-Range: bytes {start}-{last}/{all}\r\n"), part.to_vec())
        }
        None => (416, String::new(), Vec::new()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
