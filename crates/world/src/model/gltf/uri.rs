//! Names of buffers: data that is written out in the name, or a file beside it.

/// What a URI of a buffer stands for.
#[derive(Debug, PartialEq)]
pub(super) enum Uri {
    /// The bytes themselves.
    Data(Vec<u8>),
    /// A relative name, decoded.
    File(String),
}

/// Takes a URI apart.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse(uri: &str) -> Result<Uri, &'static str> {
    if let Some(data) = uri.strip_prefix("data:") {
        let (kind, text) = data.split_once(',').ok_or("its data has no beginning (a comma)")?;
        if !kind.ends_with(";base64") {
            return Err("its data is not base64");
        }
        return base64(text.as_bytes()).map(Uri::Data).ok_or("its data is not valid base64");
    }
    let name = unescape(uri).ok_or("its name has an escape that is none")?;
    // An address, a drive, or a place that is not beside the file.
    if name.contains(':') || name.starts_with(['/', '\\']) {
        return Err("its name is not that of a file beside this one");
    }
    Ok(Uri::File(name))
}

/// Bytes from base64, with or without the padding at its end.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut end = text.len();
    while end > 0 && text.len() - end < 2 && text[end - 1] == b'=' {
        end -= 1;
    }
    let text = &text[..end];
    if text.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(text.len() / 4 * 3 + 2).ok()?;
    for group in text.chunks(4) {
        let mut bits = 0_u32;
        for &character in group {
            bits = bits << 6 | value(character)?;
        }
        // As if it had been filled up with zeros.
        bits <<= 6 * (4 - group.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

fn value(character: u8) -> Option<u32> {
    let value = match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}

/// A name whose `%20` and the like are written out.
fn unescape(name: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
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
            assert_eq!(base64(text.as_bytes()).unwrap(), bytes.as_bytes(), "{text}");
        }
        assert_eq!(base64(b"+/+/").unwrap(), [0xfb, 0xff, 0xbf]);
        for text in ["Z", "Zg===", "Z g=", "Zm9vYg==Zg", "Zm-v"] {
            assert_eq!(base64(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn names_are_decoded_or_refused() {
        assert_eq!(parse("a%20b/c.bin"), Ok(Uri::File("a b/c.bin".into())));
        assert_eq!(parse("data:;base64,AAE="), Ok(Uri::Data(vec![0, 1])));
        for uri in
            ["http://a/b", "/etc/a", "C:\\a", "\\a", "%2Fa", "a%2", "%ff", "data:,x", "data:x"]
        {
            assert!(parse(uri).is_err(), "{uri}");
        }
    }
}
