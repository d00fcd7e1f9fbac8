//! The methods there are, and the way from an input to a result.

use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Code, Failure, shown};
use crate::row::{Loaded, Step};
use crate::{calendar, contacts, memory, schema};

/// Is a method of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// `calendar.read`
    CalendarRead,
    /// `calendar.create`
    CalendarCreate,
    /// `calendar.update`
    CalendarUpdate,
    /// `calendar.delete`
    CalendarDelete,
    /// `calendar.share`
    CalendarShare,
    /// `calendar.accept_invite`
    CalendarAcceptInvite,
    /// `calendar.reject_invite`
    CalendarRejectInvite,
    /// `contacts.read`
    ContactsRead,
    /// `memory.read`
    MemoryRead,
    /// `memory.update`
    MemoryUpdate,
}

impl Action {
    /// Is all of them.
    pub const ALL: [Self; 10] = [
        Self::CalendarRead,
        Self::CalendarCreate,
        Self::CalendarUpdate,
        Self::CalendarDelete,
        Self::CalendarShare,
        Self::CalendarAcceptInvite,
        Self::CalendarRejectInvite,
        Self::ContactsRead,
        Self::MemoryRead,
        Self::MemoryUpdate,
    ];

    /// Gives the name of the module.
    pub fn module(self) -> &'static str {
        match self {
            Self::ContactsRead => "contacts",
            Self::MemoryRead | Self::MemoryUpdate => "memory",
            _ => "calendar",
        }
    }

    /// Gives the name of the method within its module.
    pub fn method(self) -> &'static str {
        match self {
            Self::CalendarRead | Self::ContactsRead | Self::MemoryRead => "read",
            Self::CalendarCreate => "create",
            Self::CalendarUpdate | Self::MemoryUpdate => "update",
            Self::CalendarDelete => "delete",
            Self::CalendarShare => "share",
            Self::CalendarAcceptInvite => "accept_invite",
            Self::CalendarRejectInvite => "reject_invite",
        }
    }

    /// Tells whether it changes anything.
    pub fn writes(self) -> bool {
        !matches!(self, Self::CalendarRead | Self::ContactsRead | Self::MemoryRead)
    }

    /// Finds a method by its names.
    pub fn find(module: &str, method: &str) -> Result<Self, Failure> {
        Self::ALL
            .into_iter()
            .find(|action| action.module() == module && action.method() == method)
            .ok_or_else(|| {
                let known: Vec<String> = Self::ALL
                    .iter()
                    .map(|action| format!("{}.{}", action.module(), action.method()))
                    .collect();
                let message =
                    format!("there is no `{}.{}`; see `actions`", shown(module), shown(method));
                Failure::new(Code::UnknownAction, message).with("actions", known)
            })
    }

    /// Gives the JSON Schema (2020-12) of its input.
    pub fn input_schema(self) -> &'static Value {
        schema::of(self)
    }

    /// Runs it over what was loaded. Nothing happens but what is given back.
    pub fn execute(self, context: &Context, input: &Value, loaded: &Loaded) -> Step {
        if let Err(failure) = schema::check(self, input) {
            return Step::from(Err(failure.into()));
        }
        let result = match self {
            Self::CalendarRead => calendar::read(context, input, loaded),
            Self::CalendarCreate => calendar::create(context, input),
            Self::CalendarUpdate => calendar::update(context, input, loaded),
            Self::CalendarDelete => calendar::delete(context, input, loaded),
            Self::CalendarShare => calendar::share(context, input, loaded),
            Self::CalendarAcceptInvite => calendar::accept(context, input, loaded),
            Self::CalendarRejectInvite => calendar::reject(context, input, loaded),
            Self::ContactsRead => contacts::read(context, input, loaded),
            Self::MemoryRead => memory::read(context, input, loaded),
            Self::MemoryUpdate => memory::update(context, input, loaded),
        };
        Step::from(result)
    }

    /// Gives what a handler prints: `{ok, module, method, data}` or `{ok, module, method, error}`.
    pub fn output(self, outcome: &Result<Value, Failure>) -> Value {
        let (module, method) = (self.module(), self.method());
        match outcome {
            Ok(data) => json!({ "ok": true, "module": module, "method": method, "data": data }),
            Err(failure) => json!({
                "ok": false, "module": module, "method": method,
                "error": failure.json(module, method, Some(self.input_schema())),
            }),
        }
    }
}
