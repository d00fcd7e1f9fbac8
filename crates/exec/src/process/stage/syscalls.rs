//! Seccomp: which system calls the program may make.
//!
//! Two filters. The first lets through what is in [`table::ALLOWED`] and answers everything else
//! as a kernel that does not have it, so that libraries fall back; calls that will be invented later
//! are refused this way too, and so are calls by another numbering of the same machine. The second,
//! which is asked first and whose answer counts, names what is dangerous and answers with EPERM.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use super::{modes, table, while_};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Are the filters, written and not yet put up: writing them takes longer.
pub(super) struct Filters {
    network: bool,
    allowed: BpfProgram,
    refused: BpfProgram,
}

impl Filters {
    /// Writes the filters of a program with or without network.
    pub(super) fn new(network: bool) -> Result<Self, String> {
        let never = SeccompAction::Errno(errno(libc::EPERM));
        let refused = refused(network).and_then(|r| compile(r, SeccompAction::Allow, never));
        let refused = refused.map_err(while_(CANNOT))?;
        Ok(Self { network, allowed: allowing(network, false)?, refused })
    }

    /// Restricts the system calls of this process, for good.
    pub(super) fn apply(&self, built_in: bool) -> Result<(), String> {
        let own = if built_in { Some(allowing(self.network, true)?) } else { None };
        for filter in [own.as_ref().unwrap_or(&self.allowed), &self.refused] {
            seccompiler::apply_filter(filter)
                .map_err(while_("seccomp is not offered by this kernel"))?;
        }
        Ok(())
    }
}

const CANNOT: &str = "cannot write the filter of system calls";

fn allowing(network: bool, built_in: bool) -> Result<BpfProgram, String> {
    let missing = SeccompAction::Errno(errno(libc::ENOSYS));
    allowed(network, built_in)
        .and_then(|rules| compile(rules, missing, SeccompAction::Allow))
        .map_err(while_(CANNOT))
}

fn errno(number: i32) -> u32 {
    number.unsigned_abs()
}

fn compile(
    rules: Rules,
    otherwise: SeccompAction,
    matched: SeccompAction,
) -> Result<BpfProgram, BackendError> {
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, otherwise, matched, machine)?.try_into()
}

fn allowed(network: bool, built_in: bool) -> Result<Rules, BackendError> {
    let ordinary = table::ALLOWED.iter().chain(table::ALLOWED_HERE);
    let mut rules: Rules = ordinary.map(|call| (*call, Vec::new())).collect();
    // Namespaces are named in the flags; what is named is refused by the other filter, and so is
    // the call that puts that filter up.
    rules.insert(libc::SYS_clone, Vec::new());
    rules.insert(libc::SYS_seccomp, Vec::new());
    if built_in {
        rules.insert(libc::SYS_openat2, Vec::new());
    }
    if network {
        rules.extend(table::NETWORK.iter().map(|call| (*call, Vec::new())));
        rules.insert(libc::SYS_socket, sockets()?);
    }
    Ok(rules)
}

fn refused(network: bool) -> Result<Rules, BackendError> {
    let dangerous = table::REFUSED.iter().chain(table::REFUSED_HERE);
    let mut rules: Rules = dangerous.map(|call| (*call, Vec::new())).collect();
    if !network {
        rules.extend(table::NETWORK.iter().map(|call| (*call, Vec::new())));
        rules.insert(libc::SYS_socket, Vec::new());
    } else {
        let other = |domain: i32| is(0, SeccompCmpOp::Ne, bits(domain));
        let others = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(other);
        rules.insert(libc::SYS_socket, vec![all(others)?]);
    }
    let namespaces = table::NAMESPACES.iter().map(|flag| has(0, *flag));
    rules.insert(libc::SYS_clone, any(namespaces)?);
    let terminal = table::TERMINAL.iter().map(|request| is(1, SeccompCmpOp::Eq, *request));
    rules.insert(libc::SYS_ioctl, any(terminal)?);
    let prctl = table::PRCTL.iter().map(|option| is(0, SeccompCmpOp::Eq, bits(*option)));
    rules.insert(libc::SYS_prctl, any(prctl)?);
    let fcntl = table::FCNTL.iter().map(|request| is(1, SeccompCmpOp::Eq, *request));
    rules.insert(libc::SYS_fcntl, any(fcntl)?);
    // Memory that is shared and belongs to no file is counted against no limit, nor is what grows.
    let uncounted = [libc::MAP_SHARED | libc::MAP_ANONYMOUS, libc::MAP_GROWSDOWN];
    rules.insert(libc::SYS_mmap, any(uncounted.into_iter().map(|flags| has(3, bits(flags))))?);
    // Where cores go to a program, a limit of nothing does not keep them from it; see `limits`.
    let core = |argument| is(argument, SeccompCmpOp::Eq, table::CORE);
    let sets = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0);
    rules.insert(libc::SYS_prlimit64, vec![all([core(1), sets])?]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_setrlimit, vec![all([core(0)])?]);
    rules.extend(raising()?);
    Ok(rules)
}

/// Lists the calls that would leave a program which runs as Remit's user, whoever starts it.
fn raising() -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    for (call, mode) in modes::MODES.iter().chain(modes::MODES_HERE) {
        rules.insert(*call, any(modes::RAISING.iter().map(|bit| has(*mode, *bit)))?);
    }
    for (call, flags) in modes::OPENS.iter().chain(modes::OPENS_HERE) {
        for made in modes::MAKING {
            for bit in modes::RAISING {
                let rule = all([has(*flags, bits(*made)), has(*flags + 1, *bit)])?;
                rules.entry(*call).or_default().push(rule);
            }
        }
    }
    Ok(rules)
}

/// Lists the sockets a program with network may make: TCP, UDP, and the one by which resolvers ask
/// for this machine's addresses.
fn sockets() -> Result<Vec<SeccompRule>, BackendError> {
    let mut rules = Vec::new();
    for domain in [libc::AF_INET, libc::AF_INET6] {
        for (kind, protocol) in
            [(libc::SOCK_STREAM, libc::IPPROTO_TCP), (libc::SOCK_DGRAM, libc::IPPROTO_UDP)]
        {
            for protocol in [0, protocol] {
                rules.push(all([
                    is(0, SeccompCmpOp::Eq, bits(domain)),
                    is(1, SeccompCmpOp::MaskedEq(table::SOCKET_KIND), bits(kind)),
                    is(2, SeccompCmpOp::Eq, bits(protocol)),
                ])?);
            }
        }
    }
    rules.push(all([
        is(0, SeccompCmpOp::Eq, bits(libc::AF_NETLINK)),
        is(2, SeccompCmpOp::Eq, bits(libc::NETLINK_ROUTE)),
    ])?);
    Ok(rules)
}

/// Gives a flag or number as the kernel compares it.
fn bits(number: i32) -> u64 {
    u64::from(number.cast_unsigned())
}

type Condition = Result<SeccompCondition, BackendError>;

fn is(argument: u8, how: SeccompCmpOp, value: u64) -> Condition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value)
}

fn has(argument: u8, flags: u64) -> Condition {
    is(argument, SeccompCmpOp::MaskedEq(flags), flags)
}

fn all(conditions: impl IntoIterator<Item = Condition>) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?)
}

fn any(conditions: impl Iterator<Item = Condition>) -> Result<Vec<SeccompRule>, BackendError> {
    conditions.map(|one| all([one])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_both_allowed_and_refused() {
        let allowed = [table::ALLOWED, table::ALLOWED_HERE, table::NETWORK].concat();
        for call in [table::REFUSED, table::REFUSED_HERE, &[libc::SYS_clone3]].concat() {
            assert!(!allowed.contains(&call), "{call}");
        }
    }

    #[test]
    fn only_what_is_built_in_opens_files_by_a_call_that_hides_their_mode() {
        assert!(allowed(false, true).unwrap().contains_key(&libc::SYS_openat2));
        assert!(!allowed(true, false).unwrap().contains_key(&libc::SYS_openat2));
    }

    #[test]
    fn both_filters_compile_for_every_machine_and_fit_the_kernel() {
        for network in [false, true] {
            for rules in [allowed(network, true).unwrap(), refused(network).unwrap()] {
                let program =
                    compile(rules, SeccompAction::Allow, SeccompAction::KillProcess).unwrap();
                assert!(program.len() < 4096);
            }
        }
    }
}
