//! What this machine offers for confinement.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::Serialize;

use super::confine::{Confinement, Sandbox};
use super::launch::Launcher;
use super::plan::{Plan, Program};
use super::stage::{self, Layer, Tried};

/// Is one layer: whether it can be had, and a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// Whether it can be had.
    pub available: bool,
    /// What was found, or what is missing.
    pub detail: String,
}

/// Is what this machine offers, found by trying each layer in a process of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offers {
    /// Users of its own.
    pub user_namespaces: Offer,
    /// Processes of its own.
    pub process_namespaces: Offer,
    /// A network of its own.
    pub network_namespaces: Offer,
    /// Mounts of its own.
    pub mount_namespaces: Offer,
    /// Rules for files.
    pub landlock: Offer,
    /// Rules for system calls.
    pub seccomp: Offer,
    /// Limits for a tool as a whole. The only layer that is not required.
    pub control_groups: Offer,
    /// All of it together: whether a confined process really starts.
    pub confinement: Offer,
}

impl Offers {
    /// Gives every layer with its name.
    pub fn all(&self) -> [(&'static str, &Offer); 8] {
        [
            ("user namespaces", &self.user_namespaces),
            ("process namespaces", &self.process_namespaces),
            ("network namespaces", &self.network_namespaces),
            ("mount namespaces", &self.mount_namespaces),
            ("landlock", &self.landlock),
            ("seccomp", &self.seccomp),
            ("control groups", &self.control_groups),
            ("confinement", &self.confinement),
        ]
    }
}

/// Tries what this machine offers. Takes some milliseconds.
pub async fn offers(launcher: &Launcher) -> Offers {
    let layer = |layer| try_layer(launcher, layer);
    Offers {
        user_namespaces: layer(Layer::User),
        process_namespaces: layer(Layer::Processes),
        network_namespaces: layer(Layer::Network),
        mount_namespaces: layer(Layer::Mounts),
        landlock: layer(Layer::Landlock),
        seccomp: layer(Layer::Seccomp),
        control_groups: layer(Layer::Groups),
        confinement: try_all(launcher).await,
    }
}

fn try_layer(launcher: &Launcher, layer: Layer) -> Offer {
    let missing = |detail: String| Offer { available: false, detail };
    let name = match serde_json::to_string(&layer) {
        Ok(name) => name,
        Err(error) => return missing(error.to_string()),
    };
    let run = Command::new(launcher.program())
        .args([stage::PROBE, &name])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match run {
        Err(error) => missing(format!("cannot be tried: {error}")),
        Ok(output) => match serde_json::from_slice::<Tried>(&output.stdout) {
            Ok(tried) => Offer { available: tried.available, detail: tried.detail },
            Err(_) => missing(format!("the try ended early ({})", output.status)),
        },
    }
}

/// Starts a confined process that ends at once.
async fn try_all(launcher: &Launcher) -> Offer {
    let path = match std::fs::canonicalize(launcher.program()) {
        Ok(path) => path,
        Err(error) => return Offer { available: false, detail: error.to_string() },
    };
    let program = Program {
        directory: path.parent().map_or_else(|| PathBuf::from("/"), PathBuf::from),
        args: vec![stage::PROBE.to_owned()],
        roots: Vec::new(),
        path,
    };
    let plan = Plan { program, confinement: Confinement::default(), sandbox: Sandbox::On };
    match launcher.start(&plan).await {
        Ok(mut process) => {
            process.end().await;
            Offer { available: true, detail: "tools run confined".to_owned() }
        }
        Err(error) => Offer { available: false, detail: error.0 },
    }
}
