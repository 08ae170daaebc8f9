//! Watches the shown file for changes by other programs.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::{Duration, SystemTime},
};

/// A thread that looks at a file from time to time. It ends when this is dropped.
#[derive(Default)]
pub(super) struct FileWatch {
    /// Closed to end the thread.
    _alive: Option<Sender<()>>,
}

/// Time of the last change and size in bytes. For a folder, those of all its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    changed: SystemTime,
    bytes: u64,
}

impl FileWatch {
    /// Interval between two looks.
    pub(super) const INTERVAL: Duration = Duration::from_secs(2);

    /// Starts a thread that calls `report` once, when the file has changed and then stayed the same
    /// for an `interval`: a program that still writes it is waited for. A file that is missing is not
    /// reported, because some programs replace a file by removing it first.
    pub(super) fn start(
        path: PathBuf,
        interval: Duration,
        report: impl FnOnce() + Send + 'static,
    ) -> Self {
        let first = Stamp::of(&path);
        let (alive, ended) = mpsc::channel::<()>();
        thread::spawn(move || {
            let mut last = first;
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                let now = Stamp::of(&path);
                if now.is_some() && now != first && now == last {
                    return report();
                }
                last = now;
            }
        });
        Self { _alive: Some(alive) }
    }
}

impl Stamp {
    /// Looks at a file, or at the files of a folder and those of its folder `region`, which has the
    /// chunks of a Minecraft world. `None` if there are none.
    fn of(path: &Path) -> Option<Self> {
        let about = fs::metadata(path).ok()?;
        if !about.is_dir() {
            return Some(Self { changed: about.modified().ok()?, bytes: about.len() });
        }
        let entries = [path.to_path_buf(), path.join("region")];
        let files = entries.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        let stamps = files.filter_map(|file| {
            let about = file.ok()?.metadata().ok().filter(|about| !about.is_dir())?;
            Some(Self { changed: about.modified().ok()?, bytes: about.len() })
        });
        stamps.reduce(|one, other| Self {
            changed: one.changed.max(other.changed),
            bytes: one.bytes.wrapping_add(other.bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(5);
    const MAX_WAIT: Duration = Duration::from_secs(60);

    #[test]
    fn a_changed_file_is_reported_once_it_stays_the_same() {
        let folder = std::env::temp_dir().join(format!("drystone-watch-{}", std::process::id()));
        fs::create_dir_all(folder.join("region")).unwrap();
        let file = folder.join("region/r.0.0.mca");
        fs::write(&file, "one").unwrap();
        for watched in [&file, &folder] {
            let (reports, reported) = mpsc::channel();
            let report = move || reports.send(()).unwrap();
            let watch = FileWatch::start(watched.clone(), INTERVAL, report);
            assert!(reported.recv_timeout(INTERVAL * 20).is_err(), "nothing has changed");
            // Removed, written in two steps.
            fs::remove_file(&file).unwrap();
            assert!(
                watched.is_dir() || reported.recv_timeout(INTERVAL * 20).is_err(),
                "it is missing"
            );
            fs::write(&file, "another one").unwrap();
            reported.recv_timeout(MAX_WAIT).unwrap();
            drop(watch);
        }
        let (reports, reported) = mpsc::channel();
        drop(FileWatch::start(file.clone(), INTERVAL, move || reports.send(()).unwrap()));
        fs::write(&file, "unseen").unwrap();
        assert!(reported.recv_timeout(MAX_WAIT).is_err(), "the thread has ended");
        fs::remove_dir_all(folder).unwrap();
    }
}
