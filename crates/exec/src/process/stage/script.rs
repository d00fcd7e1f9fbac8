//! The interpreter that a script names in its first line.
//!
//! The line is the tool's, so what it names is lent only if anybody may run it anyway: a program in a
//! directory of programs. The line is read exactly as the kernel reads it, which will look for the
//! same name; were they to differ, one thing would be lent and another executed.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::super::confine::lendable;
use super::super::plan::Plan;

/// Is how much of a program the kernel looks at.
const LOOKED_AT: usize = 256;
/// Are directories whose names only root can change: where a link in them leads is the system's word.
const SYSTEM: [&str; 6] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Is an interpreter, as a script names it and where it is.
pub(super) struct Interpreter {
    pub(super) named: PathBuf,
    pub(super) real: PathBuf,
}

/// Gives the interpreter of a plan's program if it is a script that names one that has to be lent.
pub(super) fn interpreter(plan: &Plan) -> Result<Option<Interpreter>, String> {
    let Some(named) = named_by(&plan.program.path) else { return Ok(None) };
    // What is missing is not lent, and the kernel looks for a relative name in the tool's directory.
    let Some(real) = named.is_absolute().then(|| named.canonicalize().ok()).flatten() else {
        return Ok(None);
    };
    let refused = |why: &str| {
        Err(format!(
            "the first line of `{}` names `{}`, {why}; write `#!` with the whole path of an interpreter in a `bin` directory",
            plan.program.path.display(),
            named.display()
        ))
    };
    if lendable(&named).is_err() || lendable(&real).is_err() {
        return refused("which cannot be lent");
    }
    if plan.confinement.hidden.iter().any(|hidden| real.starts_with(hidden)) {
        return refused("which must stay out of reach");
    }
    let is_program = real
        .metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o001 != 0);
    if !is_program {
        return refused("which is not a program that everybody may execute");
    }
    if !real.starts_with(&plan.program.directory) && !is_in_bin(&named, &real) {
        return refused("which is in no directory of programs");
    }
    Ok(Some(Interpreter { named, real }))
}

fn is_in_bin(named: &Path, real: &Path) -> bool {
    let parent = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
    let is_bin = parent(real).file_name().is_some_and(|name| name == "bin" || name == "sbin");
    is_bin || SYSTEM.iter().any(|system| parent(named) == Path::new(system))
}

fn named_by(program: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    let most = u64::try_from(LOOKED_AT).ok()?;
    std::fs::File::open(program).ok()?.take(most).read_to_end(&mut start).ok()?;
    parse(&start).map(|name| PathBuf::from(OsStr::from_bytes(name)))
}

/// Reads the start of a script as the kernel does: spaces and tabs are the only blanks.
fn parse(start: &[u8]) -> Option<&[u8]> {
    let rest = start.strip_prefix(b"#!")?;
    let line = rest.split(|byte| *byte == b'\n').next()?;
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let from = line.iter().position(|byte| !blank(byte))?;
    let line = line.get(from..)?;
    let end = line.iter().position(|byte| blank(byte) || *byte == 0);
    // A name that goes on past what the kernel looks at is no name to it.
    let is_cut = end.is_none() && !rest.contains(&b'\n') && start.len() >= LOOKED_AT;
    let name = line.get(..end.unwrap_or(line.len()))?;
    (!name.is_empty() && !is_cut).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_the_kernel_reads_it() {
        for (line, name) in [
            (&b"#!/bin/sh\n"[..], Some(&b"/bin/sh"[..])),
            (b"#! \t/bin/sh\t-e x\nmore", Some(b"/bin/sh")),
            (b"#!/bin/sh", Some(b"/bin/sh")),
            (b"#!/a\x0bb\n", Some(b"/a\x0bb")),
            (b"#!/a\x0cb\r\n", Some(b"/a\x0cb\r")),
            (b"#!/a\xc2\xa0b \n", Some(b"/a\xc2\xa0b")),
            (b"#!/a\0b\n", Some(b"/a")),
            (b"#!tools/link\n", Some(b"tools/link")),
            (b"#! \n/bin/sh", None),
            (b"#!", None),
            (b"/bin/sh\n", None),
        ] {
            assert_eq!(parse(line), name, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn a_name_that_is_too_long_for_the_kernel_is_none() {
        let line = |length: usize| [b"#!/".to_vec(), vec![b'a'; length - 3]].concat();
        let longest = line(255);
        assert_eq!(parse(&longest), Some(&longest[2..]));
        assert_eq!(parse(&line(256)), None);
    }
}
