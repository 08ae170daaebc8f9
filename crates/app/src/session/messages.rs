/// Texts for the user.
#[derive(Default)]
pub(super) struct Messages {
    /// Result of the last action.
    pub(super) text: String,
    /// Lines for the log that were not taken yet.
    pub(super) notes: Vec<String>,
}
