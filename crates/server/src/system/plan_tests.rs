//! What is understood, and that nothing but a confirmation publishes.

use proptest::prelude::*;

use super::*;
use crate::project::Locale;

fn agent(id: &str, name: &str) -> Agent {
    Agent {
        id: id.to_owned(),
        name: name.to_owned(),
        owner: "ann".to_owned(),
        created_at_ms: 0,
        version: 1,
        hash: None,
        bytes: 0,
    }
}

fn own() -> Vec<Agent> {
    vec![
        agent("id-1", "DemoBot"),
        agent("id-2", "演示机器人"),
        agent("id-3", "Demo"),
        agent("id-4", "List Version Keeper"),
        agent("id-5", "Twin"),
        agent("id-6", "twin"),
        agent("id-7", "Manifest"),
    ]
}

fn at(step: Step) -> State {
    State { lang: Locale::En, step }
}

fn previewed() -> Step {
    Step::Confirmation(Preview {
        id: "p1".to_owned(),
        agent: "id-1".to_owned(),
        base: 1,
        message: "m1".to_owned(),
        sha256: String::new(),
    })
}

fn awaiting() -> Step {
    Step::Manifest { agent: "id-1".to_owned() }
}

fn text(text: &str) -> Said<'_> {
    Said::Text { message: "m", text }
}

#[test]
fn a_manifest_is_asked_for_in_many_ways() {
    let own = own();
    for (said, id) in [
        ("update DemoBot's capability manifest", "id-1"),
        ("Update DemoBot’s Capability Manifest.", "id-1"),
        ("Please update the capability manifest of demobot!", "id-1"),
        ("I'd like to publish a new manifest for DEMOBOT, please", "id-1"),
        ("change the manifest for id-1", "id-1"),
        ("更新 DemoBot 的能力清单", "id-1"),
        ("更新 DemoBot 的 Capability Manifest", "id-1"),
        ("请更新DemoBot的能力清单。", "id-1"),
        ("把DemoBot的清单改一下", "id-1"),
        ("更新 ＤｅｍｏＢｏｔ 的能力声明", "id-1"),
        ("修改演示机器人的能力清单，谢谢", "id-2"),
        ("update Demo's manifest", "id-3"),
        ("update List Version Keeper's manifest", "id-4"),
        ("update id-7's manifest", "id-7"),
    ] {
        let state = at(Step::Nothing);
        match plan(&text(said), &state, &own) {
            Plan::Form(agent) => assert_eq!(agent.id, id, "{said}"),
            other => panic!("{said}: {other:?}"),
        }
    }
}

#[test]
fn what_is_no_own_agents_name_is_asked_about_all_in_one_way() {
    let own = own();
    for said in [
        "update Stranger's capability manifest",
        "update the manifest",
        "update DemoBots' manifest",
        "update Demo-Bot's manifest",
        "更新别人的能力清单",
        "show the versions of Stranger",
        "查看别人的版本",
    ] {
        let state = at(awaiting());
        assert_eq!(plan(&text(said), &state, &own), Plan::Say(Says::Which, awaiting()), "{said}");
    }
    match plan(&text("update Twin's manifest"), &at(Step::Nothing), &own) {
        Plan::Agents(Says::WhichOfThese, agents) => {
            assert_eq!(agents.iter().map(|one| &one.id).collect::<Vec<_>>(), ["id-5", "id-6"]);
        }
        other => panic!("{other:?}"),
    }
    let form = Said::Form { agent: "id-9", message: "m", text: "{}" };
    assert_eq!(plan(&form, &at(awaiting()), &own), Plan::Say(Says::Which, awaiting()));
    let gone = plan(&text("confirm"), &at(previewed()), own.get(1..).unwrap());
    assert_eq!(gone, Plan::Say(Says::Which, previewed()));
}

#[test]
fn the_other_requests_are_understood() {
    let own = own();
    let nothing = at(Step::Nothing);
    for said in [
        "list my agents",
        "Show my agents",
        "which agents do I have?",
        "列出我的智能体",
        "我有哪些机器人？",
        "我的智能体",
    ] {
        assert!(
            matches!(plan(&text(said), &nothing, &own), Plan::Agents(Says::Agents, all) if all.len() == 7),
            "{said}"
        );
    }
    assert_eq!(
        plan(&text("list my agents"), &nothing, &[]),
        Plan::Say(Says::NoAgents, Step::Nothing)
    );
    for said in [
        "show the versions of DemoBot",
        "DemoBot's history",
        "查看 DemoBot 的版本",
        "DemoBot有哪些版本",
        "what versions of the manifest does DemoBot have?",
    ] {
        assert!(
            matches!(plan(&text(said), &nothing, &own), Plan::Versions(one) if one.id == "id-1"),
            "{said}"
        );
    }
    for said in ["help", "Help!", "帮助", "你好", "?", "你能做什么？", "please help"] {
        assert_eq!(
            plan(&text(said), &at(previewed()), &own),
            Plan::Say(Says::Help, previewed()),
            "{said}"
        );
    }
    for said in
        ["cancel", "Never mind.", "取消", "算了吧。", "no"].iter().filter(|s| **s != "算了吧。")
    {
        assert_eq!(
            plan(&text(said), &at(previewed()), &own),
            Plan::Say(Says::Cancelled, Step::Nothing),
            "{said}"
        );
        assert_eq!(
            plan(&text(said), &nothing, &own),
            Plan::Say(Says::NothingToCancel, Step::Nothing),
            "{said}"
        );
    }
    for said in ["what is the weather", "天气怎么样", "confirmation", "yes but no", "不确认", ""]
    {
        assert_eq!(
            plan(&text(said), &at(previewed()), &own),
            Plan::Say(Says::NotUnderstood, previewed()),
            "{said}"
        );
    }
}

#[test]
fn a_manifest_is_found_to_the_byte() {
    let own = own();
    for (said, draft) in [
        ("{\"a\": 1}", "{\"a\": 1}"),
        (" \n{\n \n", " \n{\n \n"),
        ("here:\n```json\n{\"a\": \"确认\"} \n```\nthanks", "{\"a\": \"确认\"} \n"),
        ("schema_version: \"1.0\"\ntools: []", "schema_version: \"1.0\"\ntools: []"),
        ("oops {", "oops {"),
    ] {
        let expected = Draft { message: "m", text: draft };
        for step in [awaiting(), previewed()] {
            let state = at(step);
            match plan(&text(said), &state, &own) {
                Plan::Check(agent, found) => {
                    assert_eq!((agent.id.as_str(), found), ("id-1", expected), "{said}");
                }
                other => panic!("{said}: {other:?}"),
            }
        }
    }
    let early = plan(&text("{}"), &at(Step::Nothing), &own);
    assert_eq!(early, Plan::Say(Says::ForWhich, Step::Nothing));
    let token = plan(&text("{\"a\": \"[secret]\"}"), &at(awaiting()), &own);
    assert_eq!(token, Plan::Say(Says::HoldsToken, awaiting()));
}

#[test]
fn a_button_confirms_only_the_preview_it_belongs_to() {
    let own = own();
    let press = |preview, step| plan(&Said::Confirm { preview }, &at(step), &own);
    assert!(matches!(press("p1", previewed()), Plan::Publish(agent, _) if agent.id == "id-1"));
    assert_eq!(press("p0", previewed()), Plan::Say(Says::OldPreview, previewed()));
    assert_eq!(press("p1", awaiting()), Plan::Say(Says::NothingToConfirm, awaiting()));
    assert_eq!(press("p1", Step::Nothing), Plan::Say(Says::NothingToConfirm, Step::Nothing));
}

/// Gives texts made of what the tables hold, so that much of it is nearly understood.
fn spoken() -> impl Strategy<Value = String> {
    let words: Vec<String> = [
        super::super::phrases::CONFIRM,
        super::super::phrases::CANCEL,
        super::super::phrases::CHANGES,
        super::super::phrases::MANIFESTS,
        super::super::phrases::AGENTS,
        super::super::phrases::POLITE,
        &[
            "DemoBot",
            "演示机器人",
            "twin",
            "'s",
            "的",
            "{",
            "```",
            "\n",
            "。",
            "!",
            "İ",
            "ß",
            "\u{200d}",
            "不",
        ],
    ]
    .iter()
    .flat_map(|words| words.iter().map(|word| (*word).to_owned()))
    .collect();
    let word = prop_oneof![3 => proptest::sample::select(words), 1 => any::<String>()];
    (proptest::collection::vec(word, 0..6), prop_oneof![Just(""), Just(" ")])
        .prop_map(|(words, between)| words.join(between))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn nothing_but_a_confirmation_of_a_preview_publishes(said in spoken(), step in 0..3_usize) {
        let own = own();
        let step = [Step::Nothing, awaiting(), previewed()].into_iter().nth(step).unwrap();
        let state = at(step.clone());
        let publishes = matches!(plan(&text(&said), &state, &own), Plan::Publish(..));
        if publishes {
            prop_assert_eq!(&step, &previewed());
            let bare: String = said.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
            let polite = |text: &str| super::super::phrases::POLITE.iter().fold(text.to_owned(), |text, word| {
                text.replace(&word.replace(' ', ""), "")
            });
            let is_yes = super::super::phrases::CONFIRM.iter().any(|yes| {
                let yes: String = yes.chars().filter(|c| c.is_alphanumeric()).collect();
                polite(&bare) == polite(&yes)
            });
            prop_assert!(is_yes, "{}", said);
        }
        let form = Said::Form { agent: "id-1", message: "m", text: &said };
        prop_assert!(!matches!(plan(&form, &state, &own), Plan::Publish(..)));
    }
}
