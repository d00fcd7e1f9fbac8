//! The manifests that ship with the handlers.

use std::path::Path;

use remit_manifest::compile;

#[test]
fn every_manifest_is_the_file_it_is_named_after() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/core");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let shipped: Vec<_> =
        remit_handlers::MANIFESTS.iter().map(|(name, _)| format!("{name}.yaml")).collect();
    assert_eq!(files, shipped);
    for (name, text) in remit_handlers::MANIFESTS {
        assert_eq!(*text, std::fs::read_to_string(folder.join(format!("{name}.yaml"))).unwrap());
        assert!(text.contains(&format!("name: {name}\n")));
        assert!(text.contains(&format!("entry: core/{name}\n")));
    }
}

#[test]
fn every_manifest_compiles_without_a_word() {
    for (name, text) in remit_handlers::MANIFESTS {
        let checked = compile::check(text.as_bytes(), compile::Options::default());
        assert!(checked.diagnostics.is_empty(), "{name}: {:?}", checked.diagnostics);
    }
}

#[test]
fn every_handler_that_ships_can_be_started() {
    let modules = remit_handlers::method::MODULES;
    for (name, _) in remit_handlers::MANIFESTS.iter().filter(|(name, _)| !modules.contains(name)) {
        assert_eq!(crate::worker::Worker::start(name).finish(), 0, "{name}");
    }
}
