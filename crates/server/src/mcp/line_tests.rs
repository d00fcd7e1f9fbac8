use super::*;

const ALL: Can = Can { forms: true, sampling: true, roots: true };

fn name_form() -> Inquiry {
    let schema =
        json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    Inquiry::form("who", "Who?", schema)
}

#[test]
fn an_answer_fits_its_question_or_is_none() {
    let (form, sample, roots) = (name_form(), Inquiry::sample("s", "?", 1), Inquiry::roots("r"));
    let said = json!({"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"});
    for (inquiry, answer, is_one) in [
        (&form, json!({"action": "accept", "content": {"name": "Ann"}}), true),
        (&form, json!({"action": "decline"}), true),
        (&form, json!({"action": "cancel", "content": null}), true),
        (&form, json!({"action": "accept", "content": {"name": 1}}), false),
        (&form, json!({"action": "accept", "content": {}}), false),
        (&form, json!({"action": "accept"}), false),
        (&form, json!({"action": "maybe", "content": {"name": "Ann"}}), false),
        (&form, json!(12345), false),
        (&sample, said.clone(), true),
        (&sample, json!({"role": "assistant", "content": {}}), false),
        (&sample, json!({"action": "accept"}), false),
        (&roots, json!({"roots": []}), true),
        (&roots, json!({"roots": [{"uri": "file:///x"}]}), true),
        (&roots, json!({"roots": [{"name": "x"}]}), false),
        (&roots, json!({"roots": {}}), false),
    ] {
        assert_eq!(fits(inquiry, &answer), is_one, "{answer}");
    }
}

#[tokio::test]
async fn a_round_is_answered_once_and_by_its_number() {
    let line = Arc::new(Line::new(ALL));
    let asking = tokio::spawn({
        let line = Arc::clone(&line);
        async move { line.ask(vec![name_form()]).await }
    });
    let mut asked = line.asked();
    let round = asked.wait_for(Option::is_some).await.unwrap().clone().unwrap().round;
    let answer = |name: &str| Ok(Answers::from([("who".to_owned(), json!(name))]));
    line.answer(round + 1, answer("nobody"));
    line.answer(round, answer("Ann"));
    line.answer(round, answer("Bob"));
    assert_eq!(asking.await.unwrap(), answer("Ann"));
    assert!(asked.borrow().is_none(), "it is asked no longer");
}

#[tokio::test]
async fn the_name_of_the_approval_is_not_asked_under() {
    let mut inquiry = name_form();
    consent::NAME.clone_into(&mut inquiry.name);
    assert_eq!(Line::new(ALL).ask(vec![inquiry]).await, Err(CannotAsk::Wrong));
}

#[test]
fn a_line_is_found_while_somebody_holds_it() {
    let lines = Lines::default();
    let key = |id: &str| CallKey {
        user: "ann".to_owned(),
        agent: String::new(),
        id: remit_model::CallId::parse(id).unwrap(),
    };
    let first = lines.of(&key("1"), ALL);
    assert!(Arc::ptr_eq(&first, &lines.of(&key("1"), Can::default())));
    assert!(!Arc::ptr_eq(&first, &lines.of(&key("2"), ALL)));
    drop(first);
    assert!(locked(&lines.0).is_empty(), "nothing is left of them");
    assert!(!lines.of(&key("1"), Can::default()).has(Asks::Form));
}
