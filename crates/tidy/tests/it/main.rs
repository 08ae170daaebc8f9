//! Runs the checks on the repository itself. Each module contains one rule, with unit tests on
//! good and bad samples.

mod arrows;
mod boolean_parameters;
mod command_line;
mod crate_docs;
mod doc_openings;
mod document_size;
mod file_size;
mod function_size;
mod leftovers;
mod links;
mod manifests;
mod module_arrows;
mod no_std;
mod object_size;
mod offence;
mod plain_words;
mod prose;
mod readme;
mod repository;
mod source_paths;
mod test_placement;
mod tokens;
mod unsafe_code;
mod weight;
mod words;

use std::sync::LazyLock;

use offence::{Offence, expect_none};
use repository::{Repository, TextFile};

static REPOSITORY: LazyLock<Repository> = LazyLock::new(Repository::load);

/// Runs a check on each Rust file and fails if it finds an offence.
#[track_caller]
fn expect_of_rust_files(check: impl Fn(&TextFile) -> Vec<Offence>) {
    expect_none(&REPOSITORY.rust_files().flat_map(check).collect::<Vec<_>>());
}

#[test]
fn files_are_short() {
    expect_none(&file_size::check(REPOSITORY.rust_files(), file_size::LONG_FILES));
}

#[test]
fn functions_are_short() {
    expect_of_rust_files(function_size::check);
}

#[test]
fn unsafe_code_is_in_its_modules_with_reasons() {
    expect_of_rust_files(unsafe_code::check);
}

#[test]
fn no_draft_macros_are_left() {
    expect_of_rust_files(leftovers::check);
}

#[test]
fn long_tests_have_their_own_file() {
    expect_of_rust_files(test_placement::check_file);
}

#[test]
fn a_crate_has_one_integration_binary() {
    let offences = REPOSITORY.packages.iter().flat_map(test_placement::check_package);
    expect_none(&offences.collect::<Vec<_>>());
}

#[test]
fn crates_depend_only_on_lower_layers() {
    expect_none(&arrows::check(&REPOSITORY.packages, &REPOSITORY.files));
}

#[test]
fn modules_form_no_circles() {
    let check = |root| module_arrows::check(root, &REPOSITORY.files);
    let mut offences: Vec<_> = module_arrows::roots(&REPOSITORY.files).flat_map(check).collect();
    let unused = module_arrows::unused_exceptions(&REPOSITORY.files, module_arrows::CIRCLES);
    offences.extend(unused);
    expect_none(&offences);
}

#[test]
fn objects_are_small() {
    expect_none(&object_size::check(&REPOSITORY.files, object_size::LARGE_OBJECTS));
}

#[test]
fn public_functions_have_no_boolean_parameters() {
    expect_of_rust_files(boolean_parameters::check);
}

#[test]
fn libraries_name_no_command_line_options() {
    expect_of_rust_files(command_line::check);
}

#[test]
fn manifests_inherit_from_the_workspace() {
    let packages = REPOSITORY.packages.iter();
    let offences = packages.flat_map(|package| manifests::check(package, &REPOSITORY.files));
    expect_none(&offences.collect::<Vec<_>>());
}

#[test]
fn users_of_a_crate_compile_few_packages() {
    expect_none(&weight::check());
}

#[test]
fn libraries_have_docs() {
    let packages = REPOSITORY.packages.iter();
    let offences = packages.flat_map(|package| crate_docs::check(package, &REPOSITORY.files));
    expect_none(&offences.collect::<Vec<_>>());
}

#[test]
fn the_examples_of_the_readme_run() {
    expect_none(&readme::check(&REPOSITORY.files));
}

#[test]
fn no_file_contains_a_path_of_one_machine() {
    expect_none(&REPOSITORY.files.iter().flat_map(words::check).collect::<Vec<_>>());
}

#[test]
fn words_are_plain_english() {
    expect_none(&REPOSITORY.files.iter().flat_map(plain_words::check).collect::<Vec<_>>());
}

#[test]
fn doc_comments_make_sense_alone() {
    expect_of_rust_files(doc_openings::check);
}

#[test]
fn documents_are_short() {
    expect_none(&REPOSITORY.files.iter().flat_map(document_size::check).collect::<Vec<_>>());
}

#[test]
fn links_of_documents_resolve() {
    let check = |file| links::check(file, &REPOSITORY.files, &REPOSITORY.paths);
    expect_none(&REPOSITORY.files.iter().flat_map(check).collect::<Vec<_>>());
}

#[test]
fn source_files_that_documents_name_exist() {
    let check = |file| source_paths::check(file, &REPOSITORY.paths);
    expect_none(&REPOSITORY.files.iter().flat_map(check).collect::<Vec<_>>());
}
