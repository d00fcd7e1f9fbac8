//! Cards: hints in a language and in the form of Adaptive Cards 1.5, which renderers everywhere show.
//!
//! Words of users and programs only ever stand in text runs. Those know no Markdown, so a title cannot
//! become a link, and a renderer without Markdown shows no stray backslashes.

use jiff::civil::{Date, DateTime, Weekday};
use remit_model::text::is_hidden;
use serde_json::{Value, json};

use super::hints::{Fact, Item, Label, Shown, UiHints};
use super::output::Status;
use super::questions;
use super::words::{self, Locale};

/// Is how long a title may be on a card, in characters.
pub const TITLE_CHARS: usize = 120;
/// Is how long any other text may be on a card.
pub const TEXT_CHARS: usize = 160;
/// Is how long notes and reasons may be on a card.
pub const NOTES_CHARS: usize = 600;

/// Compiles hints to a card.
#[must_use]
pub fn compile(hints: &UiHints, locale: Locale) -> Value {
    let locale = hints.lang.unwrap_or(locale);
    let heading = words::heading(hints.action, hints.status, locale);
    let colour = match hints.status {
        Status::Success => "Default",
        Status::Partial => "Warning",
        Status::Failure => "Attention",
    };
    let mut body = vec![json!({
        "type": "TextBlock", "text": heading, "style": "heading",
        "size": "Medium", "weight": "Bolder", "color": colour, "wrap": true,
    })];
    if hints.status == Status::Partial {
        body.push(subtle(words::partly(locale)));
    }
    if let Some(title) = &hints.title {
        body.push(headline(title));
    }
    body.extend(hints.facts.iter().map(|one| fact(one, locale)));
    body.extend(hints.items.iter().map(|one| item(one, locale)));
    if hints.list && hints.items.is_empty() {
        body.push(subtle(words::nothing(locale)));
    }
    if hints.more > 0 {
        body.push(subtle(&words::more(hints.more, locale)));
    }
    let asks = hints.asks.as_ref();
    body.extend(asks.and_then(|asks| questions::input(asks, locale)));
    let mut card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.5",
        "lang": locale.tag(),
        "fallbackText": heading,
        "body": body,
    });
    if let (Some(asks), Some(fields)) = (asks, card.as_object_mut()) {
        fields.insert("actions".to_owned(), questions::actions(asks, locale));
    }
    card
}

fn subtle(text: &str) -> Value {
    json!({ "type": "TextBlock", "text": text, "isSubtle": true, "wrap": true, "spacing": "Small" })
}

fn headline(title: &str) -> Value {
    let run = json!({ "type": "TextRun", "text": plain(title, TITLE_CHARS), "weight": "Bolder" });
    json!({ "type": "RichTextBlock", "inlines": [run] })
}

fn item(item: &Item, locale: Locale) -> Value {
    let mut items = vec![headline(&item.title)];
    items.extend(item.facts.iter().map(|one| fact(one, locale)));
    json!({ "type": "Container", "separator": true, "items": items })
}

fn fact(fact: &Fact, locale: Locale) -> Value {
    let label = words::label(fact.label, locale);
    let most = match fact.label {
        Label::Notes | Label::Message | Label::Warning | Label::Advice => NOTES_CHARS,
        _ => TEXT_CHARS,
    };
    json!({
        "type": "RichTextBlock",
        "spacing": "Small",
        "inlines": [
            { "type": "TextRun", "text": format!("{label}{}", locale.pick(": ", "：")), "isSubtle": true },
            { "type": "TextRun", "text": shown(&fact.value, most, locale) },
        ],
    })
}

fn shown(value: &Shown, most: usize, locale: Locale) -> String {
    match value {
        Shown::Text { text } => plain(text, most),
        Shown::Word { word } => {
            words::word(word, locale).map_or_else(|| plain(word, most), str::to_owned)
        }
        Shown::Number { number } => number.to_string(),
        Shown::Place { line, column, pointer } => {
            plain(&words::place(*line, *column, pointer, locale), most)
        }
        Shown::Step { from: 0, to } => to.to_string(),
        Shown::Step { from, to } => format!("{from} → {to}"),
        Shown::Rule { rule } => plain(&words::rule(rule, locale), most),
        Shown::Days { start, end } => plain(&days(start, end, locale), most),
        Shown::Moments { start, end, zone } => plain(&moments(start, end, zone, locale), most),
    }
}

fn days(start: &str, end: &str, locale: Locale) -> String {
    match (start.parse::<Date>(), end.parse::<Date>()) {
        (Ok(first), Ok(last)) if first == last => day(first, locale),
        (Ok(first), Ok(last)) => format!("{} – {}", day(first, locale), day(last, locale)),
        _ => format!("{start} – {end}"),
    }
}

/// Gives what the clocks of the event's zone show; the text has that zone's offset, so they are in it.
fn moments(start: &str, end: &str, zone: &str, locale: Locale) -> String {
    let clock = |text: &str| text.get(..19).and_then(|local| local.parse::<DateTime>().ok());
    let (Some(from), Some(until)) = (clock(start), clock(end)) else {
        return format!("{start} – {end}");
    };
    let time = |at: DateTime| at.strftime("%H:%M").to_string();
    let (first, last) = (day(from.date(), locale), day(until.date(), locale));
    let zone = match zone {
        "" => String::new(),
        offset if offset.starts_with(['+', '-']) => format!("UTC{offset}"),
        name => name.to_owned(),
    };
    let zone = match (zone.is_empty(), locale) {
        (true, _) => zone,
        (false, Locale::En) => format!(" ({zone})"),
        (false, Locale::Zh) => format!("（{zone}）"),
    };
    if from.date() == until.date() {
        return format!("{first} {}–{}{zone}", time(from), time(until));
    }
    format!("{first} {} – {last} {}{zone}", time(from), time(until))
}

fn day(date: Date, locale: Locale) -> String {
    match locale {
        Locale::En => date.strftime("%a %-d %b %Y").to_string(),
        Locale::Zh => {
            let weekday = match date.weekday() {
                Weekday::Monday => "一",
                Weekday::Tuesday => "二",
                Weekday::Wednesday => "三",
                Weekday::Thursday => "四",
                Weekday::Friday => "五",
                Weekday::Saturday => "六",
                Weekday::Sunday => "日",
            };
            format!("{}年{}月{}日（周{weekday}）", date.year(), date.month(), date.day())
        }
    }
}

/// Gives a text on one line, without anything hidden, and not too long. What renderers would take for
/// a function, `{{DATE(…)}}`, is pulled apart.
fn plain(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        if count >= most {
            out.push('…');
            break;
        }
        count += 1;
        if c.is_whitespace() {
            if !out.ends_with(' ') {
                out.push(' ');
            }
        } else if is_hidden(c) && c != '\u{200d}' {
            // The joiner stays: without it one emoji would become several.
            out.push('\u{fffd}');
        } else {
            out.push(c);
            if c == '{' && chars.peek() == Some(&'{') {
                out.push(' ');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_and_hold_nothing_hidden() {
        assert_eq!(plain(&"語".repeat(5), 5), "語".repeat(5));
        assert_eq!(plain(&"語".repeat(6), 5), format!("{}…", "語".repeat(5)));
        assert_eq!(plain(" a\r\n\tb\u{202e}c\u{0} ", 50), "a b\u{fffd}c\u{fffd}");
        assert_eq!(plain("{{DATE(2026-01-01T00:00:00Z)}}", 50), "{ {DATE(2026-01-01T00:00:00Z)}}");
        assert_eq!(plain("👨\u{200d}👩", 50), "👨\u{200d}👩");
        assert_eq!(
            plain("[a](https://b) *c*", 50),
            "[a](https://b) *c*",
            "as it is: a run knows no Markdown"
        );
    }

    #[test]
    fn times_are_those_of_the_events_own_zone() {
        let (start, end) = ("2026-04-21T23:30:00+08:00", "2026-04-22T00:30:00+08:00");
        assert_eq!(
            moments(start, end, "Asia/Shanghai", Locale::En),
            "Tue 21 Apr 2026 23:30 – Wed 22 Apr 2026 00:30 (Asia/Shanghai)"
        );
        assert_eq!(
            moments(start, "2026-04-21T23:45:00+08:00", "+08:00", Locale::Zh),
            "2026年4月21日（周二） 23:30–23:45（UTC+08:00）"
        );
        assert_eq!(days("2026-04-05", "2026-04-05", Locale::En), "Sun 5 Apr 2026");
        assert_eq!(moments("soon", "later", "", Locale::En), "soon – later");
    }

    #[test]
    fn rules_are_said_in_words() {
        assert_eq!(words::rule("FREQ=WEEKLY;INTERVAL=2", Locale::En), "every 2 weeks");
        assert_eq!(words::rule("FREQ=DAILY;COUNT=3", Locale::Zh), "每天 (COUNT=3)");
        assert_eq!(words::rule("what", Locale::En), "what");
    }
}
