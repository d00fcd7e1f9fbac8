//! The engine's `Executor` over confined processes.
//!
//! Which program runs comes from the manifest, what it may reach from the scope that was authorised,
//! the operator's policy and the tool's settings; nothing from the call itself.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use remit_engine::catalog::{Entry, Settings};
use remit_engine::policy::ScopeAccess;
use remit_engine::ports::{Executor, Pending, Running};
use remit_engine::record;
use remit_engine::stage::Authorised;
use remit_engine::visit::Doorkeeper;
use remit_model::{Answer, Binding, Execution, Failure, Outcome, Runtime};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::known::Known;
use super::lending;
use super::method::{self, Method};
use super::pool::{Key, Pool, PoolOptions};
use super::protocol;
use super::runtime::{Interpreters, Kind};
use super::service::{Service, ServiceOptions};
use super::tail::Hear;
use super::words;
use super::worker::Until;
use super::{Confinement, Launcher, Limits, Plan, Program, Sandbox};

/// Is what the operator settled.
#[derive(Clone, Debug)]
pub struct Options {
    /// The binary that starts processes, which is Remit itself.
    pub launcher: PathBuf,
    /// What makes that binary serve a built-in tool: the argument before the tool's name.
    pub handler: String,
    /// Whether processes are confined.
    pub sandbox: Sandbox,
    /// What the policy lends.
    pub lent: Lent,
    /// What no process may reach: Remit's data, its policy, the configuration of tools.
    pub hidden: Vec<PathBuf>,
    /// What no process may change, so that nothing around it is lent for writing: the same, the tools,
    /// and the places where any of it would be looked for. None of it needs to exist.
    pub guarded: Vec<PathBuf>,
    /// How many processes are kept.
    pub pool: PoolOptions,
    /// Which built-in tools call back, and who lets them.
    pub visitors: Option<Visitors>,
}

/// Is the built-in tools that call back: a process for each call, with a credential for that call.
#[derive(Clone)]
pub struct Visitors {
    /// Their names.
    pub modules: &'static [&'static str],
    /// Who lets them.
    pub door: Arc<dyn Doorkeeper>,
}

impl std::fmt::Debug for Visitors {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Visitors({:?})", self.modules)
    }
}

/// Is what the operator's policy lends to processes. It may change while Remit runs.
#[derive(Clone, Debug, Default)]
pub struct Lent {
    /// How much one process may use.
    pub limits: Limits,
    /// What scopes give.
    pub scopes: BTreeMap<String, ScopeAccess>,
}

/// Runs calls in processes.
pub struct ProcessExecutor {
    options: Options,
    lent: Mutex<Arc<Lent>>,
    launcher: Launcher,
    interpreters: Interpreters,
    pool: OnceLock<Pool>,
    services: Mutex<HashMap<Arc<Key>, Arc<Service>>>,
    known: Known,
    /// Gives turns to those that call back, as the pool does to all others.
    visits: Semaphore,
}

impl ProcessExecutor {
    /// Makes one that has started nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            launcher: Launcher::new(&options.launcher),
            interpreters: Interpreters::default(),
            pool: OnceLock::new(),
            services: Mutex::default(),
            known: Known::default(),
            visits: Semaphore::new(options.pool.most_busy),
            lent: Mutex::new(Arc::new(options.lent.clone())),
            options,
        }
    }

    /// Tells somebody what tools write to standard error.
    #[must_use]
    pub fn heard_by(self, hear: Hear) -> Self {
        Self { launcher: self.launcher.clone().heard_by(hear), ..self }
    }

    /// Starts processes by this one, which may have begun already.
    #[must_use]
    pub fn launched_by(self, launcher: Launcher) -> Self {
        Self { launcher, ..self }
    }

    /// Goes on under another policy: calls that start from now on get what it lends.
    pub fn lend(&self, lent: Lent) {
        *self.lent.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(lent);
    }

    fn lent(&self) -> Arc<Lent> {
        Arc::clone(&self.lent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn end_all(&self) {
        if let Some(pool) = self.pool.get() {
            pool.shutdown().await;
        }
        let services: Vec<_> = self.services().drain().map(|(_, service)| service).collect();
        self.launcher.end_spares().await;
        for service in services {
            // A call may still hold it; dropping the last handle stops it too.
            if let Some(service) = Arc::into_inner(service) {
                service.stop().await;
            }
        }
    }

    fn pool(&self) -> &Pool {
        self.pool.get_or_init(|| Pool::new(self.launcher.clone(), self.options.pool.clone()))
    }

    fn services(&self) -> MutexGuard<'_, HashMap<Arc<Key>, Arc<Service>>> {
        self.services.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running_service(&self, key: &Arc<Key>) -> Option<Arc<Service>> {
        self.services().get(key).cloned()
    }

    fn service(&self, key: &Arc<Key>) -> Arc<Service> {
        let mut services = self.services();
        let start = || {
            Arc::new(Service::start(
                self.launcher.clone(),
                key.plan.clone(),
                ServiceOptions::default(),
            ))
        };
        // One that was started under other settings or another policy ends with its last call.
        services.retain(|other, _| other == key || other.plan.program != key.plan.program);
        Arc::clone(services.entry(Arc::clone(key)).or_insert_with(start))
    }

    /// Finds who lets it call back, if it is one that does.
    fn door(&self, entry: &Entry) -> Option<&Arc<dyn Doorkeeper>> {
        let visitors = self.options.visitors.as_ref().filter(|_| entry.source.root.is_none())?;
        visitors.modules.contains(&entry.source.name.as_str()).then_some(&visitors.door)
    }

    /// Runs a method that calls back.
    async fn visit(
        &self,
        call: &Authorised,
        door: &Arc<dyn Doorkeeper>,
        running: &Running,
    ) -> Result<Outcome, Failure> {
        let (entry, settings) = (call.entry(), settings(call.entry())?);
        let name = &entry.capability.name;
        let (module, name) = name.split_once('.').unwrap_or((name, ""));
        let mut program = self.built_in(entry);
        program.args.push(name.to_owned());
        if let Some(Value::String(zone)) = settings.values.get("time_zone") {
            program.args.push(format!("--time-zone={zone}"));
        }
        let confinement = self.confinement(entry, settings, &self.lent())?;
        let plan = Plan { program, confinement, sandbox: self.options.sandbox };
        let called_off = || Failure::new("CANCELLED", "the call was called off");
        let _turn = tokio::select! {
            turn = self.visits.acquire() => turn.map_err(|_| called_off())?,
            () = running.cancel.cancelled() => return Err(called_off()),
        };
        let visit = door.admit(call, running.timeout)?;
        let method = Method { module, name, input: &call.call().input };
        let deadline = Instant::now() + running.timeout + SLACK;
        let until = Until { deadline, cancel: &running.cancel };
        method::run(&self.launcher, &plan, visit, &method, until).await.map_err(|error| {
            words::failure(&error, Runtime::Native, |said| words::shown(said, entry, settings))
        })
    }

    async fn run(&self, call: &Authorised, running: Running) -> Result<Answered, Failure> {
        let entry = call.entry();
        let Binding::Process { runtime, execution, entry: file, command } =
            &entry.capability.binding
        else {
            return Err(Failure::new("NOT_A_PROCESS", "this capability does not run as a process"));
        };
        let settings = settings(entry)?;
        let values = Value::Object(settings.values.clone());
        let request = protocol::Request {
            command,
            parameters: &call.call().input,
            settings: &values,
            call_id: call.call().id.as_str(),
            timeout: running.timeout,
        };
        let deadline = Instant::now() + running.timeout + SLACK;
        let until = Until { deadline, cancel: &running.cancel };
        let progress = |said: protocol::Progress| {
            (running.progress)(record::Progress {
                fraction: Some(said.fraction),
                message: said.message.map(|text| settings.redactor.text(&text)),
            });
        };
        // A service is one process for everybody.
        let is_service = *execution == Execution::Service;
        let user = if is_service { "" } else { call.call().caller.user.as_str() };
        let lent = self.lent();
        let answer = 'answer: {
            if let Some(key) = self.known.find(entry, user, &lent) {
                let warm = if !is_service {
                    self.pool().call_warm(&key, &request, until, &progress).await
                } else if let Some(service) = self.running_service(&key) {
                    Some(service.call(&request, until, &progress).await)
                } else {
                    None
                };
                if let Some(answer) = warm {
                    break 'answer answer;
                }
            }
            let key = self.key(entry, (*runtime, file), settings, (user, lent)).await?;
            if is_service {
                self.service(&key).call(&request, until, &progress).await
            } else {
                self.pool().call(&key, &request, until, &progress).await
            }
        };
        answer.map(Answered).map_err(|error| {
            // A service speaks of everybody's calls, so what it said is not for one caller.
            words::failure(&error, *runtime, |said| {
                (!is_service).then(|| words::shown(said, entry, settings)).flatten()
            })
        })
    }

    /// Works out which process a call needs.
    async fn key(
        &self,
        entry: &Entry,
        (runtime, file): (Runtime, &str),
        settings: &Settings,
        (user, lent): (&str, Arc<Lent>),
    ) -> Result<Arc<Key>, Failure> {
        let since = Instant::now();
        let program = self.program(entry, runtime, file).await?;
        let confinement = self.confinement(entry, settings, &lent)?;
        let key = Arc::new(Key {
            plan: Plan { program, confinement, sandbox: self.options.sandbox },
            settings: settings.fingerprint.clone(),
            user: user.to_owned(),
        });
        self.known.keep(entry, user, lent, Arc::clone(&key), since);
        Ok(key)
    }

    /// Gives what is built in, which is this binary.
    fn built_in(&self, entry: &Entry) -> Program {
        Program {
            path: self.options.launcher.clone(),
            args: vec![self.options.handler.clone(), entry.source.name.clone()],
            roots: Vec::new(),
            directory: PathBuf::from("/"),
        }
    }

    async fn program(
        &self,
        entry: &Entry,
        runtime: Runtime,
        file: &str,
    ) -> Result<Program, Failure> {
        let Some(root) = &entry.source.root else {
            return Ok(self.built_in(entry));
        };
        let kind = match runtime {
            Runtime::Python => Kind::Python,
            Runtime::Javascript => Kind::JavaScript,
            Runtime::Native => Kind::Native,
        };
        let program = self
            .interpreters
            .program(kind, root, Path::new(entry_below(root, file)))
            .await
            .map_err(|why| Failure::new("TOOL_NOT_STARTED", why.to_string()))?;
        lending::is_no_setting(&self.options.hidden, root, &program.directory)
            .map_err(|why| Failure::new("TOOL_NOT_STARTED", why.to_string()))?;
        Ok(program)
    }

    /// Works out what a process may reach, anew for every one that is started: the policy may have
    /// changed, and so may what its names lead to.
    fn confinement(
        &self,
        entry: &Entry,
        settings: &Settings,
        lent: &Lent,
    ) -> Result<Confinement, Failure> {
        lending::confinement(&self.options, lent, &entry.scope, directories(settings))
            .map_err(|why| Failure::new("NOT_CONFIGURED", why.to_string()))
    }
}

fn settings(entry: &Entry) -> Result<&Settings, Failure> {
    entry
        .source
        .settings
        .as_ref()
        .map_err(|why| Failure::new("NOT_CONFIGURED", format!("the tool is not configured: {why}")))
}

/// How much longer the worker may go on than the engine waits: the engine's own timer decides.
const SLACK: Duration = Duration::from_secs(2);

/// Is a worker's answer, not yet an outcome.
struct Answered(protocol::Answer);

/// Gives an entry as a path below the tools directory. Manifests in S2's layout name that directory
/// itself too (`tools/implementations/x.py`).
#[must_use]
pub fn entry_below<'f>(root: &Path, file: &'f str) -> &'f str {
    if root.join(file).exists() {
        return file;
    }
    let own = root.file_name().and_then(|name| name.to_str());
    let rest = own.and_then(|own| file.strip_prefix(own)?.strip_prefix('/'));
    rest.filter(|rest| root.join(rest).exists()).unwrap_or(file)
}

/// Reads `allowed_directories`: a list, or one text with commas.
fn directories(settings: &Settings) -> Vec<PathBuf> {
    match settings.values.get("allowed_directories") {
        Some(Value::String(text)) => text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(PathBuf::from)
            .collect(),
        Some(Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).map(PathBuf::from).collect()
        }
        _ => Vec::new(),
    }
}

impl Executor for ProcessExecutor {
    fn shut_down(&self) -> Pending<'_, ()> {
        Box::pin(self.end_all())
    }

    fn execute<'a>(&'a self, call: &'a Authorised, running: Running) -> Pending<'a, Outcome> {
        Box::pin(async move {
            if let Some(door) = self.door(call.entry()) {
                return self.visit(call, door, &running).await.unwrap_or_else(Outcome::Failed);
            }
            match self.run(call, running).await {
                Err(failure) => Outcome::Failed(failure),
                Ok(Answered(answer)) => match answer.outcome {
                    Err(failed) => Outcome::Failed(Failure::new(&failed.code, failed.message)),
                    Ok(result) => {
                        let whole =
                            Answer { result, message: answer.message, base64: answer.base64 };
                        if answer.partial {
                            Outcome::Partial(whole)
                        } else {
                            Outcome::Succeeded(whole)
                        }
                    }
                },
            }
        })
    }
}
