//! Writes the JavaScript bindings of the page's crate. Does the same as the program
//! `wasm-bindgen`, in the version that the crate is built with.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [crate_file, folder] = arguments.as_slice() else {
        eprintln!("usage: drystone-web-bindgen CRATE.wasm FOLDER");
        return ExitCode::from(2);
    };
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    let wrote = bindgen
        .input_path(crate_file)
        // Names of functions are 8 % of the compressed size, and only stack traces show them. Messages of
        // panics name file and line without them.
        .remove_name_section(true)
        .remove_producers_section(true)
        .web(true)
        .and_then(|it| it.typescript(false).omit_default_module_path(false).generate(folder));
    match wrote {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{crate_file}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
