//! Landlock: which files the program may open, and how.
//!
//! The private root already holds nothing else. This says it a second time, by another mechanism of
//! the kernel, so that a mistake in either of them is not an escape.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};

use super::super::confine::Confinement;
use super::root::{Lent, Mode};
use super::while_;

/// Is the newest interface these rules are written for. Older kernels enforce what they know of it.
const NEWEST: ABI = ABI::V9;

/// Restricts this process to what it was lent.
pub(super) fn restrict(lent: &[Lent], confinement: &Confinement) -> Result<(), String> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
        .and_then(|rules| {
            if confinement.network {
                Ok(rules)
            } else {
                rules.handle_access(AccessNet::from_all(NEWEST))
            }
        })
        .and_then(Ruleset::create)
        .map_err(while_("Landlock"))?;
    let mut rules = rules.set_compatibility(CompatLevel::BestEffort);
    for one in lent {
        let place = PathFd::new(&one.path)
            .map_err(|error| format!("Landlock: cannot open `{}`: {error}", one.path.display()))?;
        let rights = if one.is_directory { rights(one.mode) } else { of_a_file(one.mode) };
        rules = rules.add_rule(PathBeneath::new(place, rights)).map_err(while_("Landlock"))?;
    }
    let status = rules.restrict_self().map_err(while_("Landlock"))?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err("Landlock is not offered by this kernel; use Linux 5.13 or newer with `landlock` among its security modules".to_owned());
    }
    Ok(())
}

fn rights(mode: Mode) -> BitFlags<AccessFs> {
    match mode {
        Mode::Read => make_bitflags!(AccessFs::{ReadFile | ReadDir}),
        Mode::Run => make_bitflags!(AccessFs::{ReadFile | ReadDir | Execute}),
        Mode::Device => make_bitflags!(AccessFs::{ReadFile | WriteFile}),
        Mode::Write => make_bitflags!(AccessFs::{
            ReadFile | ReadDir | WriteFile | Truncate | Refer | RemoveDir | RemoveFile
            | MakeDir | MakeReg | MakeSym | MakeFifo
        }),
    }
}

fn of_a_file(mode: Mode) -> BitFlags<AccessFs> {
    rights(mode) & make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate | Execute})
}
