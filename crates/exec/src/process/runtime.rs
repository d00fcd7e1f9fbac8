//! Finds what runs a tool: an interpreter, or the tool itself.

mod look;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::Command;
use tokio::sync::OnceCell;

use super::confine::Limits;
use super::plan::Program;

/// Is how long an interpreter may take to say where it is. A version manager's shim is slow.
const ASK: Duration = Duration::from_secs(20);

/// Is what a stand-in for Python is asked: which one it starts. Without `site`, which takes longer
/// than all the rest.
const ASK_WHICH: &str = "import json, sys; print(json.dumps({'path': sys.executable, \
'roots': [], 'modules': []}))";

/// Is what Python is asked, once: where it really is, and where its modules are.
const ASK_PYTHON: &str = "import json, site, sys; print(json.dumps({'path': sys.executable, \
'roots': [sys.prefix, sys.base_prefix, *sys.path], 'modules': site.getsitepackages()}))";

/// Is what Node is asked, once.
const ASK_NODE: &str =
    "console.log(JSON.stringify({path: process.execPath, roots: [], modules: []}))";

/// Starts a Python tool.
///
/// `-I` shuts out the environment, the user's own packages and the directory Remit happens to be in;
/// `-S` leaves out `site`, which takes as long as all the rest of the start together. What is lost by
/// that is put back here: the tool's own directory and the installed packages can be imported. Not
/// put back are `.pth` files, and `exit`, which a program spells `sys.exit`.
///
/// A line that is printed goes out when it is complete, whether the tool says so or not. (`-u` would
/// send its end on its own.)
const START_PYTHON: &str = "import sys
sys.stdout.reconfigure(line_buffering=True)
entry, sys.path[:0], sys.argv = sys.argv[1], sys.argv[2:3], sys.argv[1:2] + sys.argv[3:]
sys.path += sys.argv[1:]
del sys.argv[1:]
__file__ = entry
with open(entry, 'rb') as source: source = source.read()
exec(compile(source, entry, 'exec'))";

/// Stands for the option of Node that bounds its heap, until the limits are known: left alone it
/// plans with the memory of the machine.
const FIT_HEAP: &str = "--max-old-space-size=fit";

/// Makes arguments fit the limits of one start.
pub(super) fn fit(args: &mut [String], limits: &Limits) {
    for arg in args.iter_mut().filter(|arg| *arg == FIT_HEAP) {
        let heap = (limits.memory_bytes >> 20) * 3 / 4;
        *arg = format!("--max-old-space-size={}", heap.max(16));
    }
}

/// Are places so full that they are never lent as a whole; the libraries in them are lent anyway.
const SHARED: [&str; 4] = ["/", "/usr", "/usr/local", "/opt"];

/// Is a runtime of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Python 3.
    Python,
    /// Node.
    JavaScript,
    /// The entry is a program.
    Native,
}

/// Says why a tool cannot be run at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeError(pub String);

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RuntimeError {}

/// Knows the interpreters of this machine. Each is asked for its real place once.
#[derive(Debug, Default)]
pub struct Interpreters {
    python: Option<PathBuf>,
    node: Option<PathBuf>,
    found_python: OnceCell<Found>,
    found_node: OnceCell<Found>,
}

/// Is what an interpreter says about itself.
#[derive(Clone, Debug, Deserialize)]
struct Found {
    path: PathBuf,
    roots: Vec<PathBuf>,
    modules: Vec<PathBuf>,
}

impl Interpreters {
    /// Uses these instead of the ones on `PATH`.
    pub fn new(python: Option<PathBuf>, node: Option<PathBuf>) -> Self {
        Self { python, node, ..Self::default() }
    }

    /// Gives the program that runs a tool.
    ///
    /// The entry is relative to the directory of tools and must not lead out of it, also not by a
    /// symbolic link.
    pub async fn program(
        &self,
        kind: Kind,
        tools: &Path,
        entry: impl AsRef<Path>,
    ) -> Result<Program, RuntimeError> {
        let entry = inside(tools, entry.as_ref())?;
        let directory = entry.parent().unwrap_or(tools).to_owned();
        match kind {
            Kind::Native => native(entry, directory),
            Kind::Python => {
                let python = self.find_python().await?;
                let mut args: Vec<String> =
                    ["-I", "-S", "-B", "-c", START_PYTHON].map(str::to_owned).into();
                args.push(text(&entry)?);
                args.push(text(&directory)?);
                for place in &python.modules {
                    args.push(text(place)?);
                }
                Ok(Program {
                    path: python.path.clone(),
                    args,
                    roots: python.roots.clone(),
                    directory,
                })
            }
            Kind::JavaScript => {
                let node = self.find_node().await?;
                let args = vec![FIT_HEAP.to_owned(), text(&entry)?];
                Ok(Program { path: node.path.clone(), args, roots: node.roots.clone(), directory })
            }
        }
    }

    async fn find_python(&self) -> Result<&Found, RuntimeError> {
        let name = self.python.as_deref().unwrap_or(Path::new("python3"));
        self.found_python.get_or_try_init(|| python(name)).await
    }

    async fn find_node(&self) -> Result<&Found, RuntimeError> {
        let name = self.node.as_deref().unwrap_or(Path::new("node"));
        self.found_node.get_or_try_init(|| node(name)).await
    }
}

/// Looks for Python, and asks it where looking is not enough. A stand-in that a version manager put
/// there is asked for the real one first.
async fn python(name: &Path) -> Result<Found, RuntimeError> {
    let search = std::env::var_os("PATH");
    if let Some(found) = look::python(name, search.as_deref()) {
        return lent(name, found);
    }
    let real = ask(name, &["-I", "-S", "-c", ASK_WHICH]).await?.path;
    match look::python(&real, None) {
        Some(found) => lent(name, found),
        None => lent(name, ask(&real, &["-I", "-c", ASK_PYTHON]).await?),
    }
}

/// Looks for Node, and asks what stands in for it.
async fn node(name: &Path) -> Result<Found, RuntimeError> {
    let search = std::env::var_os("PATH");
    match look::node(name, search.as_deref()) {
        Some(found) => lent(name, found),
        None => lent(name, ask(name, &["-e", ASK_NODE]).await?),
    }
}

fn unusable(name: &Path, why: &str) -> RuntimeError {
    RuntimeError(format!(
        "`{}` cannot be used ({why}); install it, or name another one",
        name.display()
    ))
}

/// Asks an interpreter about itself.
async fn ask(name: &Path, question: &[&str]) -> Result<Found, RuntimeError> {
    let asked = Command::new(name)
        .args(question)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let answered = tokio::time::timeout(ASK, asked).await;
    let answered =
        answered.map_err(|_| unusable(name, &format!("silent for {} s", ASK.as_secs())))?;
    let answered = answered.map_err(|error| unusable(name, &error.to_string()))?;
    serde_json::from_slice(&answered.stdout)
        .map_err(|_| unusable(name, "it does not say where it is"))
}

/// Keeps what a confined process has to be lent.
fn lent(name: &Path, found: Found) -> Result<Found, RuntimeError> {
    let path = found.path.canonicalize().map_err(|error| unusable(name, &error.to_string()))?;
    let mut roots: Vec<PathBuf> = found
        .roots
        .iter()
        .chain(&found.modules)
        .filter_map(|root| root.canonicalize().ok())
        .chain(libraries_beside(&path))
        .filter(|root| !SHARED.iter().any(|shared| root == Path::new(shared)))
        .collect();
    roots.sort();
    // What lies in something that is lent already adds nothing but length.
    roots.dedup_by(|later, earlier| later.starts_with(earlier));
    Ok(Found { path, roots, modules: found.modules })
}

/// Gives the `lib` beside the `bin` an interpreter is in, where it has one to itself.
fn libraries_beside(path: &Path) -> Option<PathBuf> {
    let home = path.parent()?.parent()?;
    let own = !SHARED.iter().any(|shared| home == Path::new(shared));
    let libraries = home.join("lib");
    (own && libraries.is_dir()).then_some(libraries)
}

/// Resolves an entry and checks that it stays in the directory of tools.
fn inside(tools: &Path, entry: &Path) -> Result<PathBuf, RuntimeError> {
    let cannot = |path: &Path, error: std::io::Error| {
        RuntimeError(format!("`{}` cannot be opened: {error}", path.display()))
    };
    let home = tools.canonicalize().map_err(|error| cannot(tools, error))?;
    let path = home.join(entry);
    let real = path.canonicalize().map_err(|error| cannot(&path, error))?;
    if !real.starts_with(&home) {
        let why =
            format!("`{}` leads out of the directory of tools; keep it inside", entry.display());
        return Err(RuntimeError(why));
    }
    if !real.is_file() {
        return Err(RuntimeError(format!(
            "`{}` is not a file; name the tool's program",
            entry.display()
        )));
    }
    Ok(real)
}

/// Gives a program that is the entry itself.
fn native(entry: PathBuf, directory: PathBuf) -> Result<Program, RuntimeError> {
    use std::os::unix::fs::PermissionsExt;
    let shown = entry.display();
    let mode = entry.metadata().map_err(|error| RuntimeError(format!("`{shown}`: {error}")))?;
    if mode.permissions().mode() & 0o111 == 0 {
        return Err(RuntimeError(format!("`{shown}` is not executable; run `chmod +x` on it")));
    }
    Ok(Program { path: entry, args: Vec::new(), roots: Vec::new(), directory })
}

fn text(path: &Path) -> Result<String, RuntimeError> {
    let why = || RuntimeError(format!("`{}` is not text; rename it", path.display()));
    path.to_str().map(str::to_owned).ok_or_else(why)
}
