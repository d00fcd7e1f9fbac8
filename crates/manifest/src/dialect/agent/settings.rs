//! `toolsSettings`: what single tools may and may not do.
//!
//! A pattern that cannot be parsed is an error. Files of the older format hold such patterns, and the
//! program they were written for reads them in the stricter way, so they are warnings there: what
//! is unreadable allows nothing, and denies everything.

use globset::Glob;
use remit_model::{Member, Node, Object, Severity, text};

use super::legacy::Format;
use super::native::{Native, native_of_file};
use super::reference::Reference;
use super::tools::{Judge, Place};
use crate::report::{Finding, Report};
use crate::rules;

/// Lists the settings that hold path patterns.
const PATHS: [&str; 2] = ["allowedPaths", "deniedPaths"];

/// Lists the settings that hold command patterns.
const COMMANDS: [&str; 2] = ["allowedCommands", "deniedCommands"];

/// Lists what else the native tools can be told, in either format.
const OTHERS: [&str; 4] = ["autoAllowReadonly", "allowReadOnly", "denyByDefault", "alwaysAllow"];

/// Judges all settings.
pub(super) fn check<'t>(root: &'t Node, judge: &Judge<'_>, report: &mut Report<'t>) {
    let Some(settings) = root.get("toolsSettings").and_then(Node::as_object) else { return };
    let (mut older, mut spent) = (Vec::new(), 0);
    for member in settings.members() {
        let reference = judge.read(&member.key, Place::Key(member), &mut older, report);
        if let Some(Reference::Native { name, .. }) = reference
            && let Some(object) = member.value.as_object()
        {
            let tool = match native_of_file(name, judge.servers) {
                Native::Known => Some(name),
                Native::Respelt(now) => Some(now),
                Native::Gone | Native::Unknown => None,
            };
            check_native(tool, object, judge.format, &mut spent, report);
        }
    }
}

/// Judges the settings of a tool, if it is a native one there still is, and of one there was.
fn check_native<'t>(
    tool: Option<&str>,
    settings: &'t Object,
    format: Format,
    spent: &mut usize,
    report: &mut Report<'t>,
) {
    for member in settings.members() {
        let key = &*member.key;
        if PATHS.contains(&key) {
            patterns(member, format, report, check_glob);
        } else if COMMANDS.contains(&key) {
            patterns(member, format, report, |node, pattern, role, report| {
                if affordable(node, pattern, spent, report) {
                    check_command(node, pattern, role, report);
                }
            });
        } else if let Some(tool) = tool.filter(|_| !OTHERS.contains(&key)) {
            unknown_setting(tool, member, format, report);
        }
    }
}

/// Reports a setting that a native tool does not have. Other tools have what settings they like.
fn unknown_setting<'t>(tool: &str, member: &'t Member, format: Format, report: &mut Report<'t>) {
    let own: &[&str] = if tool == "execute-bash" { &COMMANDS } else { &PATHS };
    let meant = report.suggest(&member.key, own.iter().chain(&OTHERS).copied());
    if meant.is_none() && format == Format::Legacy {
        return;
    }
    let message = format!("{} has no setting {}", text::quoted(tool), text::quoted(&member.key));
    let finding = report.at_key(&rules::UNKNOWN_FIELD, member, message);
    finding.severity(Severity::Warning);
    if let Some(meant) = meant {
        finding.help(format!("did you mean `{meant}`?"));
    }
}

/// Says whether a pattern permits or forbids, and by which format it is judged.
#[derive(Clone, Copy)]
struct Role {
    denies: bool,
    format: Format,
}

/// Judges a list of patterns; a single one in place of the list is looked at as well.
fn patterns<'t>(
    member: &'t Member,
    format: Format,
    report: &mut Report<'t>,
    mut check: impl FnMut(&'t Node, &'t str, Role, &mut Report<'t>),
) {
    let role = Role { denies: member.key.starts_with("denied"), format };
    let single = std::slice::from_ref(&member.value);
    let list = member.value.as_array();
    if list.is_none() {
        not_a(&member.value, "an array of patterns", format, report);
    }
    for node in list.unwrap_or(single) {
        match node.as_str() {
            // What a template becomes is judged when it has become it.
            Some(pattern) if pattern.contains("${") => {}
            Some(pattern) => check(node, pattern, role, report),
            None if list.is_some() => not_a(node, "a string", format, report),
            None => {}
        }
    }
}

/// Says what an unreadable pattern does, and what to do about it.
fn unreadable<'t>(finding: &mut Finding<'t>, role: Role, help: &str) {
    finding.help(match (role.format, role.denies) {
        (Format::Current, _) => help.to_owned(),
        (Format::Legacy, false) => format!("as it stands it allows nothing; {help}"),
        (Format::Legacy, true) => format!("as it stands it denies everything; {help}"),
    });
    role.format.forgive(finding, Severity::Warning);
}

fn not_a<'t>(node: &'t Node, wanted: &str, format: Format, report: &mut Report<'t>) {
    let message = format!("this must be {wanted}, but it is {}", node.type_name());
    let finding = report.at(&rules::WRONG_TYPE, node, message);
    format.forgive(finding, Severity::Warning);
}

fn check_glob<'t>(node: &'t Node, pattern: &'t str, role: Role, report: &mut Report<'t>) {
    if let Err(error) = parse_glob(pattern) {
        unreadable(bad_glob(node, pattern, &error, report), role, GLOB_HELP);
    }
}

const GLOB_HELP: &str =
    "`*`, `?`, `**`, `[…]` and `{…,…}` have a meaning, which a backslash before them takes away";

/// Is the longest path pattern, and the deepest nesting of braces in one. The glob parser recurses
/// into braces, so it must never see more.
const LONGEST_GLOB: usize = 4_096;
const DEEPEST_BRACES: usize = 8;

/// Parses a path pattern, which anybody may have written.
pub(super) fn parse_glob(pattern: &str) -> Result<Glob, String> {
    if pattern.len() > LONGEST_GLOB {
        return Err(format!("it has more than {LONGEST_GLOB} bytes"));
    }
    let mut depth = 0usize;
    for byte in pattern.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST_BRACES {
            return Err(format!("braces are nested deeper than {DEEPEST_BRACES} levels"));
        }
    }
    Glob::new(pattern).map_err(|error| error.kind().to_string())
}

/// Reports a path pattern that cannot be parsed.
pub(super) fn bad_glob<'r, 't>(
    node: &'t Node,
    pattern: &str,
    error: &str,
    report: &'r mut Report<'t>,
) -> &'r mut Finding<'t> {
    let message = format!("{} is not a path pattern: {error}", text::quoted(pattern));
    report.at(&rules::BAD_GLOB, node, message).help(GLOB_HELP)
}

/// Is how a command pattern is read.
#[derive(Debug, PartialEq, Eq)]
pub enum CommandPattern {
    /// As a regular expression that must fit the whole command.
    Regex,
    /// With `*` for any text, as some files of the older format have it where a regular expression
    /// is wanted. Only what cannot be a regular expression is read so.
    Wildcard,
    /// Not at all, and why. Whoever applies it lets it allow nothing and deny everything.
    Bad(String),
}

/// Tells how a command pattern is read. Only the older format has wildcards.
#[must_use]
pub fn command_pattern(pattern: &str, wildcards: bool) -> CommandPattern {
    let Err(why) = parse(pattern) else { return CommandPattern::Regex };
    let is_plain = !pattern.contains(['\\', '(', ')', '[', ']', '^', '|']);
    if wildcards && is_plain && !pattern.ends_with('$') {
        return CommandPattern::Wildcard;
    }
    CommandPattern::Bad(why)
}

/// Parses a pattern; the costly second half of that only where it can fail.
fn parse(pattern: &str) -> Result<(), String> {
    let tree = regex_syntax::ast::parse::ParserBuilder::new().nest_limit(64).build().parse(pattern);
    let tree = tree.map_err(|error| error.kind().to_string())?;
    if weight(pattern) > 0 {
        let mut translator = regex_syntax::hir::translate::Translator::new();
        translator.translate(pattern, &tree).map_err(|error| error.kind().to_string())?;
    }
    Ok(())
}

/// Is how many character classes, in patterns with flags or Unicode classes, a file may have. Each
/// takes a fraction of a millisecond to judge.
const MOST_CLASSES: usize = 300;

/// Counts the character classes of a pattern that has flags or Unicode classes.
fn weight(pattern: &str) -> usize {
    let flags = |(at, _): (usize, &str)| {
        let after = pattern.as_bytes().get(at + 2).copied().unwrap_or_default();
        after == b'-' || (after.is_ascii_lowercase())
    };
    let unicode = pattern.contains("\\p") || pattern.contains("\\P");
    if unicode || pattern.match_indices("(?").any(flags) {
        1 + pattern.matches(['[', '\\']).count()
    } else {
        0
    }
}

/// Takes the cost of a pattern from what a file may cost, and reports the first that is too much.
fn affordable<'t>(
    node: &'t Node,
    pattern: &str,
    spent: &mut usize,
    report: &mut Report<'t>,
) -> bool {
    let weight = weight(pattern);
    let before = *spent;
    *spent = before.saturating_add(weight);
    if *spent <= MOST_CLASSES || weight == 0 {
        return true;
    }
    if before <= MOST_CLASSES {
        let message =
            format!("the command patterns have more than {MOST_CLASSES} character classes in all");
        report
            .at(&rules::OUT_OF_BOUNDS, node, message)
            .help("use fewer patterns with flags such as `(?i)` or with `\\p{…}`");
    }
    false
}

fn check_command<'t>(node: &'t Node, pattern: &'t str, role: Role, report: &mut Report<'t>) {
    let shown = text::quoted(pattern);
    match command_pattern(pattern, role.format == Format::Legacy) {
        CommandPattern::Regex if ends_as_wildcard(pattern) => {
            let message = format!(
                "{shown} is a regular expression, in which ` *` means spaces and not any text"
            );
            let finding = report.at(&rules::WILDCARD_PATTERN, node, message);
            let meant = format!("{}.*", pattern.trim_end_matches('*'));
            finding.help(format!("for any text write {}", text::quoted(&meant)));
            role.format.forgive(finding, Severity::Note);
        }
        CommandPattern::Regex => {}
        CommandPattern::Wildcard => {
            let message =
                format!("{shown} is not a regular expression; its `*` is read as any text");
            report.at(&rules::WILDCARD_PATTERN, node, message).help("write `.*` for any text");
        }
        CommandPattern::Bad(why) => {
            let message = format!("{shown} is not a regular expression: {why}");
            let finding = report.at(&rules::BAD_PATTERN, node, message);
            let help = if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| pattern.contains(look)) {
                "say it without look-ahead and look-behind"
            } else {
                "put a backslash before characters that stand for themselves"
            };
            unreadable(finding, role, help);
        }
    }
}

fn ends_as_wildcard(pattern: &str) -> bool {
    pattern.ends_with(" *")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, valid_with};
    use super::*;

    fn current(settings: &str) -> Vec<String> {
        lines(&valid_with(&format!(r#""toolsSettings": {settings}"#)))
    }

    fn legacy(settings: &str) -> Vec<String> {
        let text = format!(r#"{{"name": "x", "description": "d", "toolsSettings": {settings}}}"#);
        lines(&text).into_iter().filter(|l| l.contains("/toolsSettings")).collect()
    }

    #[test]
    fn good_settings_pass() {
        for good in [
            r#"{"fs-write": {"allowedPaths": [".", "src/**", "{a,b}/[x]?"], "deniedPaths": []}}"#,
            r#"{"@native/fs-read": {"deniedPaths": ["${workspace}/[", "~/.ssh/**"]}}"#,
            r#"{"execute-bash": {"allowedCommands": ["git (status|log)( .*)?"], "denyByDefault": true}}"#,
            r##"{"#other": {"x": 1}, "*": {"y": 2}}"##,
        ] {
            assert_eq!(current(good), [] as [&str; 0], "{good}");
        }
    }

    #[test]
    fn an_unparsable_pattern_is_an_error_and_in_the_older_format_a_warning() {
        for (tool, key, pattern, rule) in [
            ("fs-write", "allowedPaths", "src/[", "bad-glob"),
            ("fs-read", "deniedPaths", "{a", "bad-glob"),
            ("fs-read", "deniedPaths", "[z-a]", "bad-glob"),
            ("execute-bash", "allowedCommands", "(", "bad-pattern"),
            ("execute-bash", "deniedCommands", "(?!git).*", "bad-pattern"),
            ("execute-bash", "deniedCommands", "[", "bad-pattern"),
        ] {
            let settings = format!(r#"{{"{tool}": {{"{key}": ["{pattern}"]}}}}"#);
            let place = format!("{rule} /toolsSettings/{tool}/{key}/0");
            for (found, severity) in [(current(&settings), "error"), (legacy(&settings), "warning")]
            {
                let wanted = format!("{severity} {place}");
                assert!(found.iter().any(|l| l.starts_with(&wanted)), "{pattern} {found:?}");
            }
        }
        // Also in place of the list it should stand in, and under an older name.
        let found = legacy(r#"{"write": {"deniedPaths": "["}}"#);
        assert!(found.iter().any(|l| l.starts_with("warning bad-glob")), "{found:?}");
        assert!(found.iter().any(|l| l.starts_with("warning wrong-type")), "{found:?}");
    }

    #[test]
    fn the_help_says_that_an_unreadable_pattern_is_read_strictly() {
        for (key, says) in
            [("allowedPaths", "allows nothing"), ("deniedPaths", "denies everything")]
        {
            let text = format!(r#"{{"toolsSettings": {{"write": {{"{key}": ["["]}}}}}}"#);
            let checked = super::super::tests::checked(&text, false);
            let found = checked.diagnostics.iter().find(|d| d.rule == "bad-glob");
            assert!(found.and_then(|d| d.help.as_deref()).is_some_and(|h| h.contains(says)));
        }
    }

    #[test]
    fn wildcards_in_place_of_regular_expressions_are_pointed_out() {
        let spaces = r#"{"execute-bash": {"deniedCommands": ["git push *"]}}"#;
        assert!(current(spaces)[0].starts_with("warning wildcard-pattern"));
        assert!(legacy(spaces)[0].starts_with("note wildcard-pattern"));
        let star = r#"{"execute-bash": {"allowedCommands": ["*"]}}"#;
        assert!(current(star)[0].starts_with("error bad-pattern"));
        assert!(legacy(star)[0].starts_with("warning wildcard-pattern"));
        assert_eq!(command_pattern("*.py", true), CommandPattern::Wildcard);
        assert!(matches!(command_pattern("*(", true), CommandPattern::Bad(_)));
    }

    #[test]
    fn a_pattern_is_judged_as_the_engine_does() {
        for pattern in [
            r"\pL",
            r"\p{Nope}",
            "(?i)a",
            "(?-u)\\xff",
            "(?-u:\\W)",
            "(?P<n>a)",
            "(?:a)",
            "(?#",
            "a{2}{3}",
            "a{,2}",
            r"\w+\b",
            "(?x) a # b",
            "[[:alpha:]]",
            "[a&&b]",
            "",
            r"\U",
            "{",
            "a{print}",
        ] {
            let good = regex_syntax::parse(pattern).is_ok();
            assert_eq!(parse(pattern).is_ok(), good, "{pattern}");
        }
    }

    #[test]
    fn odd_settings_are_reported_by_format() {
        for (settings, now, before) in [
            (
                r#"{"fs-write": {"allowedPath": []}}"#,
                "warning unknown-field",
                "warning unknown-field",
            ),
            (r#"{"fs-write": {"colour": 1}}"#, "warning unknown-field", ""),
            (r#"{"fs-write": {"allowedPaths": [1]}}"#, "error wrong-type", "warning wrong-type"),
            (r#"{"fs-write": 1}"#, "error wrong-type", "warning wrong-type"),
            (r#"{"fs-wirte": {}}"#, "error unknown-tool", "note unknown-tool"),
            (r#"{"@nobody/x": {}}"#, "error unknown-server", "note unknown-server"),
            (r#"{"fs_write": {}}"#, "warning legacy-name", ""),
            (r#"{"@": {}}"#, "error bad-reference", "warning bad-reference"),
        ] {
            for (found, wanted) in [(current(settings), now), (legacy(settings), before)] {
                let fits = match wanted {
                    "" => found.is_empty(),
                    _ => found.iter().any(|l| l.starts_with(wanted)),
                };
                assert!(fits, "{settings} {found:?}");
            }
        }
    }
}
