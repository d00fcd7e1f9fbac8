//! Interpreters, and the entries they are given.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use remit_exec::process::{Interpreters, Kind, RuntimeError};
use serde_json::json;

use crate::support::{call, misbehave, plan_in, result, start};

async fn try_native(tools: &Path, entry: &str) -> Result<std::path::PathBuf, RuntimeError> {
    let found = Interpreters::default().program(Kind::Native, tools, entry).await;
    found.map(|program| program.path)
}

#[tokio::test]
async fn a_native_entry_stays_in_the_directory_of_tools() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path().canonicalize().unwrap();
    let tools = base.join("tools");
    fs::create_dir(&tools).unwrap();
    for name in ["tools/good", "outside"] {
        fs::write(base.join(name), "#!/bin/sh\n").unwrap();
        fs::set_permissions(base.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::write(tools.join("plain"), "").unwrap();
    symlink("good", tools.join("inner")).unwrap();
    symlink("../outside", tools.join("outer")).unwrap();
    symlink(base.join("outside"), tools.join("absolute")).unwrap();
    assert_eq!(try_native(&tools, "good").await.unwrap(), tools.join("good"));
    assert_eq!(try_native(&tools, "inner").await.unwrap(), tools.join("good"));
    for entry in ["../outside", "outer", "absolute", "/bin/sh", "missing", ".", "plain"] {
        assert!(try_native(&tools, entry).await.is_err(), "{entry}");
    }
    assert!(try_native(&tools, "plain").await.unwrap_err().to_string().contains("chmod"));
}

#[tokio::test]
async fn a_shim_is_resolved_to_the_real_interpreter() {
    let plan = misbehave().await;
    let path = &plan.program.path;
    assert_eq!(*path, path.canonicalize().unwrap());
    assert!(path.file_name().unwrap().to_str().unwrap().starts_with("python3"));
}

#[tokio::test]
async fn an_interpreter_that_is_missing_is_named() {
    let interpreters = Interpreters::new(Some("/no/such/python".into()), None);
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools");
    let error = interpreters.program(Kind::Python, &tools, "misbehave.py").await.unwrap_err();
    assert!(error.to_string().contains("`/no/such/python`"), "{error}");
}

#[tokio::test]
async fn python_finds_its_library_its_own_directory_and_installed_packages() {
    let place = tempfile::tempdir().unwrap();
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/misbehave.py");
    fs::copy(tool, place.path().join("tool.py")).unwrap();
    fs::write(place.path().join("beside.py"), "").unwrap();
    let plan = plan_in(place.path(), Kind::Python, "tool.py").await;
    let mut worker = start(&plan).await;
    for module in ["beside", "sqlite3", "ctypes", "ssl", "asyncio", "pip"] {
        let got = call(&mut worker, "import", json!({"module": module})).await;
        match got {
            Ok(answer) => assert_eq!(answer.outcome.unwrap(), true, "{module}"),
            // Not every machine has it.
            Err(_) if module == "pip" => {}
            Err(error) => panic!("{module}: {error}"),
        }
    }
}

#[tokio::test]
async fn a_script_that_names_its_interpreter_is_a_native_tool() {
    let place = tempfile::tempdir().unwrap();
    let entry = place.path().join("tool");
    let script = "#!/bin/sh\nread line\necho '{\"id\":\"1\",\"result\":\"from sh\"}'\nread line\n";
    fs::write(&entry, script).unwrap();
    fs::set_permissions(&entry, fs::Permissions::from_mode(0o755)).unwrap();
    let plan = plan_in(place.path(), Kind::Native, "tool").await;
    let mut worker = start(&plan).await;
    assert_eq!(result(&mut worker, "any", json!({})).await, "from sh");
}

#[tokio::test]
async fn a_line_that_python_prints_goes_out_without_a_flush() {
    let place = tempfile::tempdir().unwrap();
    let script = "import sys\nfor line in sys.stdin:\n    print('{\"id\":\"1\",', end='')\n    print('\"result\":\"printed\"}')\n";
    fs::write(place.path().join("tool.py"), script).unwrap();
    let plan = plan_in(place.path(), Kind::Python, "tool.py").await;
    let mut worker = start(&plan).await;
    assert_eq!(result(&mut worker, "any", json!({})).await, "printed");
}
