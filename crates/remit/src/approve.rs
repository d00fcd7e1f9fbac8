//! Asking at the terminal, or answering for a script.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use remit_engine::ports::{Approver, Pending, Question, Reply};
use remit_model::{Sensitivity, text};

/// How much of an argument is shown; the rest is said to be there.
const MOST_SHOWN: usize = 2_000;

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
}

impl Approver for TerminalApprover {
    fn ask<'a>(&'a self, question: &'a Question) -> Pending<'a, Reply> {
        Box::pin(async move {
            match self.answers {
                Answers::Approve => Reply::Yes,
                Answers::Deny => Reply::No,
                Answers::Terminal => at_terminal(question).await,
            }
        })
    }
}

async fn at_terminal(question: &Question) -> Reply {
    if !std::io::stderr().is_terminal() {
        return nobody();
    }
    // Standard input may carry the call's input, so the terminal itself is asked.
    let Ok(terminal) = std::fs::File::open("/dev/tty") else { return nobody() };
    let mut stderr = anstream::AutoStream::auto(std::io::stderr());
    let _ = stderr.write_all(prompt(question).as_bytes());
    let _ = stderr.flush();
    let answer = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        let read = std::io::BufReader::new(terminal).read_line(&mut line);
        (read.unwrap_or(0) > 0).then_some(line)
    });
    match answer.await {
        Ok(Some(line)) if is_yes(&line) => Reply::Yes,
        Ok(Some(_)) => Reply::No,
        Ok(None) | Err(_) => Reply::Silence,
    }
}

fn nobody() -> Reply {
    let mut stderr = anstream::AutoStream::auto(std::io::stderr());
    let _ = stderr.write_all(
        b"nobody can be asked: there is no terminal; say --approve or --deny beforehand\n",
    );
    Reply::Silence
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes" | "是" | "好")
}

/// Writes the question. Everything that comes from elsewhere is made visible first: a terminal takes
/// orders from what is printed on it.
fn prompt(question: &Question) -> String {
    let colour = match question.sensitivity {
        Sensitivity::Low => "\u{1b}[32m",
        Sensitivity::Medium => "\u{1b}[33m",
        Sensitivity::High => "\u{1b}[91m",
    };
    let mut out = format!(
        "\n\u{1b}[1m{}\u{1b}[0m wants to run\n",
        text::visible(question.call.caller.agent.as_deref().unwrap_or("This command"))
    );
    let rows = [
        ("capability", text::visible(&question.call.capability).into_owned()),
        ("does", first_line(&question.description)),
        ("scope", text::visible(&question.scope).into_owned()),
        ("care", format!("{colour}{}\u{1b}[0m", question.sensitivity.as_str())),
        ("why asked", text::visible(&question.why).into_owned()),
    ];
    for (name, value) in rows {
        out.push_str(&format!("  {name:<11} {value}\n"));
    }
    out.push_str("  arguments\n");
    let pretty = serde_json::to_string_pretty(&question.call.input).unwrap_or_default();
    for line in shortened(&pretty).lines() {
        out.push_str(&format!("    {}\n", text::visible(line)));
    }
    let seconds = question.deadline.as_secs();
    out.push_str(&format!("Run it? [y/N] (no answer in {seconds} s is a no) "));
    out
}

fn first_line(description: &str) -> String {
    let line = description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    text::visible(line.trim()).into_owned()
}

fn shortened(pretty: &str) -> String {
    match pretty.char_indices().nth(MOST_SHOWN) {
        None => pretty.to_owned(),
        Some((at, _)) => {
            let (shown, rest) = pretty.split_at(at);
            format!("{shown}\n… and {} more characters", rest.chars().count())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remit_model::{Call, CallId, Caller, ThreadId};

    #[test]
    fn nothing_that_is_shown_gives_orders_to_the_terminal() {
        let evil = "x\u{1b}]0;owned\u{7}\u{202e}\u{200b}\r\u{1b}[2K";
        let question = Question {
            call: Call {
                id: CallId::parse("1").unwrap(),
                caller: Caller { agent: Some(evil.to_owned()), ..Caller::person("ann") },
                thread: ThreadId::parse("t").unwrap(),
                group: false,
                capability: evil.to_owned(),
                input: serde_json::json!({evil: [evil, "long ".repeat(5_000)]}),
                timeout_ms: None,
            },
            source: evil.to_owned(),
            description: format!("{evil}\nsecond"),
            scope: evil.to_owned(),
            sensitivity: Sensitivity::High,
            why: evil.to_owned(),
            deadline: std::time::Duration::from_secs(30),
        };
        let text = prompt(&question);
        let plain: String = anstream::adapter::strip_str(&text).to_string();
        assert!(!plain.chars().any(|c| c.is_control() && c != '\n'), "{plain:?}");
        assert!(!plain.contains(['\u{202e}', '\u{200b}']), "{plain:?}");
        assert!(
            !text.contains("\u{1b}]") && !text.contains("\u{1b}[2K") && !text.contains('\u{7}')
        );
        assert!(plain.contains("more characters") && plain.len() < 5_000);
        assert!(plain.contains("30 s"));
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        for yes in ["y\n", "Y", " yes \n", "是\n"] {
            assert!(is_yes(yes), "{yes:?}");
        }
        for no in ["", "\n", "n", "yep", "yy", "да"] {
            assert!(!is_yes(no), "{no:?}");
        }
    }
}
