//! What a local server is started with: which program, which arguments, which environment.
//!
//! A server gets the variables it was given and a few that name places and the language, never the rest
//! of Remit's environment: that holds keys which are none of its business.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use remit_model::canonical::hex;
use remit_model::text::quoted;
use sha2::{Digest as _, Sha256};

use crate::error::McpError;

/// Is where programs are looked for if nobody says.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Is the part of Remit's own environment that every local server gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings(BTreeMap<OsString, OsString>);

impl Surroundings {
    /// Lists what is passed on, if it is there: where things are, who the user is, what they speak.
    pub const NAMES: [&'static str; 9] =
        ["PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];

    /// Picks what is passed on out of an environment. Of `PATH` only whole paths are: a program must not
    /// come from wherever Remit happens to stand.
    #[must_use]
    pub fn pick(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let mut picked = BTreeMap::new();
        for name in Self::NAMES {
            // Some shells took functions from variables like this, and ran them.
            let value = lookup(name).filter(|value| !value.as_bytes().starts_with(b"()"));
            if let Some(value) = value {
                let value = if name == "PATH" { whole_paths(&value) } else { value };
                picked.insert(name.into(), value);
            }
        }
        Self(picked)
    }
}

fn whole_paths(path: &OsStr) -> OsString {
    let parts = path.as_bytes().split(|byte| *byte == b':').filter(|part| part.starts_with(b"/"));
    let kept: Vec<&[u8]> = parts.collect();
    OsStr::from_bytes(&kept.join(&b':')).to_owned()
}

/// Is a local server's program.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Launch {
    /// The program: a name that is looked for, or a path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables, templates already filled in.
    pub env: BTreeMap<String, String>,
    /// Where it runs; without one, in the root directory.
    pub directory: Option<PathBuf>,
}

impl std::fmt::Debug for Launch {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The values may be secrets.
        let names: Vec<_> = self.env.keys().collect();
        let Self { command, args, .. } = self;
        write!(out, "Launch({command:?}, {args:?}, env {names:?})")
    }
}

impl Launch {
    /// Gives the whole environment of the program: what it was given counts more than the surroundings.
    pub(crate) fn environment(&self, around: &Surroundings) -> BTreeMap<OsString, OsString> {
        let mut all = around.0.clone();
        all.extend(self.env.iter().map(|(name, value)| (name.into(), value.into())));
        all.entry("PATH".into()).or_insert_with(|| USUAL_PATH.into());
        all
    }

    /// Finds the program as a shell would, with the server's own `PATH`.
    pub fn program(&self, around: &Surroundings) -> Result<PathBuf, McpError> {
        let refused = |why: String| McpError::NotStarted { why };
        if self.command.is_empty() || self.command.contains('\0') {
            return Err(refused("its `command` is empty or no name of a program".to_owned()));
        }
        if self.command.contains('/') {
            let base = self.directory.clone().unwrap_or_else(|| PathBuf::from("/"));
            let path = base.join(&self.command);
            return match is_program(&path) {
                true => Ok(path),
                false => Err(refused(format!("{} is no program", quoted(&self.command)))),
            };
        }
        let environment = self.environment(around);
        let path = environment.get(OsStr::new("PATH")).map(OsString::as_os_str).unwrap_or_default();
        let mut places = std::env::split_paths(path).filter(|place| place.is_absolute());
        places.find_map(|place| Some(place.join(&self.command)).filter(|path| is_program(path))).ok_or_else(
            || refused(format!(
                "there is no program {} in its PATH; install it, or write its whole path as `command`",
                quoted(&self.command)
            )),
        )
    }

    /// Gives what tells this program from another: its place, its arguments and the digest of its file.
    /// An interpreter's script is one of its arguments, so only the path of that counts.
    pub fn identity(&self, around: &Surroundings) -> Result<LocalIdentity, McpError> {
        let program = self.program(around)?;
        let digest = digest(&program).map_err(|error| McpError::NotStarted {
            why: format!("{} cannot be read: {error}", quoted(&program.to_string_lossy())),
        })?;
        Ok(LocalIdentity { command: self.command.clone(), args: self.args.clone(), digest })
    }
}

/// Tells a local server from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalIdentity {
    /// The program, as it is declared.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The SHA-256 digest of the file it was found to be.
    pub digest: String,
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

fn digest(file: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(file)?;
    let (mut sha, mut chunk) = (Sha256::new(), vec![0; 256 << 10]);
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hex(&sha.finalize())),
            count => sha.update(chunk.get(..count).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(pairs: &[(&str, &str)]) -> Surroundings {
        Surroundings::pick(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn only_harmless_variables_are_passed_on() {
        let around = around(&[
            ("PATH", "/usr/bin::bin:.:/bin"),
            ("HOME", "/home/u"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("LANG", "() { :; }; echo"),
        ]);
        let launch =
            Launch { env: BTreeMap::from([("HOME".into(), "/srv".into())]), ..Launch::default() };
        let environment = launch.environment(&around);
        let shown: Vec<_> = environment
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        assert_eq!(shown, ["HOME=/srv", "PATH=/usr/bin:/bin"]);
        let bare = launch.environment(&Surroundings::default());
        assert_eq!(bare.get(OsStr::new("PATH")).unwrap(), USUAL_PATH);
    }

    #[test]
    fn a_program_is_found_in_whole_places_only_and_known_by_its_content() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("server");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        let path = place.path().to_str().unwrap();
        let launch = |command: &str| Launch { command: command.to_owned(), ..Launch::default() };
        let around = around(&[("PATH", path)]);
        assert!(launch("server").program(&around).is_err(), "it may not be executed");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(launch("server").program(&around).unwrap(), file);
        assert_eq!(launch(file.to_str().unwrap()).program(&around).unwrap(), file);
        for wrong in ["", "no-such-server", "./server", "a\0b"] {
            let error = launch(wrong).program(&around).unwrap_err();
            assert!(matches!(error, McpError::NotStarted { .. }), "{wrong:?}");
        }
        let before = launch("server").identity(&around).unwrap();
        assert_eq!(before.digest.len(), 64);
        std::fs::write(&file, "#!/bin/sh\necho\n").unwrap();
        assert_ne!(launch("server").identity(&around).unwrap().digest, before.digest);
    }
}
