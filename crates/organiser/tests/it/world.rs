//! A store in memory that does what a real one must: answer questions, check revisions, all or nothing.

use std::collections::BTreeMap;

use jiff::Timestamp;
use remit_organiser::{
    Action, Answer, Change, Context, Done, Kind, Loaded, Query, Row, Step, Zone,
};
use serde_json::Value;

pub type Key = (String, Kind, String);

pub struct World {
    pub rows: BTreeMap<Key, Row>,
    pub users: Vec<String>,
    pub now: Timestamp,
    pub zone: Zone,
    fresh: usize,
}

impl World {
    pub fn new() -> Self {
        Self {
            rows: BTreeMap::new(),
            users: ["ann", "bob", "cem"].map(str::to_owned).to_vec(),
            now: "2026-04-01T08:00:00Z".parse().unwrap(),
            zone: Zone::named("Europe/Berlin").unwrap(),
            fresh: 0,
        }
    }

    pub fn context(&self, user: &str) -> Context {
        Context {
            user: user.to_owned(),
            now: self.now,
            zone: self.zone.clone(),
            fresh: format!("{:04}", self.fresh),
        }
    }

    pub fn ask(&self, query: &Query) -> Answer {
        let rows = self.rows.values();
        let list: Vec<Row> = match query {
            Query::Ids { kind, ids } => {
                rows.filter(|row| row.kind == *kind && ids.contains(&row.id)).cloned().collect()
            }
            Query::Links { owner, kind, links } => rows
                .filter(|row| row.kind == *kind)
                .filter(|row| owner.as_ref().is_none_or(|owner| *owner == row.owner))
                .filter(|row| row.link.as_ref().is_some_and(|link| links.contains(link)))
                .cloned()
                .collect(),
            Query::Between { owner, kind, from, until, limit } => {
                let mut list: Vec<Row> = rows
                    .filter(|row| row.owner == *owner && row.kind == *kind)
                    .filter(|row| row.starts.is_some_and(|starts| starts < *until))
                    .filter(|row| row.ends.is_none_or(|ends| ends >= *from))
                    .cloned()
                    .collect();
                list.sort_by(|a, b| (a.starts, &a.id).cmp(&(b.starts, &b.id)));
                list.truncate(*limit);
                list
            }
            Query::Owned { owner, kind, limit } => rows
                .filter(|row| row.owner == *owner && row.kind == *kind)
                .take(*limit)
                .cloned()
                .collect(),
            Query::Users { ids } => {
                let known = ids.iter().filter(|id| self.users.contains(id)).cloned().collect();
                return Answer::Users(known);
            }
        };
        Answer::Rows(list)
    }

    /// Writes changes, all or none; false if a revision has moved on.
    pub fn apply(&mut self, changes: &[Change]) -> bool {
        let mut rows = self.rows.clone();
        for change in changes {
            let fits = match change {
                Change::Create(row) => {
                    row.revision == 1 && rows.insert(key(row), row.clone()).is_none()
                }
                Change::Update(row) => rows
                    .insert(key(row), row.clone())
                    .is_some_and(|old| old.revision + 1 == row.revision),
                Change::Delete { owner, kind, id, revision } => rows
                    .remove(&(owner.clone(), *kind, id.clone()))
                    .is_some_and(|old| old.revision == *revision),
            };
            if !fits {
                return false;
            }
        }
        self.rows = rows;
        true
    }

    /// Runs something to its end, answering what it asks.
    pub fn drive(&self, mut run: impl FnMut(&Loaded) -> Step) -> Done {
        let mut loaded = Loaded::default();
        for _ in 0..6 {
            match run(&loaded) {
                Step::Done(done) => return done,
                Step::Load(queries) => {
                    for query in queries {
                        let answer = self.ask(&query);
                        loaded.answer(query, answer);
                    }
                }
            }
        }
        panic!("it never has enough");
    }

    /// Runs a method and keeps its changes.
    pub fn run(&mut self, user: &str, name: &str, input: &Value) -> Done {
        self.fresh += 1;
        let (module, method) = name.split_once('.').unwrap();
        let action = Action::find(module, method).unwrap();
        let context = self.context(user);
        let done = self.drive(|loaded| action.execute(&context, input, loaded));
        assert!(done.outcome.is_ok() || done.changes.is_empty(), "a failure changes nothing");
        assert!(action.writes() || done.changes.is_empty(), "reading changes nothing");
        assert!(self.apply(&done.changes), "{name} made changes that do not fit");
        done
    }

    /// Runs a method that must succeed.
    #[track_caller]
    pub fn ok(&mut self, user: &str, name: &str, input: &Value) -> Value {
        match self.run(user, name, input).outcome {
            Ok(data) => data,
            Err(failure) => panic!("{name} failed: {failure:?}"),
        }
    }

    /// Runs a method that must fail, and gives the error object.
    #[track_caller]
    pub fn fails(&mut self, user: &str, name: &str, input: &Value) -> Value {
        let (module, method) = name.split_once('.').unwrap();
        let action = Action::find(module, method).unwrap();
        let outcome = self.run(user, name, input).outcome;
        assert!(outcome.is_err(), "{name} succeeded: {outcome:?}");
        let output = action.output(&outcome);
        assert_eq!(output["ok"], false);
        output["error"].clone()
    }

    /// Imports a file and keeps its changes.
    pub fn import(&mut self, user: &str, bytes: &[u8]) -> Done {
        self.fresh += 1;
        let context = self.context(user);
        let done = self.drive(|loaded| remit_organiser::ical::import(&context, bytes, loaded));
        assert!(self.apply(&done.changes));
        done
    }

    /// Exports a whole calendar.
    pub fn export(&self, user: &str) -> String {
        let context = self.context(user);
        let done = self.drive(|loaded| remit_organiser::ical::export(&context, None, loaded));
        done.outcome.unwrap()["text"].as_str().unwrap().to_owned()
    }

    /// Gives the starts of what a range holds.
    #[track_caller]
    pub fn starts(&mut self, user: &str, from: &str, until: &str) -> Vec<String> {
        let data = self.ok(
            user,
            "calendar.read",
            &serde_json::json!({ "mode": "range", "start_at": from, "end_at": until }),
        );
        data["items"].as_array().unwrap().iter().map(start_of).collect()
    }
}

pub fn start_of(item: &Value) -> String {
    let text = item["startAt"].as_str().or(item["startDate"].as_str());
    text.unwrap().to_owned()
}

fn key(row: &Row) -> Key {
    (row.owner.clone(), row.kind, row.id.clone())
}
