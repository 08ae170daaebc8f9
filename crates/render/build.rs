//! Generates the OpenGL functions that `gl` calls: those of 4.5 core. The extensions that make 4.3
//! suitable have the same function names.

#[cfg(feature = "gl")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::{env, fs::File, path::Path};

    use gl_generator::{Api, Fallbacks, Profile, Registry, StructGenerator};

    println!("cargo:rerun-if-changed=build.rs");
    let folder = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    let mut file = File::create(Path::new(&folder).join("gl.rs"))?;
    let registry = Registry::new(Api::Gl, (4, 5), Profile::Core, Fallbacks::None, []);
    registry.write_bindings(StructGenerator, &mut file)?;
    Ok(())
}

#[cfg(not(feature = "gl"))]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
}
