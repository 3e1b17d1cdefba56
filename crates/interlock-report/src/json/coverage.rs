//! How much was understood, as JSON.

use interlock_model::{Location, NotFollowed};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(super) struct Coverage {
    files: usize,
    functions: usize,
    handlers: usize,
    #[serde(default)]
    tools: Vec<Tool>,
    #[serde(default, with = "Sum")]
    not_followed: NotFollowed,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    listed: Option<Listed>,
    notes: Vec<String>,
}

/// What the running server lists.
#[derive(Serialize, Deserialize)]
struct Listed {
    tools: usize,
    missed: Vec<String>,
    unlisted: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Tool {
    name: String,
    followed: bool,
    lost: Vec<Loss>,
}

/// A place at which the way was lost.
#[derive(Serialize, Deserialize)]
pub(crate) struct Loss {
    #[serde(with = "Kind")]
    kind: interlock_model::LossKind,
    file: String,
    line: u32,
    callee: String,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "interlock_model::LossKind", rename_all = "kebab-case")]
enum Kind {
    UnknownLibrary,
    UnresolvedImport,
    UnresolvedReceiver,
    UnknownFunction,
    Alternatives,
    NotInlined,
    Budget,
    OtherProgram,
    UnknownRequest,
    DamagedFile,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "NotFollowed")]
struct Sum {
    unknown_libraries: usize,
    unresolved_imports: usize,
    unresolved_receivers: usize,
    unknown_functions: usize,
    alternatives: usize,
    not_inlined: usize,
    budget: usize,
    #[serde(default)]
    other_programs: usize,
    #[serde(default)]
    unknown_requests: usize,
    unreached: usize,
}

impl From<&interlock_model::Coverage> for Coverage {
    fn from(coverage: &interlock_model::Coverage) -> Self {
        let tool = |tool: &interlock_model::ToolCoverage| Tool {
            name: tool.name.clone(),
            followed: tool.followed,
            lost: tool.lost.iter().map(Loss::from).collect(),
        };
        Self {
            files: coverage.files,
            functions: coverage.functions,
            handlers: coverage.handlers,
            tools: coverage.tools.iter().map(tool).collect(),
            not_followed: coverage.not_followed,
            listed: coverage.listed.clone().map(|interlock_model::Listed { tools, missed, unlisted }| {
                Listed { tools, missed, unlisted }
            }),
            notes: coverage.notes.clone(),
        }
    }
}

impl From<Coverage> for interlock_model::Coverage {
    fn from(coverage: Coverage) -> Self {
        let Coverage { files, functions, handlers, tools, not_followed, listed, notes } = coverage;
        let listed = listed.map(|Listed { tools, missed, unlisted }| interlock_model::Listed {
            tools,
            missed,
            unlisted,
        });
        let tool = |Tool { name, followed, lost }| interlock_model::ToolCoverage {
            name,
            followed,
            lost: lost.into_iter().map(Into::into).collect(),
        };
        let tools = tools.into_iter().map(tool).collect();
        Self { files, functions, handlers, tools, not_followed, listed, notes }
    }
}

impl From<&interlock_model::Loss> for Loss {
    fn from(loss: &interlock_model::Loss) -> Self {
        let Location { file, line, .. } = &loss.location;
        Self { kind: loss.kind, file: file.clone(), line: *line, callee: loss.callee.clone() }
    }
}

impl From<Loss> for interlock_model::Loss {
    fn from(loss: Loss) -> Self {
        let Loss { kind, file, line, callee } = loss;
        Self { location: Location { file, line, end_line: line }, kind, callee, hides: true }
    }
}
