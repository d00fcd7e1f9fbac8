//! The wiring: the only place where the engine meets what it runs on.

pub(crate) mod built_in;
pub(crate) mod pipes;
pub(crate) mod reload;
pub(crate) mod serve;
pub(crate) mod state;

mod stop;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use remit_engine::catalog::Catalog;
use remit_engine::{Engine, Parts};
use remit_exec::process::pool::PoolOptions;
use remit_exec::process::{
    Hear, Launcher, Lent, Options, ProcessExecutor, Sandbox, Spares, Visitors,
};
use remit_model::{Binding, Caller};
use remit_server::Doorway;
use remit_store::sqlite::SqliteStore;

use crate::approve::TerminalApprover;
use crate::clock::SystemClock;
use crate::config::policy::{self, Operator};
use crate::config::{self, settings};
use crate::sources::{Loaded, Loader, Rejected};

/// Makes this binary serve a built-in tool: the argument before the tool's name.
pub(crate) const HANDLER: &str = "serve-built-in-tool";

/// Says where things are; flags that several commands share.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Place {
    /// The tools directory: manifests, and the files they run [default: tools, if there is one]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) tools: Option<PathBuf>,
    /// The directory of tool configurations [default: configs in the tools directory; without one, configs]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) configs: Option<PathBuf>,
    /// The operator's policy [default: remit.yaml, if there is one]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// The directory the record is kept in [default: ~/.local/share/remit]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) data: Option<PathBuf>,
    /// Whether processes run confined
    #[arg(long, value_enum, value_name = "WHEN", global = true)]
    pub(crate) sandbox: Option<SandboxArgument>,
}

/// Says whether processes run confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SandboxArgument {
    /// Confined, or not at all
    Required,
    /// Not confined; every line about such a call says so
    Off,
}

/// Is what can be called, and what cannot, under the operator's policy.
pub(crate) struct Offer {
    pub(crate) operator: Operator,
    pub(crate) loader: Loader,
    pub(crate) catalog: Catalog,
    pub(crate) rejected: Vec<Rejected>,
    /// What of the policy has no effect.
    pub(crate) warnings: Vec<String>,
}

impl Place {
    /// Reads policy, manifests and configuration.
    pub(crate) fn offer(&self) -> Result<Offer, String> {
        let mut operator = match config::policy_file(self.config.as_deref()) {
            Some(file) => policy::load(&file)?,
            None => Operator::default(),
        };
        match self.sandbox {
            Some(SandboxArgument::Off) if operator.sandbox_required => {
                return Err(
                    "the operator's policy says `sandbox: required`, so --sandbox off is refused; change the policy, or leave the flag out"
                        .to_owned(),
                );
            }
            Some(SandboxArgument::Off) => operator.sandbox_off = true,
            Some(SandboxArgument::Required) => operator.sandbox_off = false,
            None => {}
        }
        let tools = config::tools_directory(self.tools.as_deref());
        if let Some(tools) = tools.as_deref().filter(|tools| !tools.is_dir()) {
            return Err(format!(
                "there is no directory {}; name one with --tools",
                crate::paths::for_people(tools)
            ));
        }
        // The settings of built-in tools, where there are no others.
        let here = || tools.is_none().then(|| PathBuf::from("configs")).filter(|dir| dir.is_dir());
        let configs = self.configs.clone().or_else(here);
        let mut loader = Loader::new(tools, configs);
        loader.set_egress(operator.egress());
        let Loaded { sources, rejected } = loader.load(&settings::environment);
        let catalog = Catalog::build(sources, Arc::new(operator.policy_with_defaults()));
        let warnings = operator.idle_scopes(&catalog);
        Ok(Offer { operator, loader, catalog, rejected, warnings })
    }

    /// Says how processes are started and what they never reach.
    fn processes(&self, offer: &Offer) -> Result<Options, String> {
        let launcher = own_binary()?;
        let hidden = [
            Some(config::data_directory(self.data.as_deref())?),
            config::policy_file(self.config.as_deref()),
            offer.loader.configs().map(Path::to_owned),
        ];
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let hidden: Vec<PathBuf> = hidden.into_iter().flatten().map(absolute).collect();
        // A tool that made one of the last of these would be heard at the next start.
        let tools = self.tools.clone().unwrap_or_else(|| PathBuf::from("tools"));
        let made = [tools.join("configs"), tools, PathBuf::from("remit.yaml")].map(absolute);
        let guarded = hidden.iter().cloned().chain(made).collect();
        Ok(Options {
            launcher,
            handler: HANDLER.to_owned(),
            sandbox: offer.sandbox(),
            lent: offer.lent(),
            hidden,
            guarded,
            pool: PoolOptions::default(),
            visitors: None,
        })
    }

    /// Puts an executor together for everything in this offer.
    fn executor(&self, offer: &Offer, doorway: &Doorway) -> Result<ProcessExecutor, String> {
        let door = Arc::new(doorway.clone());
        let visitors = Some(Visitors { modules: remit_handlers::method::MODULES, door });
        let options = Options { visitors, ..self.processes(offer)? };
        let launcher = Launcher::new(&options.launcher).with_spares(Spares::Always);
        Ok(ProcessExecutor::new(options).launched_by(launcher))
    }

    /// Gives the flags that name the same place to another process.
    pub(crate) fn flags(&self) -> Vec<OsString> {
        let paths = [
            ("--tools", &self.tools),
            ("--configs", &self.configs),
            ("--config", &self.config),
            ("--data", &self.data),
        ];
        let mut flags = Vec::new();
        for (name, path) in paths {
            if let Some(path) = path {
                flags.extend([OsString::from(name), path.clone().into_os_string()]);
            }
        }
        if let Some(sandbox) = self.sandbox {
            let word = match sandbox {
                SandboxArgument::Required => "required",
                SandboxArgument::Off => "off",
            };
            flags.extend(["--sandbox", word].map(OsString::from));
        }
        flags
    }

    /// Opens the record.
    pub(crate) fn store(&self) -> Result<Arc<SqliteStore>, String> {
        let data = config::data_directory(self.data.as_deref())?;
        SqliteStore::open(&data).map(Arc::new).map_err(|error| error.to_string())
    }

    /// Opens a record that is there: looking for one makes none.
    pub(crate) fn existing_store(&self) -> Result<Arc<SqliteStore>, String> {
        let data = config::data_directory(self.data.as_deref())?;
        if !data.is_dir() {
            return Err(format!(
                "there is no record in {}; `remit call` starts one, --data names another",
                crate::paths::for_people(&data)
            ));
        }
        self.store()
    }

    /// Gives what starts the process of one call.
    pub(crate) fn launcher(&self, hear: Option<Hear>) -> Result<Launcher, String> {
        let launcher = Launcher::new(own_binary()?).with_spares(Spares::Once);
        Ok(match hear {
            Some(hear) => launcher.heard_by(hear),
            None => launcher,
        })
    }

    /// Puts an engine together over this offer.
    pub(crate) fn engine(
        &self,
        offer: Offer,
        asking: TerminalApprover,
        launcher: Launcher,
    ) -> Result<Engine, String> {
        let store = self.store()?;
        let confined = !offer.operator.sandbox_off;
        let clock = Arc::new(SystemClock::new());
        let doorway = Doorway::new(store.clone(), clock.clone());
        let executor = self.executor(&offer, &doorway)?.launched_by(launcher);
        let engine = Engine::new(Parts {
            executor: Arc::new(executor),
            store,
            approver: Arc::new(asking),
            clock,
            probe: stop::probe(),
            offers: None,
            confined,
        });
        engine.swap(offer.catalog);
        Ok(engine)
    }
}

fn own_binary() -> Result<PathBuf, String> {
    std::env::current_exe()
        .map_err(|error| format!("cannot find the binary that starts tools: {error}"))
}

impl Offer {
    fn sandbox(&self) -> Sandbox {
        if self.operator.sandbox_off { Sandbox::Off } else { Sandbox::On }
    }

    /// Begins to start the process that a call will need, so that it is done while the record is
    /// opened and the call written down. Must be called inside a runtime.
    pub(crate) fn prepare(&self, launcher: &Launcher, capability: &str) {
        let Some(entry) = self.catalog.get(capability) else { return };
        let calls_back = entry.source.root.is_none()
            && remit_handlers::method::MODULES.contains(&entry.source.name.as_str());
        if matches!(entry.capability.binding, Binding::Process { .. }) && !calls_back {
            let access = self.catalog.policy().scopes.get(&entry.scope);
            let network = access.is_some_and(|access| access.network);
            launcher.prepare(self.sandbox(), network, self.operator.process_limits());
        }
    }

    /// Gives what the policy lends to processes.
    fn lent(&self) -> Lent {
        let scopes = self.catalog.policy().scopes.clone();
        Lent { limits: self.operator.process_limits(), scopes }
    }
}

/// Says who calls from this terminal.
pub(crate) fn caller(user: Option<&str>, agent: Option<&str>) -> Caller {
    let own = || std::env::var("USER").ok().filter(|name| !name.is_empty());
    let user = user.map(str::to_owned).or_else(own).unwrap_or_else(|| "local".to_owned());
    Caller { user, agent: agent.map(str::to_owned), device: Some("terminal".to_owned()) }
}

/// Makes the runtime that calls run on.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))
}

/// Writes to standard input, which is a socket in a process that calls back.
struct BackOnInput;

impl std::io::Write for BackOnInput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(rustix::io::write(std::io::stdin(), bytes)?)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Serves a built-in tool if this process was started as one.
pub(crate) fn serve_built_in_tool() -> Option<std::process::ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != HANDLER {
        return None;
    }
    let name = arguments.next().unwrap_or_default();
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let served = if remit_handlers::method::MODULES.contains(&name.as_str()) {
        let arguments: Vec<String> = std::iter::once(name).chain(arguments).collect();
        remit_handlers::method::run(&arguments, input, BackOnInput, output)
    } else {
        remit_handlers::serve(&name, input, output)
    };
    Some(match served {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "{error}");
            std::process::ExitCode::FAILURE
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_remit_would_read_is_guarded_before_it_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("mine")).unwrap();
        let place = Place { tools: Some(at("mine")), data: Some(at("data")), ..Place::default() };
        let options = place.processes(&place.offer().unwrap()).unwrap();
        let here = std::env::current_dir().unwrap().join("remit.yaml");
        for path in [at("mine"), at("mine/configs"), at("data"), here] {
            assert!(options.guarded.contains(&path), "{}", path.display());
        }
    }
}
