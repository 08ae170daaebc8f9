use arboard::Clipboard;
use drystone::Session;

/// Copies of the camera in the desktop's clipboard, which is opened on the first use. Under Wayland it needs XWayland.
#[derive(Default)]
pub(super) struct Copies(Option<Clipboard>);

impl Copies {
    /// Copies the camera as options of the program. Without a clipboard, they are only printed.
    pub(super) fn copy(&mut self, session: &mut Session) {
        let words = session.camera().as_options().to_string();
        match self.set(&words) {
            Ok(()) => session.messages().report(format!("copied: {words}")),
            Err(error) => session.say(format!("{words} (not copied: {error})")),
        }
    }

    fn set(&mut self, words: &str) -> Result<(), arboard::Error> {
        let clipboard = match &mut self.0 {
            Some(clipboard) => clipboard,
            none => none.insert(Clipboard::new()?),
        };
        clipboard.set_text(words)
    }
}
