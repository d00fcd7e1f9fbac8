//! Where traces go: the variables that OpenTelemetry defines, or `telemetry` in the operator's file.

use remit_manifest::shape::{FILLED, Field, Record, Shape, Unknown};
use remit_model::Node;

use super::policy::text;

/// Is the table of this part of the file.
pub(super) static TELEMETRY: Record = Record {
    what: "where traces go",
    unknown: Unknown::Error,
    fields: &[
        Field::required(
            "endpoint",
            Shape::Text(&FILLED),
            "The collector, as `http://localhost:4318`; the variables of OpenTelemetry count more.",
        ),
        Field::default(
            "service_name",
            Shape::Text(&FILLED),
            "\"remit\"",
            "The server's name there.",
        ),
    ],
};

/// Says where traces go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Telemetry {
    /// The address; none means that the environment says, and the exporter reads it there.
    pub(crate) endpoint: Option<String>,
    /// The server's name; none means that the environment says.
    pub(crate) service_name: Option<String>,
}

/// Reads this part of the file.
pub(super) fn lower(root: &Node) -> Option<Telemetry> {
    let part = root.get("telemetry")?;
    let base = text(part, "endpoint")?.trim_end_matches('/');
    Some(Telemetry {
        endpoint: Some(format!("{base}/v1/traces")),
        service_name: text(part, "service_name").map(str::to_owned),
    })
}

/// Says where traces go, by the environment and then by the file. None means nowhere.
pub(crate) fn settled(file: Option<Telemetry>) -> Result<Option<Telemetry>, String> {
    settle(file, |name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}

fn settle(
    file: Option<Telemetry>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Telemetry>, String> {
    let says = |name: &str, word: &str| {
        variable(name).is_some_and(|value| value.eq_ignore_ascii_case(word))
    };
    if says("OTEL_SDK_DISABLED", "true") || says("OTEL_TRACES_EXPORTER", "none") {
        return Ok(None);
    }
    let endpoints = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    let is_named = endpoints.iter().any(|name| variable(name).is_some());
    let mut telemetry = match file {
        _ if is_named => Telemetry { endpoint: None, service_name: None },
        Some(file) => file,
        None => return Ok(None),
    };
    if variable("OTEL_SERVICE_NAME").is_some() {
        telemetry.service_name = None;
    } else if telemetry.service_name.is_none() {
        telemetry.service_name = Some("remit".to_owned());
    }
    for name in ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"] {
        match variable(name) {
            Some(value) if value != "http/protobuf" => {
                return Err(format!(
                    "{name} is `{value}`, and only `http/protobuf` is spoken here; no traces are sent"
                ));
            }
            Some(_) => break,
            None => {}
        }
    }
    Ok(Some(telemetry))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(
        file: Option<&str>,
        variables: &[(&str, &str)],
    ) -> Result<Option<Telemetry>, String> {
        let file = file.map(|name| Telemetry {
            endpoint: Some("http://file/v1/traces".to_owned()),
            service_name: Some(name.to_owned()),
        });
        settle(file, |wanted| {
            let found = variables.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn nothing_is_sent_unless_somebody_says_where_to() {
        assert_eq!(settled(None, &[]), Ok(None));
        assert_eq!(settled(None, &[("OTEL_SERVICE_NAME", "x")]), Ok(None));
        let (on, off) =
            (("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"), ("OTEL_SDK_DISABLED", "true"));
        assert_eq!(settled(Some("f"), &[on, off]), Ok(None));
        assert_eq!(settled(Some("f"), &[on, ("OTEL_TRACES_EXPORTER", "none")]), Ok(None));
    }

    #[test]
    fn the_environment_counts_more_than_the_file() {
        let file = settled(Some("f"), &[]).unwrap().unwrap();
        assert_eq!(file.endpoint.as_deref(), Some("http://file/v1/traces"));
        assert_eq!(file.service_name.as_deref(), Some("f"));
        let named = settled(Some("f"), &[("OTEL_SERVICE_NAME", "x")]).unwrap().unwrap();
        assert_eq!(named.service_name, None, "the exporter reads it");
        let on = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a");
        let both = settled(Some("f"), &[on]).unwrap().unwrap();
        assert_eq!((both.endpoint, both.service_name.as_deref()), (None, Some("remit")));
        let grpc = settled(None, &[on, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).unwrap_err();
        assert!(grpc.contains("`grpc`"), "{grpc}");
        let proto = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf");
        assert!(settled(None, &[on, proto, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).is_ok());
    }
}
