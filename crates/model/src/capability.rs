//! What every dialect is lowered to. After lowering nothing asks which dialect it was.

use std::collections::BTreeMap;

use serde::Serialize;

/// Names the forms a declaration can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// What an agent asks of a user: tools, scopes, flags (S0).
    Capability,
    /// A manifest-driven tool with commands (S2).
    Tool,
    /// A published skill (S3).
    Skill,
    /// An agent that uses MCP servers and tools (S4).
    Agent,
    /// The result of an MCP server's `tools/list`.
    McpTools,
}

impl Dialect {
    /// Lists them in the order people meet them.
    pub const ALL: [Self; 5] =
        [Self::Capability, Self::Tool, Self::Skill, Self::Agent, Self::McpTools];

    /// Gives the word used on the command line and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Capability => "capability",
            Self::Tool => "tool",
            Self::Skill => "skill",
            Self::Agent => "agent",
            Self::McpTools => "mcp-tools",
        }
    }
}

/// Says how much care a scope takes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Sensitivity {
    /// Runs silently; the user saw it when adding the agent.
    Low,
    /// Asked once, then silent for a sliding day.
    Medium,
    /// Asked at every call.
    High,
}

impl Sensitivity {
    /// Reads the word manifests use.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "low" => Some(Self::Low),
            "medium" => Some(Self::Medium),
            "high" => Some(Self::High),
            _ => None,
        }
    }

    /// Gives the word manifests use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Is a permission that capabilities can need.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scope {
    /// Its id, such as `filesystem:read`.
    pub id: String,
    /// The key of the text shown when asking for it.
    pub label_i18n_key: String,
    /// How much care it takes.
    pub sensitivity: Sensitivity,
}

/// Says what permission a capability declares to need.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// A scope declared beside it.
    Scope(String),
    /// None declared; the operator's policy decides.
    Undeclared,
}

/// Is one callable thing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Capability {
    /// The qualified name: `tool.command`, `skill:id`, `#agent`, or the bare tool name.
    pub name: String,
    /// What it does, or the i18n key of that text.
    pub description: String,
    /// What it takes, as JSON Schema 2020-12.
    pub input_schema: serde_json::Value,
    /// What it gives back, where declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<serde_json::Value>,
    /// What permission it needs.
    pub permission: Permission,
    /// The sensitivity of that permission, where declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// How long a call may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How it runs.
    pub binding: Binding,
}

/// Says how a capability runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Binding {
    /// On a device of the user, by name.
    Device,
    /// In a confined child process.
    Process {
        /// Which interpreter, if any.
        runtime: Runtime,
        /// One call a process, in the background, or a service.
        execution: Execution,
        /// The file inside the tools directory, or the command.
        entry: String,
        /// The command within the tool.
        command: String,
    },
    /// By HTTP at a skill's endpoint.
    Http {
        /// The URL calls are sent to.
        url: String,
        /// The HTTP method.
        method: String,
        /// Where the state of a running execution is asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        status_url: Option<String>,
        /// Where its result is fetched.
        #[serde(skip_serializing_if = "Option::is_none")]
        result_url: Option<String>,
        /// How often a safe call is tried in all.
        max_attempts: u64,
        /// The first pause between tries.
        backoff_ms: u64,
    },
    /// By the MCP server that listed it.
    Mcp,
    /// By running an agent.
    Agent {
        /// The model it asks, where it names one.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Its MCP servers by name.
        servers: BTreeMap<String, McpTransport>,
        /// The tools it sees.
        tools: Vec<String>,
        /// The tools it uses without asking.
        allowed_tools: Vec<String>,
    },
    /// By a person.
    Human,
}

/// Says how an MCP server is reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "transport")]
pub enum McpTransport {
    /// A child process that speaks on its standard streams.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// A child process that serves HTTP.
    LocalHttp {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// A server somewhere else.
    StreamableHttp {
        /// Where.
        url: String,
    },
}

/// Names what runs a tool's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Runtime {
    /// CPython.
    Python,
    /// Node.
    Javascript,
    /// The entry itself.
    Native,
}

/// Says how a process tool lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Execution {
    /// The caller waits.
    Sync,
    /// The caller gets an execution id.
    Async,
    /// One supervised process serves all calls.
    Service,
}

/// Is one setting a tool takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingField {
    /// Its name.
    pub name: String,
    /// Whether its value must never be shown.
    pub secret: bool,
}

/// Is a checked declaration: whose, which version, and what can be called.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// The form it was written in; for people, not for decisions.
    pub dialect: Dialect,
    /// Its name or id, where the form has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The author's version, where the form has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether the author switched it on.
    pub enabled: bool,
    /// The scopes it declares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<Scope>,
    /// What the agent says it can do beyond tools.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub flags: BTreeMap<String, bool>,
    /// The schema of its configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_schema: Option<serde_json::Value>,
    /// The settings in that schema.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingField>,
    /// Other tools it needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// What can be called.
    pub capabilities: Vec<Capability>,
}

impl Manifest {
    /// Makes an empty one; lowering fills in what the form has.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            name: None,
            version: None,
            enabled: true,
            scopes: Vec::new(),
            flags: BTreeMap::new(),
            config_schema: None,
            settings: Vec::new(),
            dependencies: Vec::new(),
            capabilities: Vec::new(),
        }
    }
}
