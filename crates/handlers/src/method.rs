//! A method of a module that keeps its data in the server: `calendar`, `contacts`, `memory`.
//!
//! One process for one call (SPEC §7). What to do stands in the arguments, the input on standard input,
//! the credential in the environment. Standard input is a socket, and the server at its other end: the
//! method asks there, with the credential, and writes what it was told. It has no database and no
//! network.

use std::io::{self, BufRead, Read, Write};

use serde_json::{Value, json};

use crate::serve::ServeError;

/// Lists the modules.
pub const MODULES: &[&str] = &["calendar", "contacts", "memory"];

/// Is the variable that holds the credential.
const CREDENTIAL: &str = "REMIT_CREDENTIAL";
/// Is the longest input that is read.
const INPUT_BYTES: u64 = 1 << 20;
/// Is the longest answer of the server that is read.
const ANSWER_BYTES: u64 = 16 << 20;
/// Is how many headers an answer may have.
const HEADERS: usize = 64;

/// Is what the arguments say.
struct Asked<'a> {
    module: &'a str,
    method: &'a str,
    zone: Option<&'a str>,
}

/// Runs the method that the arguments name.
///
/// # Errors
/// When the arguments are not those of a method, or when reading or writing fails.
pub fn run(
    arguments: &[String],
    mut input: impl BufRead,
    mut server: impl Write,
    mut output: impl Write,
) -> Result<(), ServeError> {
    let asked = parse(arguments)?;
    let mut payload = Vec::new();
    input.by_ref().take(INPUT_BYTES).read_until(b'\n', &mut payload)?;
    if payload.pop() != Some(b'\n') {
        return Err(ServeError::NotARequest);
    }
    let credential = std::env::var(CREDENTIAL).unwrap_or_default();
    server.write_all(&request(&asked, &credential, &payload))?;
    server.flush()?;
    let mut answer = Vec::new();
    input.take(ANSWER_BYTES).read_to_end(&mut answer)?;
    let mut line = serde_json::to_vec(&told(&asked, &answer)).map_err(io::Error::from)?;
    line.push(b'\n');
    output.write_all(&line)?;
    Ok(output.flush()?)
}

fn parse(arguments: &[String]) -> Result<Asked<'_>, ServeError> {
    let wrong = |name: &str| ServeError::UnknownHandler(name.to_owned());
    let [module, method, flags @ ..] = arguments else { return Err(wrong("")) };
    if !MODULES.contains(&module.as_str()) || !is_name(method) {
        return Err(wrong(module));
    }
    let mut asked = Asked { module, method, zone: None };
    for flag in flags {
        match flag.strip_prefix("--time-zone=") {
            Some(zone) if zone.bytes().all(is_zone) => asked.zone = Some(zone),
            _ => return Err(wrong(flag)),
        }
    }
    Ok(asked)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Tells whether a letter can stand in the name of a zone and, as it is, in an address.
fn is_zone(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-')
}

fn request(asked: &Asked<'_>, credential: &str, payload: &[u8]) -> Vec<u8> {
    let Asked { module, method, zone } = asked;
    let query = zone.map_or_else(String::new, |zone| format!("?time_zone={zone}"));
    let length = payload.len();
    let mut request = format!(
        "POST /organiser/{module}/{method}{query} HTTP/1.1\r\nhost: remit\r\n\
         authorization: Bearer {credential}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n"
    )
    .into_bytes();
    request.extend_from_slice(payload);
    request
}

/// Gives what to write: what the server said about this method, or why it said nothing.
fn told(asked: &Asked<'_>, answer: &[u8]) -> Value {
    let said = body(answer).and_then(|body| serde_json::from_slice::<Value>(body).ok());
    match said {
        Some(said) if said.get("ok").is_some_and(Value::is_boolean) => said,
        Some(said) => failed(asked, said.get("error").unwrap_or(&Value::Null)),
        None => {
            let message = "the server did not answer; the call must be made again";
            failed(asked, &json!({"code": "NO_ANSWER", "message": message}))
        }
    }
}

fn failed(asked: &Asked<'_>, error: &Value) -> Value {
    json!({"ok": false, "module": asked.module, "method": asked.method, "error": error})
}

/// Finds the body of an answer that has one, whole.
fn body(answer: &[u8]) -> Option<&[u8]> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(start) = response.parse(answer).ok()? else { return None };
    let length = response.headers.iter().find(|h| h.name.eq_ignore_ascii_case("content-length"))?;
    let length: usize = std::str::from_utf8(length.value).ok()?.parse().ok()?;
    answer.get(start..start.checked_add(length)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(arguments: &[&str], input: &str) -> (String, String) {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        let (mut server, mut output) = (Vec::new(), Vec::new());
        run(&arguments, input.as_bytes(), &mut server, &mut output).unwrap();
        (String::from_utf8(server).unwrap(), String::from_utf8(output).unwrap())
    }

    const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 54\r\n\r\n\
        {\"ok\":true,\"module\":\"memory\",\"method\":\"read\",\"data\":1}";

    #[test]
    fn a_method_asks_the_server_and_writes_what_it_says() {
        let (asked, said) =
            ran(&["memory", "read", "--time-zone=Europe/Berlin"], &format!("{{}}\n{ANSWER}"));
        assert!(asked.starts_with("POST /organiser/memory/read?time_zone=Europe/Berlin HTTP/1.1"));
        assert!(asked.ends_with("\r\n\r\n{}"), "{asked}");
        let said: Value = serde_json::from_str(said.strip_suffix('\n').unwrap()).unwrap();
        assert_eq!(said, json!({"ok": true, "module": "memory", "method": "read", "data": 1}));
    }

    #[test]
    fn what_is_no_answer_is_a_failure() {
        for answer in ["", "HTTP/1.1 200 OK\r\n", &ANSWER[..ANSWER.len() - 1], "junk\r\n\r\n{}"] {
            let (_, said) = ran(&["memory", "read"], &format!("{{}}\n{answer}"));
            assert!(
                said.contains("NO_ANSWER") && said.contains("\"ok\":false"),
                "{answer}: {said}"
            );
        }
        let refused = "HTTP/1.1 401 U\r\ncontent-length: 22\r\n\r\n{\"error\":{\"code\":\"C\"}}";
        let (_, said) = ran(&["memory", "read"], &format!("{{}}\n{refused}"));
        assert!(said.contains(r#""error":{"code":"C"}"#), "{said}");
    }

    #[test]
    fn other_arguments_are_refused() {
        for wrong in [
            &["files", "read"][..],
            &["memory"],
            &["memory", "../x"],
            &["memory", "read", "--time-zone=a b"],
            &["memory", "read", "--other"],
        ] {
            let arguments: Vec<String> = wrong.iter().map(|a| (*a).to_owned()).collect();
            let run = run(&arguments, "{}\n".as_bytes(), Vec::new(), Vec::new());
            assert!(run.is_err(), "{wrong:?}");
        }
    }
}
