//! Writes the JavaScript bindings of the page's crate. Does the same as the program
//! `wasm-bindgen`, in the version that the crate is built with, and describes the program's memory.
#![forbid(unsafe_code)]

mod memory;

use std::{fs, path::Path, process::ExitCode};

/// File of the program in the output folder.
const PROGRAM: &str = "drystone_web_bg.wasm";
/// Script in the output folder that describes the program's memory.
const MEMORY_SCRIPT: &str = "memory.js";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [crate_file, folder] = arguments.as_slice() else {
        eprintln!("usage: drystone-web-bindgen CRATE.wasm FOLDER");
        return ExitCode::from(2);
    };
    let wrote = write_bindings(crate_file, folder)
        .map_err(|error| format!("{crate_file}: {error}"))
        .and_then(|()| describe_memory(Path::new(folder)));
    match wrote {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn write_bindings(crate_file: &str, folder: &str) -> Result<(), String> {
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    bindgen
        .input_path(crate_file)
        // Names of functions are 8 % of the compressed size, and only stack traces show them. Messages of
        // panics name file and line without them.
        .remove_name_section(true)
        .remove_producers_section(true)
        .web(true)
        .and_then(|it| it.typescript(false).omit_default_module_path(false).generate(folder))
        .map_err(|error| format!("{error:#}"))
}

/// Writes the script that describes the program's memory, which the page creates. A program that is built for
/// threads imports a shared memory, which browsers give only to isolated pages. Its file says that the memory is
/// not shared, which is valid too, and isolated pages change the byte that says so.
fn describe_memory(folder: &Path) -> Result<(), String> {
    let program = folder.join(PROGRAM);
    let failed = |error: String| format!("{}: {error}", program.display());
    let mut bytes = fs::read(&program).map_err(|error| failed(error.to_string()))?;
    let found = memory::find_shared(&bytes).map_err(failed)?;
    let words = match found {
        Some(memory) => {
            memory::set_shared(&mut bytes, &memory, false);
            fs::write(&program, &bytes).map_err(|error| failed(error.to_string()))?;
            let memory::SharedMemory { initial, maximum, flags_at } = memory;
            format!("{{ initial: {initial}, maximum: {maximum}, flagsAt: {flags_at} }}")
        }
        None => "null".into(),
    };
    let script = format!("export const MEMORY = {words};\n");
    let path = folder.join(MEMORY_SCRIPT);
    fs::write(&path, script).map_err(|error| format!("{}: {error}", path.display()))
}
