//! `web_fetch`: a page of the web as text.

use std::time::{Duration, Instant};

use remit_model::text::quoted;
use serde_json::{Map, Value, json};
use url::Url;

use crate::contract::{Call, Done, Failure, Progress};
use crate::extract::{self, Found};
use crate::net::{Client, Guard, Limits, Reply};
use crate::text::charset::decode_page;
use crate::text::fit::{self, TEXT_BYTES};
use crate::text::html::{self, Style};
use crate::text::{one_line, shortened};

/// Is what pages are asked for as.
const ACCEPT: &str = "text/html,application/xhtml+xml,text/markdown,text/plain,application/json,application/pdf;q=0.9,*/*;q=0.5";

/// Is how much of an answer the links may take, in bytes.
const LINKS_BYTES: usize = 48 << 10;

/// Runs a command.
pub(crate) fn run(call: &Call, _: Progress<'_>) -> Result<Done, Failure> {
    if call.command != "fetch" {
        let message = format!("there is no command {}; use fetch", quoted(&call.command));
        return Err(Failure::new("UNKNOWN_COMMAND", message));
    }
    let format = Format::parse(call.text_or("format", "markdown")?)?;
    let url = parse(call.text("url")?)?;
    let guard = Guard::new(&call.settings)?;
    guard.check(&url)?;
    let most = call.settings.number("max_bytes", 5 << 20, 1, 32 << 20);
    let asked = call.count("max_bytes")?.map_or(most, |asked| asked as u64);
    let time = Duration::from_millis(call.settings.number("timeout_ms", 20_000, 1, 600_000));
    let limits = Limits {
        bytes: asked.clamp(1, most),
        time: call.time_left(time),
        redirects: call.settings.number("max_redirects", 5, 0, 20),
    };
    let client = Client::new(guard, &call.settings)?;
    let reply = client.get(&url, ACCEPT, limits)?;
    let page = read(reply, format, call.deadline())?;
    Ok(answer(&url, page))
}

/// Reads an address a person may have written.
pub(crate) fn parse(written: &str) -> Result<Url, Failure> {
    Url::parse(written.trim()).map_err(|_| {
        let message = format!("{} is no address; write it with https://", quoted(written));
        Failure::new("INVALID_PARAMETER", message)
    })
}

/// Is how an HTML page is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Markdown,
    Text,
    Html,
}

impl Format {
    fn parse(written: &str) -> Result<Self, Failure> {
        match written {
            "markdown" => Ok(Self::Markdown),
            "text" => Ok(Self::Text),
            "html" => Ok(Self::Html),
            other => {
                let message = format!("{} is no format; use markdown, text or html", quoted(other));
                Err(Failure::new("INVALID_PARAMETER", message))
            }
        }
    }
}

/// Is a page that was read.
pub(crate) struct Page {
    pub(crate) url: Url,
    pub(crate) title: String,
    pub(crate) content: String,
    kind: &'static str,
    content_type: String,
    charset: Option<&'static str>,
    links: Vec<(String, String)>,
    size: usize,
    missing: Vec<String>,
}

/// Fetches a page for another tool.
pub(crate) fn fetch(
    client: &Client,
    url: &Url,
    limits: Limits,
    deadline: Instant,
) -> Result<Page, Failure> {
    read(client.get(url, ACCEPT, limits)?, Format::Text, deadline)
}

/// Turns what came back into text.
fn read(reply: Reply, format: Format, deadline: Instant) -> Result<Page, Failure> {
    if !(200..300).contains(&reply.status) {
        let host = reply.url.host_str().unwrap_or_default();
        let message =
            format!("{} answers with status {}; try another address", quoted(host), reply.status);
        return Err(Failure::new("HTTP_STATUS", message));
    }
    let content_type = one_line(&shortened(&reply.content_type, 200)).to_ascii_lowercase();
    let (media, parameters) = content_type.split_once(';').unwrap_or((&content_type, ""));
    let media = media.trim().to_owned();
    let label = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        (name.trim() == "charset").then(|| value.trim().trim_matches('"').to_owned())
    });
    let mut page = Page {
        title: String::new(),
        content: String::new(),
        kind: "text",
        charset: None,
        links: Vec::new(),
        size: reply.body.len(),
        missing: Vec::new(),
        content_type: media.clone(),
        url: reply.url,
    };
    if reply.cut {
        page.missing.push(format!("this is its beginning, {} bytes of it", page.size));
    }
    if let Found::Document(kind) = extract::look(&reply.body) {
        if reply.cut {
            let message =
                format!("the document has more than {} bytes; raise max_bytes", page.size);
            return Err(Failure::new("TOO_LARGE", message));
        }
        let extracted = extract::text(reply.body, kind, deadline)?;
        page.kind = kind.name();
        page.content = extracted.text;
        page.missing.extend(extracted.missing);
        return Ok(page);
    }
    if !is_text(&media, &reply.body) {
        let shown = quoted(if media.is_empty() { "unknown" } else { &media });
        let message = format!("the page is of type {shown}, which is no text; fetch another");
        return Err(Failure::new("UNSUPPORTED_FORMAT", message));
    }
    let decoded = decode_page(&reply.body, label.as_deref());
    page.charset = Some(decoded.charset);
    if !is_html(&media, &decoded.text) {
        page.kind = if media.ends_with("json") { "json" } else { "text" };
        page.content = decoded.text;
        return Ok(page);
    }
    let style = if format == Format::Text { Style::Plain } else { Style::Markdown };
    let readable = html::readable(&decoded.text, &page.url, style);
    page.kind = "html";
    page.title = shortened(&readable.title, 500);
    page.links = readable.links;
    page.content = match format {
        Format::Markdown | Format::Text => readable.text,
        Format::Html => decoded.text,
    };
    if readable.cut {
        page.missing.push("it has more elements than are read".to_owned());
    }
    Ok(page)
}

fn is_text(media: &str, body: &[u8]) -> bool {
    let named = media.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "x-ndjson", "csv"]
            .iter()
            .any(|w| media.ends_with(w));
    let unnamed = media.is_empty() || media == "application/octet-stream";
    named || (unnamed && !body.get(..8192).unwrap_or(body).contains(&0))
}

fn is_html(media: &str, text: &str) -> bool {
    let start: String = text.chars().take(512).collect::<String>().to_ascii_lowercase();
    let looks = || start.contains("<!doctype html") || start.contains("<html");
    matches!(media, "text/html" | "application/xhtml+xml")
        || (matches!(media, "" | "application/octet-stream" | "text/xml" | "application/xml")
            && looks())
}

fn answer(asked: &Url, page: Page) -> Done {
    let mut missing = page.missing;
    let piece = fit::page(&page.content, 0, usize::MAX, TEXT_BYTES - LINKS_BYTES);
    if let Some(next) = piece.next {
        missing.push(format!("these are the first {next} of {} characters", piece.total));
    }
    let mut result = Map::new();
    let mut put = |name: &str, value: Value| result.insert(name.to_owned(), value);
    put("url", asked.as_str().into());
    if page.url != *asked {
        put("final_url", page.url.as_str().into());
    }
    put("type", page.kind.into());
    put("content_type", page.content_type.into());
    put("size", page.size.into());
    put("content", piece.text.into());
    if !page.title.is_empty() {
        put("title", page.title.into());
    }
    if let Some(charset) = page.charset {
        put("charset", charset.to_ascii_lowercase().into());
    }
    let mut left = LINKS_BYTES;
    let links: Vec<Value> = page
        .links
        .into_iter()
        .map_while(|(text, url)| {
            let text = shortened(&text, 200);
            // Each may double when it is escaped.
            left = left.checked_sub(2 * (text.len() + url.len()) + 24)?;
            Some(json!({"text": text, "url": url}))
        })
        .collect();
    if !links.is_empty() {
        put("links", links.into());
    }
    let done = Done::new(Value::Object(result));
    if missing.is_empty() { done } else { done.partial(missing.join("; ")) }
}
