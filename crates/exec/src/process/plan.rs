//! What the two stages of a start are told: some of it before it is known what is to run.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::confine::{ConfineError, Confinement, Limits, Sandbox, lendable};

/// Is the longest plan.
pub(crate) const MOST_PLAN_BYTES: usize = 131_071;
/// Is the longest order: a plan and a credential.
pub(super) const MOST_ORDER_BYTES: usize = MOST_PLAN_BYTES + (4 << 10);

/// Is a program to run and what it needs to run at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// Its arguments. Anybody on the machine can read them: never a secret.
    pub args: Vec<String>,
    /// Where its libraries and modules are, beyond those of the system.
    pub roots: Vec<PathBuf>,
    /// The directory of the tool itself, which it may read and execute and where it starts; `/` if it
    /// has none.
    pub directory: PathBuf,
}

/// Is one start: what to run and within what.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Plan {
    /// What runs.
    pub program: Program,
    /// What it may reach.
    pub confinement: Confinement,
    /// Whether it is confined at all.
    pub sandbox: Sandbox,
}

impl Plan {
    /// Tells what is wrong with the paths, if anything.
    pub(super) fn check(&self) -> Result<(), ConfineError> {
        self.confinement.check()?;
        self.program.lent().try_for_each(lendable)
    }
}

impl Program {
    /// Tells whether it is Remit itself, which has no directory of a tool.
    pub(super) fn is_built_in(&self) -> bool {
        self.directory == Path::new("/")
    }

    /// Lists what it needs to run at all.
    pub(super) fn lent(&self) -> impl Iterator<Item = &Path> {
        let directory = Some(self.directory.as_path()).filter(|path| *path != Path::new("/"));
        self.roots.iter().map(PathBuf::as_path).chain([self.path.as_path()]).chain(directory)
    }
}

/// Is what both stages are told before there is a plan.
///
/// It stands in their arguments, which anybody on the machine can read. Two plans that have this in
/// common can be started from the same beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ahead {
    pub(super) sandbox: Sandbox,
    pub(super) network: bool,
    pub(super) limits: Limits,
    /// Whether control groups are used where they can be had.
    pub(super) groups: bool,
}

impl Ahead {
    /// Tells whether a plan can be started from this beginning.
    pub(super) fn fits(&self, plan: &Plan) -> bool {
        let Confinement { network, limits, .. } = &plan.confinement;
        self.sandbox == plan.sandbox && self.network == *network && self.limits == *limits
    }
}

/// Is what Remit hands to the first stage.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Outer {
    pub(super) ahead: Ahead,
    /// Remit's own process, with which the first stage ends.
    pub(super) remit: u32,
}

/// Is what the first stage hands to the second.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Inner {
    pub(super) ahead: Ahead,
    /// The first stage's process, as `/proc` calls it.
    pub(super) parent: u32,
    /// Whether the second stage is the first process of a namespace of its own.
    pub(super) namespaced: bool,
    /// Whether the kernel exempts this user from the limit on processes.
    pub(super) unlimited: bool,
    /// Whether a control group limits the processes already.
    pub(super) grouped: bool,
    /// `TMPDIR` where there is no private root.
    pub(super) scratch: Option<PathBuf>,
}

/// Is what the second stage waits for on its standard input, before everything that the program will
/// read there: four bytes that say how long it is, and this as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) plan: Plan,
    /// What the program gets in its environment to call back with.
    pub(super) credential: Option<String>,
}

/// Is the first line a start writes to standard output, before the program has a say.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Greeting {
    /// Every layer stands; the next thing to happen is the program.
    Ready {
        /// The program's process, as Remit sees it.
        pid: u32,
    },
    /// Something is missing, and nothing was run.
    Refused(String),
}
