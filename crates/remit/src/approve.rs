//! Asking at the terminal, or answering for a script.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use remit_engine::ports::{Approver, Pending, Question, Reply, Said};
use remit_model::{Sensitivity, text};

/// How much of one argument is shown: its start and its end. Each has this to itself, so that a long
/// one hides no other.
const MOST_SHOWN: usize = 400;
/// How much of that is the end.
const END_SHOWN: usize = 100;
/// How many arguments are shown.
const MOST_ARGUMENTS: usize = 40;
/// How many are named; nobody reads more, so nobody is asked about more.
const MOST_NAMED: usize = 200;
/// How much of a description is shown.
const MOST_DESCRIBED: usize = 300;

/// Says who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// The person at the terminal, if there is one.
    Terminal,
    /// A script that said yes beforehand.
    Approve,
    /// A script that said no beforehand.
    Deny,
}

/// Answers for the person at the terminal.
pub(crate) struct TerminalApprover {
    pub(crate) answers: Answers,
    /// Whether the terminal is left once it has answered.
    pub(crate) leaves: bool,
}

impl Approver for TerminalApprover {
    fn ask<'a>(&'a self, question: &'a Question) -> Pending<'a, Said> {
        Box::pin(async move {
            let (reply, by) = match self.answers {
                Answers::Approve => (Reply::Yes, "--approve"),
                Answers::Deny => (Reply::No, "--deny"),
                Answers::Terminal => (at_terminal(question).await, "terminal"),
            };
            // Before the answer is recorded: from then on others see that the call runs.
            if self.leaves && matches!(reply, Reply::Yes | Reply::Once) {
                leave_terminal();
            }
            Said { reply, by: (reply != Reply::Silence).then(|| by.to_owned()) }
        })
    }
}

/// Leaves the terminal's session, so that nothing that happens to the terminal concerns this process
/// or what it starts from now on.
pub(crate) fn leave_terminal() {
    let _ = rustix::process::setsid();
    if let Ok(nowhere) = std::fs::File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stderr(nowhere);
    }
}

async fn at_terminal(question: &Question) -> Reply {
    if !std::io::stderr().is_terminal() {
        return nobody();
    }
    let count = question.call.input.as_object().map_or(0, serde_json::Map::len);
    if count > MOST_NAMED {
        say(&format!(
            "nobody is asked about {count} arguments: more than {MOST_NAMED} cannot be shown\n"
        ));
        return Reply::Silence;
    }
    // Standard input may carry the call's input, so the terminal itself is asked.
    let Ok(terminal) = std::fs::File::open("/dev/tty") else { return nobody() };
    say(&prompt(question));
    // What was typed before the question was seen is no answer to it.
    let _ = rustix::termios::tcflush(&terminal, rustix::termios::QueueSelector::IFlush);
    say(&asked(question));
    let asks_again = question.sensitivity == Sensitivity::High;
    tokio::task::spawn_blocking(move || answered(terminal, asks_again))
        .await
        .unwrap_or(Reply::Silence)
}

/// Reads lines until one is an answer. Whoever waits stops waiting at the deadline.
fn answered(terminal: std::fs::File, asks_again: bool) -> Reply {
    let mut lines = std::io::BufReader::new(terminal).lines();
    while let Some(Ok(line)) = lines.next() {
        match answer(&line) {
            Some(reply) => return reply,
            None => say(&format!("That is no answer. Run it? {} ", choice(asks_again))),
        }
    }
    Reply::Silence
}

fn say(text: &str) {
    let mut stderr = anstream::AutoStream::auto(std::io::stderr());
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

fn nobody() -> Reply {
    say("nobody can be asked: there is no terminal; say --approve or --deny beforehand\n");
    Reply::Silence
}

/// Gives what a line says, if it is an answer. Only a clear yes is one.
fn answer(line: &str) -> Option<Reply> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" | "是" | "好" => Some(Reply::Yes),
        "o" | "once" => Some(Reply::Once),
        "" | "n" | "no" | "否" | "不" => Some(Reply::No),
        _ => None,
    }
}

/// Makes visible what is not, also the blank that Braille has.
fn seen(text: &str) -> String {
    text::visible(text).replace('\u{2800}', "\\u{2800}")
}

/// Writes the question. Everything that comes from elsewhere is made visible first: a terminal takes
/// orders from what is printed on it.
fn prompt(question: &Question) -> String {
    let colour = match question.sensitivity {
        Sensitivity::Low => "\u{1b}[32m",
        Sensitivity::Medium => "\u{1b}[33m",
        Sensitivity::High => "\u{1b}[91m",
    };
    let caller = &question.call.caller;
    let user = seen(&caller.user);
    let mut out = match &caller.agent {
        Some(agent) => {
            let agent = seen(agent);
            format!("\n\u{1b}[1mThe agent {agent}\u{1b}[0m wants to run this for {user}\n")
        }
        None => format!("\n\u{1b}[1m{user}\u{1b}[0m wants to run this, without an agent\n"),
    };
    let rows = [
        ("capability", seen(&question.call.capability)),
        ("does", described(&question.description)),
        ("scope", seen(&question.scope)),
        ("care", format!("{colour}{}\u{1b}[0m", question.sensitivity.as_str())),
        ("why asked", seen(&question.why)),
        ("a yes holds", holds(question)),
    ];
    for (name, value) in rows {
        out.push_str(&format!("  {name:<11} {value}\n"));
    }
    out.push_str("  arguments\n");
    for line in arguments(&question.call.input) {
        out.push_str(&format!("    {}\n", seen(&line)));
    }
    out
}

fn asked(question: &Question) -> String {
    let seconds = question.deadline.as_secs();
    let choice = choice(question.sensitivity == Sensitivity::High);
    format!("Run it? {choice} (no answer in {seconds} s is a no) ")
}

/// Says what can be answered; where every call is asked about, a yes is for once anyway.
fn choice(asks_again: bool) -> &'static str {
    if asks_again { "[y/N]" } else { "[y]es, [o]nce, [N]o" }
}

/// Says what a yes permits: more than this call, where it is not asked every time.
fn holds(question: &Question) -> String {
    match question.sensitivity {
        Sensitivity::High => "for this call only".to_owned(),
        Sensitivity::Low | Sensitivity::Medium => format!(
            "for everything of {} with this scope, until a day after its last use, in the conversation {}",
            seen(&question.source),
            seen(question.call.thread.as_str()),
        ),
    }
}

/// Gives the first paragraph in one line.
fn described(description: &str) -> String {
    let lines = description.lines().map(str::trim).skip_while(|line| line.is_empty());
    let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let whole = paragraph.join(" ");
    let shown = match whole.char_indices().nth(MOST_DESCRIBED) {
        None => whole,
        Some((at, _)) => format!("{}…", whole.get(..at).unwrap_or_default()),
    };
    seen(&shown)
}

/// Gives a line for each argument, however long the others are.
fn arguments(input: &serde_json::Value) -> Vec<String> {
    let Some(map) = input.as_object() else { return vec![shortened(&input.to_string())] };
    // In quotes, or a name could look like an argument with its value, or like the next line.
    let name = |key: &String| shortened(&serde_json::Value::from(key.as_str()).to_string());
    let line = |(key, value): (&String, &serde_json::Value)| {
        format!("{}: {}", name(key), shortened(&value.to_string()))
    };
    let mut lines: Vec<String> = map.iter().take(MOST_ARGUMENTS).map(line).collect();
    if map.len() > MOST_ARGUMENTS {
        let rest = map.len() - MOST_ARGUMENTS;
        lines.push(format!("… and {rest} more arguments, whose values are not shown:"));
        lines.extend(map.keys().skip(MOST_ARGUMENTS).map(name));
    }
    if lines.is_empty() {
        lines.push("none".to_owned());
    }
    lines
}

fn shortened(whole: &str) -> String {
    let count = whole.chars().count();
    if count <= MOST_SHOWN {
        return whole.to_owned();
    }
    let start: String = whole.chars().take(MOST_SHOWN - END_SHOWN).collect();
    let end: String = whole.chars().skip(count - END_SHOWN).collect();
    format!("{start} … {} more characters … {end}", count - MOST_SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use remit_model::{Call, CallId, Caller, ThreadId};
    use serde_json::json;

    fn question(input: serde_json::Value, word: &str, sensitivity: Sensitivity) -> Question {
        Question {
            call: Call {
                id: CallId::parse("1").unwrap(),
                caller: Caller { agent: Some(word.to_owned()), ..Caller::person("ann") },
                thread: ThreadId::parse("t").unwrap(),
                group: false,
                capability: word.to_owned(),
                input,
                timeout_ms: None,
            },
            source: word.to_owned(),
            description: format!("{word}\nsecond line\n\nnext paragraph"),
            scope: word.to_owned(),
            sensitivity,
            why: word.to_owned(),
            deadline: std::time::Duration::from_secs(30),
        }
    }

    #[test]
    fn nothing_that_is_shown_gives_orders_to_the_terminal() {
        let evil = "x\u{1b}]0;owned\u{7}\u{202e}\u{200b}\r\u{1b}[2K";
        let input = json!({evil: [evil, "long ".repeat(5_000)]});
        let question = question(input, evil, Sensitivity::High);
        let text = prompt(&question);
        let plain: String = anstream::adapter::strip_str(&text).to_string();
        assert!(!plain.chars().any(|c| c.is_control() && c != '\n'), "{plain:?}");
        assert!(!plain.contains(['\u{202e}', '\u{200b}']), "{plain:?}");
        assert!(
            !text.contains("\u{1b}]") && !text.contains("\u{1b}[2K") && !text.contains('\u{7}')
        );
        assert!(plain.contains("more characters") && plain.len() < 5_000);
        assert!(asked(&question).contains("30 s"));
    }

    #[test]
    fn a_long_argument_hides_no_other() {
        let input = json!({"content": "x".repeat(100_000), "filePath": "/etc/passwd"});
        let text = prompt(&question(input, "w", Sensitivity::High));
        assert!(text.contains("\"filePath\": \"/etc/passwd\""), "{text}");
        assert!(text.contains("… 99602 more characters …") && text.len() < 2_000, "{text}");
    }

    #[test]
    fn an_argument_is_shown_whole_up_to_its_limit_and_with_its_end_beyond() {
        assert_eq!(shortened(&"é".repeat(MOST_SHOWN)), "é".repeat(MOST_SHOWN));
        let long = format!("{}END", "é".repeat(MOST_SHOWN));
        assert!(shortened(&long).contains("… 3 more characters … "), "{}", shortened(&long));
        assert!(shortened(&long).ends_with("END"));
    }

    #[test]
    fn so_many_arguments_are_shown_and_the_rest_named() {
        let many = |count: usize| {
            let map = (0..count).map(|n| (format!("k{n:03}"), json!(n))).collect();
            arguments(&serde_json::Value::Object(map))
        };
        assert_eq!(many(MOST_ARGUMENTS).len(), MOST_ARGUMENTS);
        let more = many(MOST_ARGUMENTS + 2);
        assert!(more[MOST_ARGUMENTS].contains("and 2 more arguments"), "{more:?}");
        assert_eq!(more[MOST_ARGUMENTS + 1..], ["\"k040\"", "\"k041\""]);
    }

    #[test]
    fn a_name_looks_like_nothing_else() {
        let input = json!({"a: 1\n  care low": 1, "blank\u{2800}": "\u{2800}"});
        let text = prompt(&question(input, "w", Sensitivity::High));
        assert!(text.contains("    \"a: 1\\n  care low\": 1\n"), "{text}");
        assert!(!text.contains('\u{2800}') && text.contains("\\u{2800}"), "{text}");
    }

    #[test]
    fn what_a_yes_permits_is_said() {
        let of = |sensitivity| prompt(&question(json!({}), "weather", sensitivity));
        let medium = of(Sensitivity::Medium);
        assert!(medium.contains("everything of weather") && medium.contains("conversation t"));
        assert!(medium.contains("The agent weather") && medium.contains("for ann"), "{medium}");
        assert!(medium.contains("weather second line\n"), "the whole paragraph: {medium}");
        assert!(of(Sensitivity::High).contains("for this call only"));
        let choices = |sensitivity| asked(&question(json!({}), "w", sensitivity));
        assert!(choices(Sensitivity::Medium).contains("[o]nce"));
        assert!(!choices(Sensitivity::High).contains("[o]nce"));
    }

    #[test]
    fn only_a_clear_answer_is_one() {
        for yes in ["y\n", "Y", " yes \n", "是\n"] {
            assert_eq!(answer(yes), Some(Reply::Yes), "{yes:?}");
        }
        for once in ["o", "Once\n"] {
            assert_eq!(answer(once), Some(Reply::Once), "{once:?}");
        }
        for no in ["", "\n", "n", "NO\n"] {
            assert_eq!(answer(no), Some(Reply::No), "{no:?}");
        }
        for typo in ["yep", "yy", "да", "u"] {
            assert_eq!(answer(typo), None, "{typo:?}");
        }
    }
}
