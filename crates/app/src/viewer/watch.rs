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
pub(super) struct Stamp {
    changed: SystemTime,
    bytes: u64,
}

impl FileWatch {
    /// Interval between two looks.
    pub(super) const INTERVAL: Duration = Duration::from_secs(2);

    /// Starts a thread that calls `report` once, when the file has changed since `before` and then
    /// stayed the same for an `interval`: a program that still writes it is waited for. A file that is
    /// missing is not reported, because some programs replace a file by removing it first.
    pub(super) fn start(
        path: PathBuf,
        before: Option<Stamp>,
        interval: Duration,
        report: impl FnOnce() + Send + 'static,
    ) -> Self {
        let first = before.or_else(|| Stamp::of(&path));
        let (alive, ended) = mpsc::channel::<()>();
        thread::spawn(move || {
            let mut looks = Looks { first, last: first };
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                if looks.next_is_changed(Stamp::of(&path)) {
                    return report();
                }
            }
        });
        Self { _alive: Some(alive) }
    }
}

/// Looks at a file, one after the other.
struct Looks {
    first: Option<Stamp>,
    last: Option<Stamp>,
}

impl Looks {
    /// Returns whether the file has changed since the first look, and not since the last one.
    fn next_is_changed(&mut self, now: Option<Stamp>) -> bool {
        let last = std::mem::replace(&mut self.last, now);
        now.is_some() && now != self.first && now == last
    }
}

impl Stamp {
    /// Looks at a file, or at the files of a folder and those of its folder `region`, which has the
    /// chunks of a Minecraft world. `None` if there are none.
    pub(super) fn of(path: &Path) -> Option<Self> {
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
            let watch = FileWatch::start(watched.clone(), None, INTERVAL, report);
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
        drop(FileWatch::start(file.clone(), None, INTERVAL, move || reports.send(()).unwrap()));
        fs::write(&file, "unseen").unwrap();
        assert!(reported.recv_timeout(MAX_WAIT).is_err(), "the thread has ended");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_still_written_is_waited_for() {
        let stamp = |bytes| Some(Stamp { changed: SystemTime::UNIX_EPOCH, bytes });
        let (first, last) = (stamp(1), stamp(1));
        let mut looks = Looks { first, last };
        let seen = [stamp(1), None, None, stamp(2), stamp(3), stamp(3)];
        let changed = seen.map(|now| looks.next_is_changed(now));
        assert_eq!(changed, [false, false, false, false, false, true]);
    }

    /// The file is changed while it is read, before it is watched.
    #[test]
    fn a_change_since_a_stamp_is_reported() {
        let name = format!("drystone-watch-since-{}", std::process::id());
        let file = std::env::temp_dir().join(name);
        fs::write(&file, "one").unwrap();
        let before = Stamp::of(&file);
        fs::write(&file, "another one").unwrap();
        let (reports, reported) = mpsc::channel();
        let report = move || reports.send(()).unwrap();
        let _watch = FileWatch::start(file.clone(), before, INTERVAL, report);
        reported.recv_timeout(MAX_WAIT).unwrap();
        fs::remove_file(file).unwrap();
    }
}
