//! The runner of the system agent: reads where the dialog stands, does what the plan says, records it.

use remit_engine::fresh_call_id;
use remit_engine::ports::Pending;
use remit_engine::record::{Message, RunStep};
use remit_engine::registry::{Agent, AgentQuery, Page, Patch, RegistryError};
use remit_model::{CallId, Failure, canonical};
use serde::Deserialize;

use super::hear::is_chinese;
use super::phrases::{Says, sentence};
use super::plan::{Draft, Plan, Said, plan};
use super::shown::{self, MOST_TOLD, Show};
use super::state::{Preview, State, Step};
use crate::agui::run::{Run, Runner, Stopped, stopped};
use crate::agui::said::{Beside, Called};
use crate::project::{Locale, TOOL, ToolAgentOutput};

/// Is the system agent.
pub(crate) struct System {
    /// The language of whoever asks, until they say something.
    pub(crate) locale: Locale,
}

impl Runner for System {
    fn turn<'r>(&'r self, run: &'r Run) -> Pending<'r, Result<RunStep, Stopped>> {
        Box::pin(async move {
            if run.input.resume.is_some() {
                let message = "the system agent asks with cards; answer those as `submit`";
                return Err(stopped("NOT_RESUMABLE", message));
            }
            if !run.open_interrupts().await?.is_empty() {
                let message = "the last run waits for answers; send them as `resume`";
                return Err(stopped("INTERRUPTED", message));
            }
            self.talk(run).await?;
            Ok(RunStep::Succeeded)
        })
    }
}

/// Is what a card sent.
#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
enum Submit {
    Manifest { agent_id: String, manifest: String },
    Confirm { preview: String },
    Cancel,
}

/// Is something to say, to show, and where the dialog stands then.
struct Reply {
    says: Says,
    show: Option<Show>,
    id: CallId,
    step: Step,
}

impl Reply {
    fn say(says: Says, step: Step) -> Self {
        Self { says, show: None, id: fresh_call_id(), step }
    }

    fn show(says: Says, show: Show, step: Step) -> Self {
        Self { says, show: Some(show), id: fresh_call_id(), step }
    }
}

/// Is the conversation up to now.
struct Thread {
    messages: Vec<(Message, Beside)>,
}

impl Thread {
    async fn read(run: &Run) -> Result<Self, Stopped> {
        let kept = run.app.store().messages(run.thread.clone()).await?;
        let messages = kept.into_iter().map(|message| {
            let beside = Beside::of(&message);
            (message, beside)
        });
        Ok(Self { messages: messages.collect() })
    }

    /// Finds where the dialog stands, and the place of the message that says so.
    fn state(&self) -> Option<(usize, &State)> {
        let places = self.messages.iter().enumerate().rev();
        places.filter_map(|(at, (_, beside))| Some((at, beside.system.as_ref()?))).next()
    }

    /// Finds what the client said, by its id.
    fn said(&self, id: &str) -> Option<(usize, &str)> {
        let is = |(message, beside): &(Message, Beside)| {
            beside.from_client && beside.message_id == id && message.role == "user"
        };
        let at = self.messages.iter().position(is)?;
        self.messages.get(at).map(|(message, _)| (at, message.content.as_str()))
    }
}

impl System {
    async fn talk(&self, run: &Run) -> Result<(), Stopped> {
        let submit = run.input.forwarded_props.as_ref().and_then(|props| props.submit.clone());
        let submit = submit.map(serde_json::from_value::<Submit>).transpose().map_err(|error| {
            let message = format!("`submit` is not what one of the cards sends: {error}");
            stopped("INVALID_SUBMIT", message)
        })?;
        let mut thread = Thread::read(run).await?;
        let mut sent = None;
        if let Some(submit) = &submit {
            let lang = thread.state().map_or(self.locale, |(_, state)| state.lang);
            sent = Some(keep(run, submit, lang).await?);
            thread = Thread::read(run).await?;
        }
        let (at, mut state) = match thread.state() {
            Some((at, state)) => (Some(at), state.clone()),
            None => (None, State { lang: self.locale, step: Step::Nothing }),
        };
        let said = match (&submit, &sent) {
            (Some(Submit::Manifest { agent_id, .. }), Some(message)) => Said::Form {
                agent: agent_id,
                message,
                text: thread.said(message).map(|(_, text)| text).unwrap_or_default(),
            },
            (Some(Submit::Confirm { preview }), _) => Said::Confirm { preview },
            (Some(Submit::Cancel), _) => Said::Cancel,
            _ => said(run, &thread, at),
        };
        if let Said::Text { text, .. } = said
            && !text.contains('{')
            && let Some(is_chinese) = is_chinese(text)
        {
            state.lang = if is_chinese { Locale::Zh } else { Locale::En };
        }
        let reply = match own(run).await {
            Ok(own) => match plan(&said, &state, &own) {
                Plan::Say(says, step) => Reply::say(says, step),
                Plan::Agents(says, agents) => {
                    Reply::show(says, shown::agents(&agents, state.lang), state.step.clone())
                }
                Plan::Versions(agent) => versions(run, agent, &state).await,
                Plan::Form(agent) => Reply::show(
                    Says::Form,
                    shown::form(agent, state.lang),
                    Step::Manifest { agent: agent.id.clone() },
                ),
                Plan::Check(agent, draft) => check(run, agent, draft, &state, Says::Preview).await,
                Plan::Publish(agent, preview) => {
                    publish(run, &thread, agent, preview, &state).await
                }
            },
            Err(error) => unavailable(&error, &state),
        };
        answer(run, reply, state.lang).await
    }
}

/// Keeps what a card sent as something that its user said.
async fn keep(run: &Run, submit: &Submit, lang: Locale) -> Result<String, Stopped> {
    let text = match submit {
        Submit::Manifest { manifest, .. } => manifest.clone(),
        Submit::Confirm { .. } => lang.pick("Confirm", "确认").to_owned(),
        Submit::Cancel => lang.pick("Cancel", "取消").to_owned(),
    };
    let id = uuid::Uuid::now_v7().to_string();
    let beside = Beside { message_id: id.clone(), from_client: true, ..Beside::default() };
    run.say("user", text, None, beside).await?;
    Ok(id)
}

/// Gives what the person said last, unless it was answered: a confirmation counts only for what was
/// shown before it.
fn said<'s>(run: &'s Run, thread: &'s Thread, answered: Option<usize>) -> Said<'s> {
    let last = run.input.messages.iter().rev().find(|message| message.role == "user");
    let found = last.and_then(|last| Some((last.id.as_str(), thread.said(&last.id)?)));
    match found {
        Some((message, (at, text))) if answered.is_none_or(|answered| at > answered) => {
            Said::Text { message, text }
        }
        _ => Said::Nothing,
    }
}

async fn own(run: &Run) -> Result<Vec<Agent>, RegistryError> {
    let owner = Some(run.caller.user.clone());
    let query = AgentQuery { owner, after: None, limit: None };
    Ok(run.app.agents.registry().agents(query).await?)
}

fn unavailable(error: &RegistryError, state: &State) -> Reply {
    tracing::error!(%error, "the system agent could not use the registry");
    Reply::say(Says::Unavailable, state.step.clone())
}

async fn versions(run: &Run, agent: &Agent, state: &State) -> Reply {
    let most = u64::try_from(MOST_TOLD).unwrap_or(u64::MAX);
    let page = Page { after: agent.version.saturating_sub(most), limit: Some(MOST_TOLD) };
    match run.app.agents.registry().versions(&agent.id, page).await {
        Ok(heads) => {
            let show = shown::versions(agent, &heads, state.lang);
            Reply::show(Says::Versions, show, state.step.clone())
        }
        Err(error) => unavailable(&error.into(), state),
    }
}

/// Checks a manifest and shows what publishing it would come to.
async fn check(run: &Run, agent: &Agent, draft: Draft<'_>, state: &State, says: Says) -> Reply {
    let body = draft.text.as_bytes().to_vec();
    let sha256 = canonical::hash_bytes(&body);
    let previewed = match run.app.agents.preview(&agent.id, body, None).await {
        Ok(previewed) => previewed,
        Err(error) => return refused(agent, &error, state),
    };
    if previewed.base > 0 && agent.hash.as_ref() == Some(&previewed.hash) {
        let show = shown::preview(agent, &previewed, None, state.lang);
        return Reply::show(Says::Same, show, Step::Nothing);
    }
    let id = fresh_call_id();
    let step = Step::Confirmation(Preview {
        id: id.to_string(),
        agent: agent.id.clone(),
        base: previewed.base,
        message: draft.message.to_owned(),
        sha256,
    });
    let show = shown::preview(agent, &previewed, Some(id.as_str()), state.lang);
    Reply { says, show: Some(show), id, step }
}

/// Says why a manifest cannot be used; another one is awaited.
fn refused(agent: &Agent, error: &RegistryError, state: &State) -> Reply {
    let diagnostics = match error {
        RegistryError::Invalid(diagnostics) => diagnostics.as_slice(),
        RegistryError::TooLarge { .. } => &[],
        RegistryError::UnknownAgent => return Reply::say(Says::Which, Step::Nothing),
        _ => return unavailable(error, state),
    };
    let failure = Failure::new(error.code(), error.to_string());
    let show = shown::refused(agent, failure, diagnostics, state.lang);
    Reply::show(Says::Refused, show, Step::Manifest { agent: agent.id.clone() })
}

/// Publishes what was previewed, if it is still what it was.
async fn publish(
    run: &Run,
    thread: &Thread,
    agent: &Agent,
    preview: Preview,
    state: &State,
) -> Reply {
    let Some(text) = drafted(thread, &preview) else {
        let step = Step::Manifest { agent: agent.id.clone() };
        return Reply::say(Says::OldPreview, step);
    };
    let patch = Patch {
        agent: agent.id.clone(),
        body: text.as_bytes().to_vec(),
        format: None,
        if_match: Some(preview.base),
        // A run that broke off after this point may be made again.
        key: Some(format!("system-{}", preview.id)),
    };
    match run.app.agents.publish(patch).await {
        Ok(published) => {
            let changes = &published.changes;
            let says = match changes.is_breaking() || changes.asks_consent() {
                true => Says::PublishedToReview,
                false => Says::Published,
            };
            Reply::show(says, shown::published(agent, &published, state.lang), Step::Nothing)
        }
        Err(RegistryError::Conflict { .. }) => {
            let draft = Draft { message: &preview.message, text };
            check(run, agent, draft, state, Says::Stale).await
        }
        Err(error) => refused(agent, &error, state),
    }
}

/// Finds the very bytes that were previewed.
fn drafted<'t>(thread: &'t Thread, preview: &Preview) -> Option<&'t str> {
    let (_, text) = thread.said(&preview.message)?;
    let is = |text: &&str| canonical::hash_bytes(text.as_bytes()) == preview.sha256;
    let within = super::hear::draft(text).and_then(|at| text.get(at));
    Some(text).filter(is).or_else(|| within.filter(is))
}

/// Records a reply: what is said, and what is shown as the answer of a call that it makes itself.
async fn answer(run: &Run, reply: Reply, lang: Locale) -> Result<(), Stopped> {
    let Reply { says, show, id, step } = reply;
    let text = sentence(says, lang).to_owned();
    let state = Some(State { lang, step });
    let Some(Show { ask, outcome, hints }) = show else {
        let beside = Beside { system: state, ..Beside::default() };
        return Ok(run.say("assistant", text, None, beside).await?);
    };
    let call =
        Called { id: id.to_string(), name: TOOL.to_owned(), arguments: ask.args().to_string() };
    let beside = Beside { tool_calls: vec![call], ..Beside::default() };
    run.say("assistant", text, None, beside).await?;
    let output = ToolAgentOutput::shown(id.as_str(), &ask, &outcome, hints);
    let content = output.response().content;
    let beside = Beside { tool_agent_output: Some(output), system: state, ..Beside::default() };
    Ok(run.say("tool", content, Some(id), beside).await?)
}
