use super::Colors;
use super::lines::{Lines, Statement, number, numbers};
use crate::fault::Fault;
use crate::model::ModelMaterial;
use crate::model::fault::name_of;

/// Reads diffuse colours and opacities from a `.mtl` file. If a name occurs twice, the first
/// definition is used.
pub(super) fn read(bytes: &[u8], file: &str, colors: &mut Colors) -> Result<(), Fault> {
    let mut current: Option<(String, [u8; 4])> = None;
    for statement in Lines::new(bytes) {
        let in_this_file = |fault| match fault {
            Fault::Malformed { location, problem, advice } => {
                let location = format!("{location} of {}", name_of(file.as_bytes()));
                Fault::Malformed { location, problem, advice }
            }
            other => other,
        };
        if statement.keyword() == b"newmtl" {
            keep(current.take(), colors);
            current = Some((name_of(statement.rest()), ModelMaterial::DEFAULT_COLOR));
        } else if let Some((_, color)) = &mut current {
            read_property(&statement, color).map_err(in_this_file)?;
        }
    }
    keep(current, colors);
    Ok(())
}

fn keep(material: Option<(String, [u8; 4])>, colors: &mut Colors) {
    if let Some((name, color)) = material {
        colors.entry(name).or_insert(color);
    }
}

fn read_property(it: &Statement, color: &mut [u8; 4]) -> Result<(), Fault> {
    match it.keyword() {
        // Spectral curves and CIE XYZ are ignored: no known program writes them.
        b"Kd" if it.words().next().is_some_and(|word| number(word).is_err() && is_name(word)) => {}
        b"Kd" => {
            let [red, green, blue] = match it.words().count() {
                1 => [numbers::<1>(it, 1)?[0]; 3],
                _ => numbers::<3>(it, 3)?,
            };
            color[..3].copy_from_slice(&[red, green, blue].map(byte));
        }
        b"d" if it.words().next() == Some(b"-halo") => {}
        b"d" => color[3] = byte(numbers::<1>(it, 1)?[0]),
        b"Tr" => color[3] = byte(1.0 - numbers::<1>(it, 1)?[0]),
        _ => {}
    }
    Ok(())
}

fn is_name(word: &[u8]) -> bool {
    word == b"spectral" || word == b"xyz"
}

/// Converts a number from 0 to 1 to a byte.
fn byte(number: f32) -> u8 {
    (number.clamp(0.0, 1.0) * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colors(text: &str) -> Result<Vec<(String, [u8; 4])>, String> {
        let mut colors = Colors::new();
        let read = read(text.as_bytes(), "a.mtl", &mut colors);
        read.map_err(|fault| fault.in_file(crate::format::Format::Model, "m.obj").to_string())?;
        let mut sorted: Vec<_> = colors.into_iter().collect();
        sorted.sort();
        Ok(sorted)
    }

    #[test]
    fn colours_and_opacity() {
        let text = "Kd x\nnewmtl a b\nKd 1 0.5 0\nd 0.2\nnewmtl c\nTr 1\nKd 0.2\nmap_Kd -o 1 x.png\n\
                    newmtl plain\nKd spectral x.rfl\nd -halo 0.3\nnewmtl c\nKd 9 -1 1";
        let expected = [
            ("a b", [255, 128, 0, 51]),
            ("c", [51, 51, 51, 0]),
            ("plain", ModelMaterial::DEFAULT_COLOR),
        ];
        assert_eq!(colors(text).unwrap(), expected.map(|(name, color)| (name.to_owned(), color)));
    }

    #[test]
    fn bad_numbers_name_the_line_and_the_file() {
        let error = colors("newmtl a\n\nKd 1 nan 0").unwrap_err();
        assert!(error.starts_with("m.obj: line 3 of a.mtl: \"nan\" is NaN"), "{error}");
        let error = colors("newmtl a\nKd 1 0").unwrap_err();
        assert!(error.starts_with("m.obj: line 2 of a.mtl: \"Kd\" has 2 numbers"), "{error}");
    }
}
