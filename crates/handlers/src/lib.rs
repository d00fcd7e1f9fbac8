//! What the built-in tools do: `file_operator`, `web_fetch` and `web_search`.
//!
//! Each runs in a child process of its own, confined like any other tool, and speaks the worker
//! contract of `docs/workers.md`. [`serve`] is that process. Nothing here knows the engine, the
//! store or the sandbox: a handler gets one call, with its settings, and gives one answer. `calendar`,
//! `contacts` and `memory` keep their data in the server; [`method`] is the process that asks it.
//!
//! | room | holds |
//! |---|---|
//! | `serve`, `contract`, `redact` | the loop, a call and its answer, keeping secrets out of it |
//! | `file_operator` | files below the allowed directories, judged on the opened file |
//! | `net` | the one HTTP client and the guard that every address passes |
//! | `web_fetch`, `web_search` | what the two web tools do with it |
//! | `extract` | PDF, DOCX and XLSX into text, within bounds |
//! | `text` | charsets, HTML into Markdown, fitting text into an answer |

mod contract;
mod extract;
mod file_operator;
pub mod method;
mod net;
mod redact;
mod serve;
mod text;
mod watch;
mod web_fetch;
mod web_search;

pub use serve::{ServeError, serve};

/// Holds the manifests of the built-in tools: the name of the tool and its YAML.
pub const MANIFESTS: &[(&str, &str)] = &[
    ("calendar", include_str!("../../../tools/core/calendar.yaml")),
    ("contacts", include_str!("../../../tools/core/contacts.yaml")),
    ("file_operator", include_str!("../../../tools/core/file_operator.yaml")),
    ("memory", include_str!("../../../tools/core/memory.yaml")),
    ("web_fetch", include_str!("../../../tools/core/web_fetch.yaml")),
    ("web_search", include_str!("../../../tools/core/web_search.yaml")),
];
