//! Secrets that were planted everywhere, and looked for everywhere.
//!
//! They stand in the server's environment, in the configuration of a tool that tells all it knows, in
//! bearer tokens, right ones and wrong ones; and every call of a method makes a credential. Nothing of
//! it may come out: not in an answer, a stream, the history, the log, or the files of the record.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;

use crate::serving::Serving;

/// Is how many secrets one server is given.
const ROUND: usize = 1_000;

const PROGRAM: &str = r#"
import base64, json, os, sys, urllib.parse
for line in sys.stdin:
    request = json.loads(line)
    values = [v for v in request["settings"].values() if isinstance(v, str)]
    told = {"settings": request["settings"], "environment": dict(os.environ)}
    if request["command"] == "forms":
        told = [[base64.b64encode(v.encode()).decode(), v.encode().hex(), urllib.parse.quote(v, safe=""),
                 base64.urlsafe_b64encode(("user:" + v).encode()).decode()] for v in values]
    print(json.dumps(told), file=sys.stderr, flush=True)
    answer = {"id": request["id"]}
    if request["command"] == "fail":
        answer["error"] = {"code": "X", "message": " ".join(values)}
    else:
        answer["result"], answer["message"] = told, " ".join(values)
    print(json.dumps(answer), flush=True)
"#;

fn canary(kind: &str, round: usize, number: usize) -> String {
    // Letters that every form writes differently.
    format!(
        "{kind}/{round:03}+{number:04}?canary&{:x}",
        (round * 7_919 + number * 104_729) ^ 0x5eed
    )
}

struct Planted {
    environment: Vec<(String, String)>,
    configured: Vec<String>,
    wrong: Vec<String>,
}

fn plant(place: &Path, round: usize) -> Planted {
    let environment: Vec<_> =
        (0..300).map(|n| (format!("CANARY_{n}"), canary("environment", round, n))).collect();
    let configured: Vec<_> = (0..150).map(|n| canary("configured", round, n)).collect();
    let (mut schema, mut settings) = (String::new(), String::new());
    for n in 0..300 {
        let _ = writeln!(schema, "  key_{n}: {{type: string, secret: true, description: A key}}");
        let value = match configured.get(n) {
            Some(value) => format!("{value:?}"),
            None => format!("${{CANARY_{n}}}"),
        };
        let _ = writeln!(settings, "key_{n}: {value}");
    }
    let manifest = format!(
        "manifest_version: \"1.0.0\"\nname: teller\ndisplay_name: Teller\ndescription: Tells all\n\
         type: sync\nruntime: python\nentry: teller.py\ntimeout: 20000\nconfig_schema:\n{schema}commands:\n  \
         - {{name: tell, description: Tells}}\n  - {{name: forms, description: Tells it otherwise}}\n  \
         - {{name: fail, description: Tells it as an error}}\n"
    );
    fs::create_dir_all(place.join("tools/configs")).unwrap();
    fs::write(place.join("tools/teller.yaml"), manifest).unwrap();
    fs::write(place.join("tools/teller.py"), PROGRAM).unwrap();
    fs::write(place.join("tools/configs/teller.yaml"), settings).unwrap();
    fs::write(place.join("remit.yaml"), "capabilities:\n  - {match: \"*\", sensitivity: low}\n")
        .unwrap();
    let wrong = (0..300).map(|n| canary("wrong", round, n)).collect();
    Planted { environment, configured, wrong }
}

/// Makes requests with every token, and keeps all that came back.
fn provoke(server: &mut Serving, planted: &Planted) -> (Vec<String>, String) {
    let mut heard = String::new();
    let mut users = Vec::new();
    let admin = server.token.clone();
    for n in 0..249 {
        let (status, user) = server.request("POST", "/users", &json!({"id": format!("u{n}")}));
        assert_eq!(status, 201, "{user}");
        users.push(user["token"].as_str().unwrap().to_owned());
    }
    for name in ["tell", "forms", "fail"] {
        heard.push_str(&server.call(&format!("teller.{name}"), json!({})).to_string());
    }
    for (n, user) in users.iter().enumerate() {
        server.token.clone_from(user);
        let calls = [
            json!({"id": "c1", "type": "function", "function": {"name": "teller.tell", "arguments": "{}"}}),
            json!({"id": "c2", "type": "function", "function": {"name": "project_cli",
                "arguments": json!({"module": "memory", "method": "read", "input": {"prefix": user}}).to_string()}}),
        ];
        let run = json!({
            "threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [],
            "messages": [{"id": "m", "role": "user", "content": format!("my token is {user}")}],
            "forwardedProps": {"toolCalls": calls},
        });
        // All of it for some, so that it ends today; the rest for everybody.
        if n % 25 == 0 {
            heard.push_str(&server.raw("POST", "/runs", &run.to_string()));
            heard.push_str(&server.call("memory.read", json!({})).to_string());
            heard.push_str(&server.raw("GET", "/runs/r/events?thread_id=t", ""));
        }
        heard.push_str(&server.call("memory.read", json!({"prefix": user})).to_string());
        heard.push_str(&server.raw("GET", "/history?thread_id=t", ""));
        heard.push_str(&server.raw("GET", &format!("/tools?access_token={user}"), ""));
        heard.push_str(&server.raw("POST", &format!("/calls/{user}"), user));
        heard.push_str(&server.raw("GET", "/tokens", ""));
    }
    for wrong in &planted.wrong {
        server.token.clone_from(wrong);
        heard.push_str(&server.raw("GET", "/tools", ""));
    }
    server.token = admin;
    heard.push_str(&server.raw("GET", "/calls?user=u0", ""));
    heard.push_str(&server.raw("GET", "/metrics", ""));
    (users, heard)
}

/// Gives the forms in which a secret might stand somewhere.
fn forms(secret: &str) -> Vec<String> {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let url: String = secret
        .bytes()
        .map(|byte| match byte {
            b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect();
    let mut all = vec![secret.to_owned(), hex.to_uppercase(), hex, url];
    // Base64 depends on what stands before; the first and the last letters on what is around it.
    for before in 0..3 {
        let padded = [vec![b'x'; before], secret.as_bytes().to_vec()].concat();
        for text in [STANDARD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            let from = [0, 2, 3][before];
            let to = text.trim_end_matches('=').len() - 2;
            all.push(text[from..to].to_owned());
        }
    }
    all
}

/// Gives all files below a directory.
fn contents(directory: &Path, into: &mut Vec<(String, Vec<u8>)>) {
    for file in fs::read_dir(directory).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            contents(&path, into);
        } else if path.file_name().unwrap() != "admin.token" {
            into.push((path.display().to_string(), fs::read(&path).unwrap_or_default()));
        }
    }
}

#[test]
fn planted_secrets_come_out_nowhere() {
    let all: usize = std::env::var("REMIT_SOAK_CANARIES").map_or(ROUND, |n| n.parse().unwrap());
    for round in 0..all.div_ceil(ROUND) {
        let place = tempfile::tempdir().unwrap();
        let planted = plant(place.path(), round);
        let mut server =
            Serving::start_with(place.path(), &["--log", "json"], &planted.environment);
        let admin = server.token.clone();
        let (users, heard) = provoke(&mut server, &planted);
        let said = server.stop();
        let mut places = vec![("an answer".to_owned(), heard.into_bytes())];
        places.push(("the log".to_owned(), said.into_bytes()));
        contents(&place.path().join("data"), &mut places);
        let environment = planted.environment.iter().map(|(_, value)| value);
        let secrets: Vec<&String> = environment
            .chain(&planted.configured)
            .chain(&planted.wrong)
            .chain(&users)
            .chain([&admin])
            .collect();
        assert_eq!(secrets.len(), ROUND, "{} rounds", round + 1);
        look(&secrets, &places, &users);
    }
    println!("{all} secrets were looked for");
}

fn look(secrets: &[&String], places: &[(String, Vec<u8>)], users: &[String]) {
    let forms: BTreeMap<String, &str> = secrets
        .iter()
        .flat_map(|secret| forms(secret).into_iter().map(|form| (form, secret.as_str())))
        .chain([("rmc_".to_owned(), "a credential")])
        .collect();
    let patterns: Vec<&String> = forms.keys().collect();
    let finder = aho_corasick::AhoCorasick::new(&patterns).unwrap();
    for (name, bytes) in places {
        // A token is shown once, to whoever makes it; that answer is not looked at.
        if let Some(found) = finder.find(bytes) {
            let form = patterns[found.pattern().as_usize()];
            let around =
                &bytes[found.start().saturating_sub(200)..(found.end() + 50).min(bytes.len())];
            panic!("{name} holds {form} of {}: {}", forms[form], String::from_utf8_lossy(around));
        }
    }
    let seen = String::from_utf8_lossy(&places[0].1);
    assert!(seen.matches("[secret]").count() > users.len(), "the teller told, and was not heard");
}
