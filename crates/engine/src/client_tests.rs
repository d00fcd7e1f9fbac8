use std::sync::Mutex;

use super::*;
use crate::catalog::Settings;
use crate::redact::Redactor;

#[derive(Default)]
struct Heard(Mutex<Vec<Value>>);

impl Client for Heard {
    fn has(&self, asks: Asks) -> bool {
        asks != Asks::Roots
    }

    fn tell(&self, remark: Remark) {
        self.0.lock().unwrap().push(json!([remark.level.as_str(), remark.data]));
    }

    fn ask(&self, inquiries: Vec<Inquiry>) -> Pending<'_, Result<Answers, CannotAsk>> {
        if inquiries.iter().any(|one| one.name == "never") {
            return Box::pin(std::future::pending());
        }
        let answers = inquiries.into_iter().map(|one| (one.name, one.params)).collect();
        Box::pin(std::future::ready(Ok(answers)))
    }
}

fn contact() -> (Arc<Heard>, Contact) {
    let mut source = plain();
    source.settings =
        Ok(Settings { redactor: Redactor::new(["hunter22".to_owned()]), ..Settings::default() });
    let heard = Arc::new(Heard::default());
    let client: Arc<dyn Client> = heard.clone();
    (heard, Contact::of(Some(&client), &Arc::new(source), &CancellationToken::new()))
}

fn plain() -> Source {
    Source {
        name: "t".to_owned(),
        origin: "t.yaml".to_owned(),
        root: None,
        manifest: remit_model::Manifest::new(remit_model::Dialect::Tool),
        hash: String::new(),
        settings: Ok(Settings::default()),
        problem: None,
    }
}

#[tokio::test]
async fn secrets_do_not_reach_the_client() {
    let (heard, contact) = contact();
    contact.tell(Level::Info, json!({"key": "it is hunter22"}));
    let answers = contact.ask(vec![Inquiry::sample("q", "what is hunter22?", 5)]).await.unwrap();
    let all = format!("{:?} {answers:?}", heard.0.lock().unwrap());
    assert!(all.contains("[secret]") && !all.contains("hunter22"), "{all}");
}

#[tokio::test]
async fn so_much_is_asked_and_said_and_no_more() {
    let (heard, contact) = contact();
    let some = |count: usize| -> Vec<Inquiry> {
        (0..count).map(|n| Inquiry::form(&format!("q{n}"), "?", json!({}))).collect()
    };
    assert_eq!(contact.ask(some(MOST_INQUIRIES)).await.unwrap().len(), MOST_INQUIRIES);
    let twice = [some(1), some(1)].concat();
    for wrong in [some(0), some(MOST_INQUIRIES + 1), twice] {
        assert_eq!(contact.ask(wrong).await, Err(CannotAsk::Wrong));
    }
    for (length, is_whole) in [(LONGEST_REMARK - 2, true), (LONGEST_REMARK - 1, false)] {
        contact.tell(Level::Debug, json!("x".repeat(length)));
        let last = heard.0.lock().unwrap().pop().unwrap();
        assert_eq!(last[1].as_str().unwrap().starts_with("xx"), is_whole, "{length}");
    }
}

#[tokio::test]
async fn who_cannot_be_asked_is_said() {
    let (_, contact) = contact();
    let mixed = vec![Inquiry::sample("a", "?", 1), Inquiry::roots("b")];
    assert_eq!(contact.ask(mixed).await, Err(CannotAsk::Lacks(Asks::Roots)));
    let nobody = Contact::default();
    nobody.tell(Level::Alert, json!("fire"));
    let why = nobody.ask(vec![Inquiry::sample("a", "?", 1)]).await.unwrap_err();
    let failure = Failure::from(why);
    assert_eq!(failure.code, "CLIENT_CANNOT");
    assert_eq!(failure.details.unwrap(), json!({"required": {"sampling": {}}}));
}

#[tokio::test]
async fn work_that_must_stop_waits_for_no_answer() {
    let (heard, stop) = (Arc::new(Heard::default()), CancellationToken::new());
    let client: Arc<dyn Client> = heard;
    let contact = Contact::of(Some(&client), &Arc::new(plain()), &stop);
    stop.cancel();
    let asked = contact.ask(vec![Inquiry::sample("never", "?", 1)]).await;
    assert_eq!(asked, Err(CannotAsk::Unanswered));
}

#[test]
fn levels_are_in_order_and_have_words() {
    assert!(Level::Debug < Level::Info && Level::Alert < Level::Emergency);
    for (level, word) in Level::ALL {
        assert_eq!((Level::parse(word), level.as_str()), (Some(level), word));
    }
    assert_eq!(Level::parse("INFO"), None);
}
