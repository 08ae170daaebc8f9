//! A web server of one file, with faults and a slow line, for tests.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Kind of answer of a [`FileServer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The requested range.
    Range,
    /// The whole file, as servers do that know no ranges.
    Whole,
    /// A status without content.
    Status(u16),
    /// A redirect to this address.
    Redirect(String),
    /// A part of the range, then the connection is closed.
    Cut,
    /// Nothing; the connection stays open.
    Silence,
}

/// A line to a server. All connections share its bandwidth.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Time between a request and its answer.
    pub round_trip: Duration,
    /// Bandwidth.
    pub bytes_per_s: u64,
}

/// A web server of one file on this machine. It serves every path, until it is dropped.
pub struct FileServer {
    shared: Arc<Shared>,
    port: u16,
}

struct Shared {
    file: Mutex<File>,
    answer: Mutex<Answer>,
    line: Option<Line>,
    /// Time at which the line is free again.
    free_at: Mutex<Instant>,
    sent_bytes: AtomicU64,
    requests: AtomicU64,
    is_over: AtomicBool,
}

struct File {
    bytes: Arc<Vec<u8>>,
    etag: String,
}

impl FileServer {
    /// Starts a server on a free port of this machine.
    ///
    /// # Errors
    /// If no port can be opened.
    pub fn start(bytes: Vec<u8>, line: Option<Line>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let file = Mutex::new(File { bytes: Arc::new(bytes), etag: "\"1\"".into() });
        let shared = Arc::new(Shared {
            file,
            answer: Mutex::new(Answer::Range),
            line,
            free_at: Mutex::new(Instant::now()),
            sent_bytes: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        });
        let of_listener = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if of_listener.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&of_listener);
                // A client may close its connection at any time.
                thread::spawn(move || drop(shared.serve(stream)));
            }
        });
        Ok(Self { shared, port })
    }

    /// Returns the address of a path on this server.
    pub fn address(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// Changes how requests are answered from now on.
    pub fn set_answer(&self, answer: Answer) {
        *lock(&self.shared.answer) = answer;
    }

    /// Replaces the file.
    pub fn replace(&self, bytes: Vec<u8>, etag: &str) {
        *lock(&self.shared.file) = File { bytes: Arc::new(bytes), etag: etag.into() };
    }

    /// Number of bytes of content that were sent so far.
    pub fn sent_bytes(&self) -> u64 {
        self.shared.sent_bytes.load(Ordering::Relaxed)
    }

    /// Number of requests so far.
    pub fn request_count(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener. If it fails, the listener has ended.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut stream = stream;
        while !self.is_over.load(Ordering::Relaxed) {
            let (mut range, mut if_match, mut is_empty) = (None, None, true);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line)? == 0 {
                    return Ok(());
                }
                let line = line.trim_end();
                if line.is_empty() {
                    break;
                }
                is_empty = false;
                let (name, value) = line.split_once(':').unwrap_or((line, ""));
                match name.to_ascii_lowercase().as_str() {
                    "range" => range = range_of(value.trim()),
                    "if-match" => if_match = Some(value.trim().to_owned()),
                    _ => {}
                }
            }
            if is_empty {
                continue;
            }
            self.requests.fetch_add(1, Ordering::Relaxed);
            if !self.answer(&mut stream, range, if_match)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Answers a request. Returns whether the connection stays open.
    fn answer(
        &self,
        stream: &mut TcpStream,
        range: Option<Range<usize>>,
        if_match: Option<String>,
    ) -> io::Result<bool> {
        let (bytes, etag) = {
            let file = lock(&self.file);
            (Arc::clone(&file.bytes), file.etag.clone())
        };
        if let Some(line) = self.line {
            thread::sleep(line.round_trip);
        }
        let answer = lock(&self.answer).clone();
        let is_other = if_match.is_some_and(|wanted| wanted != etag);
        let status = match &answer {
            Answer::Silence => {
                while !self.is_over.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(20));
                }
                return Ok(false);
            }
            Answer::Status(status) => *status,
            Answer::Redirect(_) => 302,
            Answer::Range | Answer::Cut if is_other => 412,
            Answer::Range | Answer::Cut if range.is_some() => 206,
            _ => 200,
        };
        let len = bytes.len();
        let range = range.filter(|_| status == 206).unwrap_or(0..len);
        let range = range.start.min(len)..range.end.min(len);
        let body = if matches!(status, 200 | 206) { &bytes[range.clone()] } else { &[] };
        let mut head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
        head += &format!("ETag: {etag}\r\nAccept-Ranges: bytes\r\n");
        if status == 206 {
            let (start, last) = (range.start, range.end.saturating_sub(1));
            head += &format!("Content-Range: bytes {start}-{last}/{len}\r\n");
        }
        if let Answer::Redirect(to) = &answer {
            head += &format!("Location: {to}\r\n");
        }
        stream.write_all(head.as_bytes())?;
        stream.write_all(b"\r\n")?;
        let is_cut = answer == Answer::Cut;
        let body = if is_cut { &body[..body.len() / 2] } else { body };
        for part in body.chunks(4 << 10) {
            self.wait_for_line(part.len() as u64);
            stream.write_all(part)?;
            self.sent_bytes.fetch_add(part.len() as u64, Ordering::Relaxed);
        }
        Ok(!is_cut)
    }

    /// Waits until the line has transferred this many bytes.
    fn wait_for_line(&self, bytes: u64) {
        let Some(line) = self.line else { return };
        let until = {
            let mut free_at = lock(&self.free_at);
            let time = Duration::from_secs_f64(bytes as f64 / line.bytes_per_s as f64);
            *free_at = (*free_at).max(Instant::now()) + time;
            *free_at
        };
        thread::sleep(until.saturating_duration_since(Instant::now()));
    }
}

/// Parses the value of a `Range` header with one range.
fn range_of(value: &str) -> Option<Range<usize>> {
    let (start, last) = value.strip_prefix("bytes=")?.split_once('-')?;
    Some(start.parse().ok()?..last.parse::<usize>().ok()?.checked_add(1)?)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
