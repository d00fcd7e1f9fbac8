//! What the system agent shows: results for programs, and hints for cards.

use remit_engine::registry::{Agent, Preview, Published, VersionHead};
use remit_manifest::diff::Change;
use remit_model::{Answer, Diagnostic, Failure, Outcome};
use serde_json::{Value, json};

use super::quiet::quiet;
use crate::project::hints::{Asks, Fact, Item, Label, Shown, Shows};
use crate::project::{Ask, Locale, Status, UiHints};
use crate::rest::names;

/// How many things a card lists: it stays below what renderers take, whatever is in it.
pub(super) const MOST_SHOWN: usize = 12;
/// How long a sentence is on a card, in characters.
const LONGEST: usize = 200;
/// How many things a result lists.
pub(super) const MOST_TOLD: usize = 200;

/// Is something to show: as a call of the restricted tool, how it ended, and what is seen of it.
pub(super) struct Show {
    pub(super) ask: Ask,
    pub(super) outcome: Outcome,
    pub(super) hints: UiHints,
}

fn show(method: &str, agent: Option<&Agent>, data: Value, hints: UiHints) -> Show {
    let input = agent.map_or(json!({}), |agent| json!({ "agent_id": agent.id }));
    let ask = Ask { module: "system".to_owned(), method: method.to_owned(), input };
    Show { ask, outcome: Outcome::Succeeded(Answer { result: data, ..Answer::default() }), hints }
}

fn hints(action: Shows, status: Status, lang: Locale) -> UiHints {
    UiHints { lang: Some(lang), ..UiHints::new(action, status) }
}

fn fact(label: Label, value: Shown) -> Fact {
    Fact { label, value }
}

fn text(label: Label, text: &str) -> Fact {
    let quiet = quiet(text);
    let mut cut: String = quiet.chars().take(LONGEST).collect();
    if cut.len() < quiet.len() {
        cut.push('…');
    }
    fact(label, Shown::Text { text: cut })
}

fn word(label: Label, word: &str) -> Fact {
    fact(label, Shown::Word { word: word.to_owned() })
}

fn version(agent: &Agent) -> Fact {
    match agent.version {
        0 => word(Label::Version, "nothing_published"),
        to => fact(Label::Version, Shown::Step { from: 0, to }),
    }
}

/// Shows the form for an agent's manifest.
pub(super) fn form(agent: &Agent, lang: Locale) -> Show {
    let data = json!({ "agent_id": agent.id, "capability_manifest_version": agent.version });
    let mut hints = hints(Shows::SystemForm, Status::Success, lang);
    hints.title = Some(agent.name.clone());
    hints.facts = vec![version(agent), text(Label::Id, &agent.id)];
    hints.asks = Some(Asks::Manifest { agent_id: agent.id.clone() });
    show("manifest_form", Some(agent), data, hints)
}

fn diagnostic(d: &Diagnostic) -> Value {
    json!({
        "rule": d.rule, "severity": d.severity, "message": quiet(&d.message),
        "pointer": quiet(&d.pointer), "line": d.position.line, "column": d.position.column,
        "help": d.help.as_deref().map(quiet),
    })
}

fn diagnostic_item(d: &Diagnostic) -> Item {
    let place = Shown::Place {
        line: Some(d.position.line),
        column: Some(d.position.column),
        pointer: quiet(&d.pointer).into_owned(),
    };
    let mut facts = vec![
        word(Label::Kind, d.severity.as_str()),
        fact(Label::Place, place),
        text(Label::Message, &d.message),
    ];
    facts.extend(d.help.as_deref().map(|help| text(Label::Advice, help)));
    Item { title: d.rule.to_owned(), facts }
}

/// Shows why a manifest cannot be used.
pub(super) fn refused(
    agent: &Agent,
    failure: Failure,
    diagnostics: &[Diagnostic],
    lang: Locale,
) -> Show {
    let mut hints = hints(Shows::SystemPreview, Status::Failure, lang);
    hints.title = Some(agent.name.clone());
    hints.facts = vec![text(Label::Message, &failure.message), text(Label::Code, &failure.code)];
    hints.items = diagnostics.iter().take(MOST_SHOWN).map(diagnostic_item).collect();
    hints.more = diagnostics.len().saturating_sub(MOST_SHOWN);
    hints.asks = Some(Asks::Manifest { agent_id: agent.id.clone() });
    let told: Vec<Value> = diagnostics.iter().take(MOST_TOLD).map(diagnostic).collect();
    let details = json!({ "diagnostics": told, "count": diagnostics.len() });
    let message = quiet(&failure.message).into_owned();
    let failure = Failure { message, ..failure }.with_details(details);
    let shown = show("manifest_preview", Some(agent), Value::Null, hints);
    Show { outcome: Outcome::Failed(failure), ..shown }
}

/// Is a change with how much it matters.
struct Weighed<'c> {
    change: &'c Change,
    kind: &'static str,
}

/// Lists the changes of a difference once each, what matters most first.
fn weighed(preview: &Preview) -> Vec<Weighed<'_>> {
    let changes = &preview.changes;
    let asks = |change: &Change| changes.consent.contains(change);
    let of = |change, plain, consent| Weighed {
        change,
        kind: if asks(change) { consent } else { plain },
    };
    let breaking = changes.breaking.iter().map(|one| of(one, "breaking", "breaking_consent"));
    let (mut consent, other): (Vec<_>, Vec<_>) = changes
        .non_breaking
        .iter()
        .map(|one| of(one, "non_breaking", "consent"))
        .partition(|one| one.kind == "consent");
    consent.extend(other);
    breaking.chain(consent).collect()
}

fn change_item(one: &Weighed<'_>, lang: Locale) -> Item {
    let change = one.change;
    let place =
        Shown::Place { line: None, column: None, pointer: quiet(&change.pointer).into_owned() };
    let mut facts = vec![word(Label::Kind, one.kind)];
    // The sentences are English; what kind of change it is can be said in Chinese.
    if let (Locale::Zh, Some(zh)) = (lang, rule_in_chinese(change.rule)) {
        facts.push(text(Label::Change, zh));
    }
    facts.extend([text(Label::Message, &change.message), fact(Label::Place, place)]);
    Item { title: change.rule.to_owned(), facts }
}

fn rule_in_chinese(rule: &str) -> Option<&'static str> {
    Some(match rule {
        "tool-removed" => "删除了工具",
        "tool-added" | "tool-added-under-known-scope" => "增加了工具",
        "tool-renamed" => "工具改名",
        "tool-repointed" => "工具改用另一个权限",
        "input-schema-changed" => "工具的输入结构变了",
        "sensitivity-raised" | "unused-scope-raised" => "敏感度提高",
        "sensitivity-lowered" => "敏感度降低",
        "scope-removed" => "删除了权限",
        "scope-added" | "low-scope-added" => "增加了权限",
        "scope-renamed" => "权限改名",
        "consent-text-changed" => "展示给用户的文案变了",
        "flag-withdrawn" => "撤销了已声明的能力",
        "flag-raised" => "新增能力声明",
        "version-changed" => "agent_version 变了",
        "timeout-changed" => "超时时间变了",
        "order-changed" => "顺序变了",
        "default-written" => "写明了默认值",
        _ => return None,
    })
}

/// Shows what publishing would come to. `id` is what a confirmation names; without one there is
/// nothing to confirm.
pub(super) fn preview(agent: &Agent, preview: &Preview, id: Option<&str>, lang: Locale) -> Show {
    let changes = weighed(preview);
    let mut hints = hints(Shows::SystemPreview, Status::Success, lang);
    hints.title = Some(agent.name.clone());
    let step = Shown::Step { from: preview.base, to: preview.base + u64::from(id.is_some()) };
    hints.facts = vec![
        fact(Label::Version, step),
        text(Label::Hash, &preview.hash),
        fact(Label::Size, Shown::Number { number: preview.bytes.try_into().unwrap_or(u64::MAX) }),
    ];
    let warnings = preview.diagnostics.iter().map(diagnostic_item);
    let items = changes.iter().map(|one| change_item(one, lang)).chain(warnings);
    hints.items = items.take(MOST_SHOWN).collect();
    hints.more = (changes.len() + preview.diagnostics.len()).saturating_sub(MOST_SHOWN);
    hints.list = preview.base > 0;
    hints.asks = id.map(|id| Asks::Confirm { preview: id.to_owned() });
    let count = |kinds: [&str; 2]| changes.iter().filter(|one| kinds.contains(&one.kind)).count();
    let told: Vec<Value> = changes
        .iter()
        .take(MOST_TOLD)
        .map(|one| {
            json!({
                "rule": one.change.rule, "kind": one.kind, "message": quiet(&one.change.message),
                "pointer": quiet(&one.change.pointer),
            })
        })
        .collect();
    let warnings: Vec<Value> = preview.diagnostics.iter().take(MOST_TOLD).map(diagnostic).collect();
    let data = json!({
        "agent_id": agent.id, "preview": id, "current_version": preview.base,
        "capability_manifest_hash": preview.hash, "bytes": preview.bytes,
        "breaking": count(["breaking", "breaking_consent"]),
        "consent": count(["consent", "breaking_consent"]),
        "count": changes.len(), "changes": told, "diagnostics": warnings,
    });
    show("manifest_preview", Some(agent), data, hints)
}

/// Shows what was published.
pub(super) fn published(agent: &Agent, published: &Published, lang: Locale) -> Show {
    let mut hints = hints(Shows::SystemPublish, Status::Success, lang);
    hints.title = Some(agent.name.clone());
    hints.facts = vec![
        fact(Label::Version, Shown::Step { from: 0, to: published.version }),
        text(Label::Hash, &published.hash),
    ];
    let kinds = [
        (published.changes.is_breaking(), "breaking"),
        (published.changes.asks_consent(), "consent"),
    ];
    hints.facts.extend(kinds.iter().filter(|(is, _)| *is).map(|(_, kind)| word(Label::Kind, kind)));
    let data = json!({
        "agent_id": agent.id, "capability_manifest_version": published.version,
        "capability_manifest_hash": published.hash,
        "breaking": published.changes.is_breaking(), "consent": published.changes.asks_consent(),
    });
    show("manifest_publish", Some(agent), data, hints)
}

/// Shows agents.
pub(super) fn agents(agents: &[&Agent], lang: Locale) -> Show {
    let mut hints = hints(Shows::SystemAgents, Status::Success, lang);
    let item = |agent: &&Agent| Item {
        title: agent.name.clone(),
        facts: vec![version(agent), text(Label::Id, &agent.id)],
    };
    hints.items = agents.iter().take(MOST_SHOWN).map(item).collect();
    hints.more = agents.len().saturating_sub(MOST_SHOWN);
    hints.list = true;
    let told = agents
        .iter()
        .take(MOST_TOLD)
        .map(|agent| json!({ "agent_id": agent.id, "name": agent.name, "version": agent.version }));
    let data = json!({ "agents": told.collect::<Vec<_>>(), "count": agents.len() });
    show("agents", None, data, hints)
}

/// Shows the versions of an agent, the latest first.
pub(super) fn versions(agent: &Agent, heads: &[VersionHead], lang: Locale) -> Show {
    let mut hints = hints(Shows::SystemVersions, Status::Success, lang);
    hints.title = Some(agent.name.clone());
    let latest = heads.iter().rev();
    let item = |head: &VersionHead| {
        let kind = match (head.is_breaking, head.asks_consent) {
            (true, true) => "breaking_consent",
            (true, false) => "breaking",
            (false, true) => "consent",
            (false, false) => "non_breaking",
        };
        let facts = vec![
            text(Label::Published, &names::time(head.at_ms)),
            word(Label::Kind, kind),
            text(Label::Hash, &head.hash),
        ];
        Item { title: head.version.to_string(), facts }
    };
    hints.items = latest.clone().take(MOST_SHOWN).map(item).collect();
    let all = usize::try_from(agent.version).unwrap_or(usize::MAX);
    hints.more = all.saturating_sub(hints.items.len());
    hints.list = true;
    let told = latest.take(MOST_TOLD).map(|head| {
        json!({
            "version": head.version, "hash": head.hash, "bytes": head.bytes,
            "published_at": names::time(head.at_ms), "breaking": head.is_breaking,
            "consent": head.asks_consent,
        })
    });
    let data = json!({
        "agent_id": agent.id, "versions": told.collect::<Vec<_>>(), "count": agent.version,
    });
    show("versions", Some(agent), data, hints)
}
