//! The parts of the standard that we use, in the order in which they are written.

use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Log<'l> {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    pub(super) version: &'static str,
    pub(super) runs: Vec<Run<'l>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run<'l> {
    pub(super) tool: Tool<'l>,
    pub(super) invocations: [Invocation; 1],
    pub(super) original_uri_base_ids: BaseIds,
    pub(super) results: Vec<Finding<'l>>,
    pub(super) column_kind: &'static str,
    pub(super) properties: RunProperties,
}

#[derive(Serialize)]
pub(super) struct Tool<'l> {
    pub(super) driver: Driver<'l>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver<'l> {
    pub(super) name: &'static str,
    pub(super) semantic_version: &'static str,
    pub(super) short_description: Text,
    pub(super) rules: Vec<Descriptor<'l>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor<'l> {
    pub(super) id: &'l str,
    pub(super) name: String,
    pub(super) short_description: Text,
    pub(super) full_description: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) help_uri: Option<&'l str>,
    pub(super) help: Text,
    pub(super) default_configuration: Configuration,
    pub(super) properties: DescriptorProperties,
}

#[derive(Serialize)]
pub(super) struct Configuration {
    pub(super) level: &'static str,
}

#[derive(Serialize)]
pub(super) struct DescriptorProperties {
    pub(super) tags: Vec<String>,
    /// How GitHub ranks a security finding: a number from 0 to 10, as text.
    #[serde(rename = "security-severity")]
    pub(super) security_severity: &'static str,
}

/// A message, also as Markdown if it has that form.
#[derive(Serialize)]
pub(super) struct Text {
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) markdown: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub(super) execution_successful: bool,
    pub(super) tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
pub(super) struct Notification {
    pub(super) level: &'static str,
    pub(super) message: Text,
}

#[derive(Serialize)]
pub(super) struct BaseIds {
    #[serde(rename = "%SRCROOT%")]
    pub(super) root: BaseId,
}

#[derive(Serialize)]
pub(super) struct BaseId {
    pub(super) description: Text,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunProperties {
    pub(super) score: Option<u8>,
    pub(super) grade: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_graded: Option<String>,
    pub(super) files: usize,
    pub(super) functions: usize,
    pub(super) handlers: usize,
    pub(super) followed: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Finding<'l> {
    pub(super) rule_id: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule_index: Option<usize>,
    pub(super) level: &'static str,
    pub(super) message: Text,
    pub(super) locations: [Location; 1],
    pub(super) partial_fingerprints: Fingerprints<'l>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) code_flows: Vec<CodeFlow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_locations: Vec<Location>,
    pub(super) properties: FindingProperties<'l>,
}

#[derive(Serialize)]
pub(super) struct Fingerprints<'l> {
    #[serde(rename = "interlock/v1")]
    pub(super) ours: &'l str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<usize>,
    pub(super) physical_location: Physical,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) logical_locations: Vec<Logical>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Text>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Physical {
    pub(super) artifact_location: Artifact,
    pub(super) region: Region,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Artifact {
    pub(super) uri: String,
    pub(super) uri_base_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) start_line: u32,
    pub(super) end_line: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Logical {
    pub(super) fully_qualified_name: String,
    pub(super) kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeFlow {
    pub(super) message: Text,
    pub(super) thread_flows: Vec<ThreadFlow>,
}

#[derive(Serialize)]
pub(super) struct ThreadFlow {
    pub(super) id: String,
    pub(super) message: Text,
    pub(super) locations: Vec<Step>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Step {
    pub(super) location: Location,
    pub(super) execution_order: usize,
    pub(super) importance: &'static str,
}

#[derive(Serialize)]
pub(super) struct FindingProperties<'l> {
    pub(super) severity: &'static str,
    pub(super) confidence: &'static str,
    pub(super) reach: &'static str,
    pub(super) function: &'l str,
    pub(super) tools: &'l [String],
    pub(super) remedy: &'l str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) hardening: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) proof: Option<Proof<'l>>,
}

#[derive(Serialize)]
pub(super) struct Proof<'l> {
    pub(super) verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replay: Option<&'l str>,
}

impl Text {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), markdown: None }
    }
}
