use drystone_render::SlotPolicy;

use super::*;
use crate::cli;

fn file(test: &str) -> (PathBuf, SettingsFile) {
    let name = format!("drystone-settings-{test}-{}", std::process::id());
    let folder = env::temp_dir().join(name).join("new");
    let _ = fs::remove_dir_all(&folder);
    (folder.clone(), SettingsFile { path: Some(folder.join(FILE)), saved: None })
}

fn settings() -> Settings {
    let mut settings = Settings {
        renderer: RendererKind::Naive,
        ambient_occlusion: false,
        mouse_speed: 2.5,
        shows_panels: false,
        knows_keys: true,
        view: LastView::default(),
        recent: Vec::new(),
    };
    for path in ["/a/castle.vox", "/b\"ö/r.0.0.mca", "/a/castle.vox"] {
        settings.opened(RecentFile::of(path.into()));
    }
    settings
}

#[test]
fn settings_are_restored() {
    let (folder, mut file) = file("back");
    assert_eq!(file.read(), (Settings::default(), None));
    let settings = settings();
    assert_eq!(settings.recent.len(), 2, "files are listed once");
    file.save(&settings).unwrap();
    let mut again = SettingsFile { path: file.path.clone(), saved: None };
    assert_eq!(again.read(), (settings.clone(), None));
    // Unchanged settings are not written.
    fs::remove_file(folder.join(FILE)).unwrap();
    again.save(&settings).unwrap();
    assert!(!folder.join(FILE).exists());
    again.save(&Settings::default()).unwrap();
    assert_eq!(file.read(), (Settings::default(), None));
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

/// Written by a version with other keys.
#[test]
fn settings_of_other_versions_are_read() {
    let text = r#"{ "ambient_occlusion": false, "mouse_speed": 2, "recent": ["/a/b.vox", "/c.mca"],
        "renderer": "instanced-oldest", "shows_panels": false, "later": { "than": this } }"#;
    let read = Settings::from_json(&text.replace("this", "[1e300, null]")).unwrap();
    let recent = ["/a/b.vox", "/c.mca"].map(|path| RecentFile::of(path.into()));
    let expected = Settings {
        renderer: RendererKind::Instanced(SlotPolicy::Oldest),
        ambient_occlusion: false,
        mouse_speed: 2.0,
        shows_panels: false,
        knows_keys: false,
        view: LastView::default(),
        recent: recent.into(),
    };
    assert_eq!(read, expected);
    assert_eq!(Settings::from_json("{}"), Ok(Settings::default()));
    // Its default was false: the value does not show that it was chosen.
    let earlier = Settings::from_json(r#"{ "darkens_corners": false }"#).unwrap();
    assert!(earlier.ambient_occlusion);
    let [slowest, fastest] = MOUSE_SPEEDS;
    for (speed, expected) in
        [("1e300", fastest), ("18446744073709551615", fastest), ("-7", slowest)]
    {
        let read = Settings::from_json(&format!("{{\"mouse_speed\": {speed}}}")).unwrap();
        assert_eq!(read.mouse_speed, expected);
    }
    for bad in ["1e999", "NaN", "null", "[]"] {
        assert!(Settings::from_json(&format!("{{\"mouse_speed\": {bad}}}")).is_err(), "{bad}");
    }
}

/// Options and edits of recent files are restored.
#[test]
fn options_and_edits_of_recent_files_are_restored() {
    let (folder, mut file) = file("options");
    let words = "drystone maps/alps.png --metres-per-sample 75x93 --vertical-scale 2 --snow-line \
                 900 --voids filled --merge 0.25 --edits e.drystone";
    let Ok(options) = cli::parse(words.split_whitespace().map(Into::into)) else { panic!() };
    let (source, edits) = (options.scene.source, options.scene.edits.edits);
    let path = source.path.clone().unwrap();
    let mut settings = settings();
    settings.opened(RecentFile::new(&path, &source, edits.as_deref()));
    file.save(&settings).unwrap();
    let read = SettingsFile { path: file.path.clone(), saved: None }.read().0;
    assert_eq!(read, settings);
    let opened = read.recent_file(&path);
    assert_eq!(opened.edits, Some(path::absolute("e.drystone").unwrap()));
    let again = opened.source();
    assert_eq!((again.merge, again.height_map), (source.merge, source.height_map));
    let other = read.recent_file("maps/other.png".as_ref());
    assert_eq!(other, RecentFile::of("maps/other.png".into()));
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

#[test]
fn settings_of_two_viewers_are_merged() {
    let (folder, mut first) = file("two");
    let opened = |settings: &Settings, names: &[&str]| {
        let mut settings = settings.clone();
        names.iter().for_each(|name| settings.opened(RecentFile::of(name.into())));
        settings
    };
    let names = ["/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9"];
    first.save(&opened(&Settings::default(), &names)).unwrap();
    let mut second = SettingsFile { path: first.path.clone(), saved: None };
    let before = [first.read().0, second.read().0];
    first.save(&opened(&before[0], &["/a", "/b"])).unwrap();
    second.save(&opened(&before[1], &["/c", "/8"])).unwrap();
    let paths: Vec<_> = first.read().0.recent.into_iter().map(|file| file.path).collect();
    let expected = ["/8", "/b", "/a", "/c", "/9", "/7", "/6", "/5", "/4", "/3"];
    assert_eq!(paths, expected.map(PathBuf::from));
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

/// File names on Linux are bytes.
#[cfg(unix)]
#[test]
fn a_path_that_is_not_unicode_is_restored() {
    use std::os::unix::ffi::OsStringExt;

    let (folder, mut file) = file("bytes");
    let mut settings = Settings::default();
    settings.opened(RecentFile::of(OsString::from_vec(b"/a/caf\xe9.vox".to_vec()).into()));
    file.save(&settings).unwrap();
    let mut again = SettingsFile { path: file.path.clone(), saved: None };
    assert_eq!(again.read(), (settings, None));
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

#[test]
fn an_invalid_file_is_reported_and_renamed() {
    let (folder, mut file) = file("bad");
    fs::create_dir_all(&folder).unwrap();
    let bad = ["{", "[]", "{\"renderer\": \"fast\"}", "{\"mouse_speed\": true}", "\u{0}"];
    let bad = bad.map(str::as_bytes).into_iter().chain([&[0xff, 0xfe][..]]);
    for (number, text) in bad.enumerate() {
        fs::write(folder.join(FILE), text).unwrap();
        let (read, message) = file.read();
        assert_eq!(read, Settings::default());
        let ending = if number == 0 { String::new() } else { format!("-{}", number + 1) };
        let aside = folder.join(format!("settings.json.bad{ending}"));
        assert!(message.unwrap().contains(aside.to_str().unwrap()), "{text:?}");
        assert_eq!(fs::read(aside).unwrap(), text);
        assert!(!folder.join(FILE).exists());
    }
    // Unknown keys and a mouse speed out of range are accepted.
    fs::write(folder.join(FILE), "{\"later\": 7, \"mouse_speed\": 1e9}").unwrap();
    let [_, fastest] = MOUSE_SPEEDS;
    let expected = Settings { mouse_speed: fastest, ..Settings::default() };
    assert_eq!(file.read(), (expected, None));
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

/// A folder stands for an unreadable file; root can read any file.
#[test]
fn an_unreadable_file_is_left_unchanged() {
    let (folder, mut file) = file("unread");
    let path = folder.join(FILE);
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("mine"), "mine").unwrap();
    let (read, message) = file.read();
    let message = message.unwrap();
    assert_eq!(read, Settings::default());
    assert!(
        message.contains(path.to_str().unwrap()) && message.ends_with("not be saved"),
        "{message}"
    );
    assert!(file.save(&settings()).is_ok());
    assert_eq!(fs::read_to_string(path.join("mine")).unwrap(), "mine");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

#[test]
fn the_environment_names_the_folder() {
    let of = |set: &[(&str, &str)]| {
        folder(|name| set.iter().find(|(it, _)| *it == name).map(|(_, path)| path.into()))
    };
    assert_eq!(of(&[(FOLDER, "here")]), Some("here".into()));
    assert_eq!(of(&[(FOLDER, ""), ("HOME", "/home/a"), ("APPDATA", "C:\\a")]), None);
    assert_eq!(of(&[]), None);
    if cfg!(target_os = "linux") {
        assert_eq!(of(&[("HOME", "/home/a")]), Some("/home/a/.config/drystone".into()));
        let both = [("HOME", "/home/a"), ("XDG_CONFIG_HOME", "/etc/a")];
        assert_eq!(of(&both), Some("/etc/a/drystone".into()));
        assert_eq!(of(&[("XDG_CONFIG_HOME", "relative")]), None);
    }
    let (mut none, settings) = (SettingsFile { path: None, saved: None }, settings());
    assert!(!none.read().0.shows_panels && none.save(&settings).is_ok());
}
