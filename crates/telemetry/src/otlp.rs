//! The OpenTelemetry protocol, in its JSON form: one document per flush, which is a line of a file and the body of a
//! request.

use crate::json;
use crate::metrics::{Number, Point};
use crate::schema::Identity;
use serde_json::{Value, json};

/// Name of the instrumentation that the values come from.
fn instrument() -> Value {
    json!({"name": "softdpu", "version": env!("CARGO_PKG_VERSION")})
}

/// A moment, as the protocol has it: nanoseconds, and 64-bit numbers are texts.
fn nanos(micros: u64) -> String {
    u128::from(micros).saturating_mul(1000).min(u64::MAX.into()).to_string()
}

/// An attribute with a text.
pub(crate) fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// An attribute with a number.
pub(crate) fn int(key: &str, value: i64) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

/// Attributes that say who reports.
fn identity(of: &Identity) -> Vec<Value> {
    let mut attributes = vec![text("service.name", &of.schema), text("service.instance.id", &of.id)];
    if !of.tag.is_empty() {
        attributes.push(text("source.tag", &of.tag));
    }
    attributes
}

/// What a request to `/v1/metrics` carries.
pub(crate) fn metrics(who: &Identity, since: u64, fresh: &[(String, Vec<Point>)]) -> Value {
    let metrics: Vec<Value> = fresh.iter().map(|(name, points)| metric(name, since, points)).collect();
    json!({"resourceMetrics": [{
        "resource": {"attributes": identity(who)},
        "scopeMetrics": [{"scope": instrument(), "metrics": metrics}],
    }]})
}

fn metric(name: &str, since: u64, points: &[Point]) -> Value {
    let values: Vec<Value> = points
        .iter()
        .map(|point| {
            let attributes: Vec<Value> = point.labels.iter().map(|(key, value)| text(key, value)).collect();
            let mut out = json!({"attributes": attributes, "timeUnixNano": nanos(point.micros)});
            match point.value {
                Number::Counter(value) => {
                    out["startTimeUnixNano"] = nanos(since.min(point.micros)).into();
                    // The protocol's whole numbers are signed.
                    out["asInt"] = value.min(i64::MAX as u64).to_string().into();
                }
                Number::Gauge(value) => out["asDouble"] = json::number(value),
            }
            out
        })
        .collect();
    // All points of a metric are of one kind.
    match points.first().map(|point| point.value) {
        Some(Number::Counter(_)) => {
            let cumulative = 2;
            json!({"name": name,
                   "sum": {"dataPoints": values, "aggregationTemporality": cumulative, "isMonotonic": true}})
        }
        _ => json!({"name": name, "gauge": {"dataPoints": values}}),
    }
}

/// An event of a log, ready to be written.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) resource: usize,
    pub(crate) scope: usize,
    pub(crate) record: Value,
}

/// A log record.
pub(crate) fn record(micros: u64, event: &str, severity: &str, attributes: Vec<Value>) -> Value {
    let time = nanos(micros);
    let mut out = json!({"timeUnixNano": time, "observedTimeUnixNano": time, "eventName": event,
                         "attributes": attributes});
    if !severity.is_empty() {
        out["severityText"] = severity.into();
    }
    if let Some(number) = severity_number(severity) {
        out["severityNumber"] = number.into();
    }
    out
}

/// The protocol's number for a usual name of a severity.
fn severity_number(text: &str) -> Option<u32> {
    let same = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(text));
    let table: [(&[&str], u32); 6] = [
        (&["trace"], 1),
        (&["debug"], 5),
        (&["info", "information", "notice"], 9),
        (&["warn", "warning"], 13),
        (&["error"], 17),
        (&["fatal", "critical", "emergency", "alert"], 21),
    ];
    table.iter().find(|(names, _)| same(names)).map(|(_, number)| *number)
}

/// What a request to `/v1/logs` carries. `resources` are attributes, `scopes` names and versions; events are grouped by
/// both, in the order of their first ones.
pub(crate) fn logs(
    who: &Identity,
    resources: &[Vec<Value>],
    scopes: &[(String, String)],
    events: Vec<Event>,
) -> Value {
    /// Records by scope.
    type Scoped = Vec<(usize, Vec<Value>)>;
    let mut groups: Vec<(usize, Scoped)> = Vec::new();
    for event in events {
        let at = groups.iter().position(|(r, _)| *r == event.resource).unwrap_or_else(|| {
            groups.push((event.resource, Vec::new()));
            groups.len() - 1
        });
        let inner = &mut groups[at].1;
        match inner.iter_mut().find(|(s, _)| *s == event.scope) {
            Some((_, records)) => records.push(event.record),
            None => inner.push((event.scope, vec![event.record])),
        }
    }
    let of_scope = |(scope, records): (usize, Vec<Value>)| {
        let (name, version) = scopes.get(scope).cloned().unwrap_or_default();
        json!({"scope": {"name": name, "version": version}, "logRecords": records})
    };
    let of_resource = |(resource, scopes): (usize, Scoped)| {
        // What the program says about a resource goes before what is known of the source.
        let mut attributes = resources.get(resource).cloned().unwrap_or_default();
        let more = identity(who).into_iter().filter(|i| attributes.iter().all(|a| a["key"] != i["key"]));
        let more: Vec<Value> = more.collect();
        attributes.extend(more);
        let scopes: Vec<Value> = scopes.into_iter().map(of_scope).collect();
        json!({"resource": {"attributes": attributes}, "scopeLogs": scopes})
    };
    json!({"resourceLogs": groups.into_iter().map(of_resource).collect::<Vec<_>>()})
}
