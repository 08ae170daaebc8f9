//! Buffer URIs: embedded data, or the name of a file.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

/// Base64 decoder that accepts missing padding and nonzero trailing bits.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// A parsed buffer URI.
#[derive(Debug, PartialEq)]
pub(super) enum Uri {
    /// Embedded bytes.
    Data(Vec<u8>),
    /// A decoded file name, not checked yet.
    File(String),
}

/// Parses a buffer URI.
///
/// # Errors
/// A description of the problem.
pub(super) fn parse(uri: &str) -> Result<Uri, &'static str> {
    if let Some(data) = uri.strip_prefix("data:") {
        let (kind, text) = data.split_once(',').ok_or("its data URI has no comma")?;
        if !kind.ends_with(";base64") {
            return Err("its data is not base64");
        }
        return decode(text).map(Uri::Data);
    }
    let name = percent_decode_str(uri).decode_utf8();
    name.map(|name| Uri::File(name.into())).map_err(|_| "its name is not UTF-8")
}

/// Decodes base64.
fn decode(text: &str) -> Result<Vec<u8>, &'static str> {
    let mut bytes = Vec::new();
    let length = base64::decoded_len_estimate(text.len());
    bytes.try_reserve_exact(length).map_err(|_| "its data does not fit into memory")?;
    BASE64.decode_vec(text, &mut bytes).map_err(|_| "its data is not valid base64")?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_standard() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
            ("Zg", "f"),
        ] {
            assert_eq!(decode(text).unwrap(), bytes.as_bytes(), "{text}");
        }
        assert_eq!(decode("+/+/").unwrap(), [0xfb, 0xff, 0xbf]);
        for text in ["Z", "Zg===", "Z g=", "Zm9vYg==Zg", "Zm-v"] {
            assert!(decode(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_are_decoded_or_refused() {
        assert_eq!(parse("a%20b/c.bin"), Ok(Uri::File("a b/c.bin".into())));
        assert_eq!(parse("data:;base64,AAE="), Ok(Uri::Data(vec![0, 1])));
        // As in the URL standard, a `%` that begins no escape is kept.
        assert_eq!(parse("%2e%2E%2fa%2"), Ok(Uri::File("../a%2".into())));
        for uri in ["%ff", "data:,x", "data:x", "data:;base64,Z"] {
            assert!(parse(uri).is_err(), "{uri}");
        }
    }
}
