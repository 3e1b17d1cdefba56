//! Calls that are to meet, and how they are made to.

use std::time::Duration;

use interlock_model::{CallSet, HazardId, PlannedCall};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::Value;

use crate::proof::value::sorted;

/// The calls of a set with what surrounds them.
#[derive(Serialize, Deserialize)]
pub(in crate::proof) struct Set {
    pub(super) name: String,
    #[serde(default, deserialize_with = "hazard")]
    pub(super) hazard: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) setup: Vec<Call>,
    pub(super) calls: Vec<Call>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) reads: Vec<Call>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<Fault>,
    #[serde(default, skip_serializing_if = "Oracle::is_serial")]
    pub(super) oracle: Oracle,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) invariants: Vec<String>,
}

#[derive(Serialize, Deserialize)]
pub(in crate::proof) struct Call {
    tool: String,
    #[serde(default)]
    arguments: Value,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    meta: Value,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(in crate::proof) enum Fault {
    Kill { after_ns: u64 },
    Close { after_ns: u64 },
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::proof) enum Oracle {
    #[default]
    Serial,
    NoMoreThanSerial,
    Once,
    SomeRefused,
}

/// How calls are made to meet.
#[derive(Serialize, Deserialize)]
pub(in crate::proof) struct Schedule {
    delivery: Delivery,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    offsets_ns: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    perturbation: Option<Perturbation>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Delivery {
    OneWrite,
    Connections,
    LastBytes,
    Http2,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Perturbation {
    SlowFiles { seed: u64 },
    PythonSwitches { seed: u64 },
    NodeOrder { choices: Vec<usize> },
    HeldWindow { windows: Vec<Window> },
}

#[derive(Serialize, Deserialize)]
struct Window {
    file: String,
    first: u32,
    last: u32,
}

/// A time in whole nanoseconds; more than five centuries are five centuries.
pub(in crate::proof) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A name that has the form of one.
fn hazard<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    if let Some(name) = &name {
        name.parse::<HazardId>().map_err(D::Error::custom)?;
    }
    Ok(name)
}

impl Oracle {
    fn is_serial(&self) -> bool {
        *self == Self::Serial
    }
}

impl From<&CallSet> for Set {
    fn from(set: &CallSet) -> Self {
        let calls = |calls: &[PlannedCall]| calls.iter().map(Call::from).collect();
        Self {
            name: set.name.clone(),
            hazard: set.hazard.as_ref().map(ToString::to_string),
            setup: calls(&set.setup),
            calls: calls(&set.calls),
            reads: calls(&set.reads),
            fault: match set.fault {
                interlock_model::Fault::None => None,
                interlock_model::Fault::Kill { after } => Some(Fault::Kill { after_ns: nanos(after) }),
                interlock_model::Fault::Close { after } => Some(Fault::Close { after_ns: nanos(after) }),
            },
            oracle: match set.oracle {
                interlock_model::Oracle::Serial => Oracle::Serial,
                interlock_model::Oracle::NoMoreThanSerial => Oracle::NoMoreThanSerial,
                interlock_model::Oracle::Once => Oracle::Once,
                interlock_model::Oracle::SomeRefused => Oracle::SomeRefused,
            },
            invariants: set.invariants.clone(),
        }
    }
}

impl From<Set> for CallSet {
    fn from(set: Set) -> Self {
        let calls = |calls: Vec<Call>| calls.into_iter().map(Into::into).collect();
        Self {
            name: set.name,
            hazard: set.hazard.and_then(|name| name.parse().ok()),
            setup: calls(set.setup),
            calls: calls(set.calls),
            reads: calls(set.reads),
            fault: match set.fault {
                None => interlock_model::Fault::None,
                Some(Fault::Kill { after_ns }) => {
                    interlock_model::Fault::Kill { after: Duration::from_nanos(after_ns) }
                }
                Some(Fault::Close { after_ns }) => {
                    interlock_model::Fault::Close { after: Duration::from_nanos(after_ns) }
                }
            },
            oracle: match set.oracle {
                Oracle::Serial => interlock_model::Oracle::Serial,
                Oracle::NoMoreThanSerial => interlock_model::Oracle::NoMoreThanSerial,
                Oracle::Once => interlock_model::Oracle::Once,
                Oracle::SomeRefused => interlock_model::Oracle::SomeRefused,
            },
            invariants: set.invariants,
        }
    }
}

impl From<&PlannedCall> for Call {
    fn from(call: &PlannedCall) -> Self {
        Self { tool: call.tool.clone(), arguments: sorted(&call.arguments), meta: sorted(&call.meta) }
    }
}

impl From<Call> for PlannedCall {
    fn from(call: Call) -> Self {
        Self { tool: call.tool, arguments: call.arguments, meta: call.meta }
    }
}

impl From<&interlock_model::Schedule> for Schedule {
    fn from(schedule: &interlock_model::Schedule) -> Self {
        Self {
            delivery: match schedule.delivery {
                interlock_model::Delivery::OneWrite => Delivery::OneWrite,
                interlock_model::Delivery::Connections => Delivery::Connections,
                interlock_model::Delivery::LastBytes => Delivery::LastBytes,
                interlock_model::Delivery::Http2 => Delivery::Http2,
            },
            offsets_ns: schedule.offsets.iter().copied().map(nanos).collect(),
            perturbation: match &schedule.perturbation {
                interlock_model::Perturbation::None => None,
                interlock_model::Perturbation::SlowFiles { seed } => {
                    Some(Perturbation::SlowFiles { seed: *seed })
                }
                interlock_model::Perturbation::PythonSwitches { seed } => {
                    Some(Perturbation::PythonSwitches { seed: *seed })
                }
                interlock_model::Perturbation::NodeOrder { choices } => {
                    Some(Perturbation::NodeOrder { choices: choices.clone() })
                }
                interlock_model::Perturbation::HeldWindow { windows } => {
                    let window = |window: &interlock_model::RaceWindow| Window {
                        file: window.file.clone(),
                        first: window.first,
                        last: window.last,
                    };
                    Some(Perturbation::HeldWindow { windows: windows.iter().map(window).collect() })
                }
            },
        }
    }
}

impl From<Schedule> for interlock_model::Schedule {
    fn from(schedule: Schedule) -> Self {
        Self {
            delivery: match schedule.delivery {
                Delivery::OneWrite => interlock_model::Delivery::OneWrite,
                Delivery::Connections => interlock_model::Delivery::Connections,
                Delivery::LastBytes => interlock_model::Delivery::LastBytes,
                Delivery::Http2 => interlock_model::Delivery::Http2,
            },
            offsets: schedule.offsets_ns.into_iter().map(Duration::from_nanos).collect(),
            perturbation: match schedule.perturbation {
                None => interlock_model::Perturbation::None,
                Some(Perturbation::SlowFiles { seed }) => interlock_model::Perturbation::SlowFiles { seed },
                Some(Perturbation::PythonSwitches { seed }) => {
                    interlock_model::Perturbation::PythonSwitches { seed }
                }
                Some(Perturbation::NodeOrder { choices }) => {
                    interlock_model::Perturbation::NodeOrder { choices }
                }
                Some(Perturbation::HeldWindow { windows }) => {
                    let window =
                        |Window { file, first, last }| interlock_model::RaceWindow { file, first, last };
                    interlock_model::Perturbation::HeldWindow {
                        windows: windows.into_iter().map(window).collect(),
                    }
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use interlock_model::{Delivery, Perturbation, RaceWindow, Schedule};

    #[test]
    fn ways_of_meeting_have_the_names_that_the_model_gives_them() {
        for delivery in [Delivery::OneWrite, Delivery::Connections, Delivery::LastBytes, Delivery::Http2] {
            let schedule = Schedule { delivery, ..Schedule::default() };
            let written = serde_json::to_value(super::Schedule::from(&schedule)).unwrap();
            assert_eq!(written["delivery"], delivery.name());
        }
        for perturbation in [
            Perturbation::SlowFiles { seed: u64::MAX },
            Perturbation::PythonSwitches { seed: 1 },
            Perturbation::NodeOrder { choices: vec![0, 2] },
            Perturbation::HeldWindow {
                windows: vec![RaceWindow { file: "a/b.ts".into(), first: 3, last: 5 }],
            },
        ] {
            let name = perturbation.name();
            let schedule = Schedule { perturbation, ..Schedule::default() };
            let written = serde_json::to_value(super::Schedule::from(&schedule)).unwrap();
            assert_eq!(written["perturbation"]["kind"], name);
            let back: super::Schedule = serde_json::from_value(written).unwrap();
            assert_eq!(Schedule::from(back), schedule);
        }
    }
}
