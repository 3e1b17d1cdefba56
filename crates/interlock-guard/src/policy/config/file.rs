//! The tables of a `guard.toml` as they are written. The comments are what the JSON Schema and the errors say of a key.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::value::{At, Count, Digest, IdempotencyText, ModeText, RateText, Size, Time, Words};

/// What the guard does, for whom, and in front of which servers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "guard.toml")]
pub(super) struct File {
    /// "observe" decides and writes down, but refuses and delays nothing; what a rule says of itself counts more. Default "enforce".
    pub(super) mode: Option<At<ModeText>>,
    /// A `.mcp.json` whose servers stand behind the guard, too; relative to this file.
    pub(super) import: Option<At<String>>,
    /// Where locks, limits, versions and idempotency keys are kept.
    pub(super) state: StateTable,
    /// How clients reach the guard.
    pub(super) listen: ListenTable,
    /// Where health, metrics and the live page are.
    pub(super) admin: AdminTable,
    /// What is written down of every call.
    pub(super) audit: AuditTable,
    /// Who is let in, and by which name.
    pub(super) identity: IdentityTable,
    /// What holds for every tool that no rule says otherwise of.
    pub(super) defaults: DefaultsTable,
    /// What clients may ask for besides tools.
    pub(super) requests: RequestsTable,
    /// A server behind the guard.
    pub(super) upstream: Vec<At<UpstreamTable>>,
    /// A rule for the tools of some patterns. Later rules add to and override earlier ones, key by key.
    pub(super) tool: Vec<At<ToolTable>>,
}

/// What clients may ask for besides tools.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct RequestsTable {
    /// The methods that are refused, with `*` for any run of characters: "resources/read", "prompts/*". What greets, and what is about tools, is
    /// not refused here: for tools there is `deny` in `[[tool]]`. Default: none.
    pub(super) deny: Option<At<Words>>,
}

/// Where locks, limits, versions and idempotency keys are kept.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct StateTable {
    /// "memory:", "sqlite:PATH", "redis://…" or "postgres://…". Default "memory:".
    pub(super) url: Option<At<String>>,
    /// What keeps the state of this guard and its replicas apart from that of others in the same place: 1 to 63 letters, digits, `_` and `-`.
    /// Default: "guard-" and the name of the first upstream.
    pub(super) namespace: Option<At<String>>,
    /// Whether the guard starts only where what was granted outlives a restart of the store ("kept"), or anywhere ("none"). Default "kept".
    pub(super) durability: Option<DurabilityText>,
}

/// What outlives a restart of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum DurabilityText {
    Kept,
    None,
}

/// How clients reach the guard.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct ListenTable {
    /// "stdio", or an address such as "127.0.0.1:8080". Default "stdio".
    pub(super) at: Option<At<String>>,
    /// The path of the MCP endpoint. Default "/mcp".
    pub(super) path: Option<At<String>>,
    /// The certificates of a listener with TLS.
    pub(super) tls: Option<At<TlsTable>>,
    /// The origins whose pages may call, such as "https://app.example"; requests without an origin always may. Default: those of this machine.
    pub(super) origins: Option<At<Words>>,
    /// A secret that replicas share, of 32 characters or more: then sessions go on at another one. Write "${NAME}", and keep it in the environment.
    /// Default: none, and a session is known to the replica that opened it.
    pub(super) session_key: Option<At<String>>,
    /// The largest body of a request. Default "4MB".
    pub(super) body: Option<At<Size>>,
    /// How many requests may be under way at once, over all callers. Default 10000.
    pub(super) requests: Option<At<u32>>,
    /// How many connections may be open at once. Default 4096.
    pub(super) connections: Option<At<u32>>,
    /// How many connections of one address may be open with no request under way; of more, the one that has waited longest is closed. Default:
    /// a quarter of `connections`.
    pub(super) idle_per_address: Option<At<u32>>,
    /// How long a client may take for a TLS handshake, for a request's head, for its body, and to take in what is sent to it. Default "30s".
    pub(super) slow: Option<At<Time>>,
    /// After how long without a word from its client a session is over; one with a call under way or an open stream never is. Default "30min".
    pub(super) idle: Option<At<Time>>,
}

/// The certificates of a listener with TLS.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct TlsTable {
    /// The file with the certificate chain, in PEM.
    pub(super) cert: At<String>,
    /// The file with the private key, in PEM.
    pub(super) key: At<String>,
    /// The file with the authorities that client certificates are checked against, in PEM.
    pub(super) client_ca: Option<At<String>>,
}

/// Where health, metrics and the live page are.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct AdminTable {
    /// An address such as "127.0.0.1:9090". Default: none.
    pub(super) listen: Option<At<String>>,
}

/// What is written down of every call.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct AuditTable {
    /// The file that lines of JSON are added to. Default: none.
    pub(super) path: Option<At<String>>,
    /// Whether arguments are written down, too. Default false.
    pub(super) arguments: Option<bool>,
}

/// Who is let in, and by which name.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct IdentityTable {
    /// Whether somebody whom nothing verifies is turned away. Default true where any way to verify is set.
    pub(super) required: Option<At<bool>>,
    /// Which part of a client's certificate is its name: "subject" or "common-name". Needs `client_ca` in [listen.tls].
    pub(super) mtls: Option<At<MtlsText>>,
    /// Signed tokens, sent as `Authorization: Bearer`.
    pub(super) jwt: Option<At<JwtTable>>,
    /// A key that somebody was given, sent as `Authorization: Bearer` or `X-API-Key`.
    pub(super) api_key: Vec<At<ApiKeyTable>>,
}

/// Which part of a client's certificate is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub(super) enum MtlsText {
    Subject,
    CommonName,
}

/// Signed tokens, sent as `Authorization: Bearer`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct JwtTable {
    /// The file with the key that tokens are checked with: a public key in PEM, or the shared secret of HS256.
    pub(super) key: Option<At<String>>,
    /// The key set that tokens are checked with: a URL, or a file.
    pub(super) jwks: Option<At<String>>,
    /// How often a key set is fetched again. Default "5min".
    pub(super) refresh: Option<At<Time>>,
    /// Who must have issued a token: its `iss`.
    pub(super) issuer: At<String>,
    /// For whom a token must be, one or several: its `aud`.
    pub(super) audience: At<Words>,
    /// The algorithms that are accepted, out of "RS256", "ES256", "EdDSA" and "HS256".
    pub(super) algorithms: At<Words>,
    /// How far clocks may be apart. Default "60s".
    pub(super) leeway: Option<At<Time>>,
    /// Where clients learn how to get a token: the URL of the protected resource's metadata, told in `WWW-Authenticate`.
    pub(super) resource_metadata: Option<At<String>>,
    /// The URL by which clients reach this guard, "https://guard.example/mcp": then it serves the protected resource's metadata itself (RFC 9728).
    pub(super) resource: Option<At<String>>,
    /// With `resource`: who gives out tokens for it, one or several. Default: `issuer`.
    pub(super) authorization_servers: Option<At<Words>>,
}

/// A key that somebody was given, sent as `Authorization: Bearer` or `X-API-Key`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct ApiKeyTable {
    /// Whose it is: the caller is `key:NAME`.
    pub(super) name: At<String>,
    /// The SHA-256 of the key, in hexadecimal digits.
    pub(super) sha256: Option<At<Digest>>,
    /// The environment variable that has the key itself.
    pub(super) env: Option<At<String>>,
}

/// What holds for every tool that no rule says otherwise of.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct DefaultsTable {
    /// How long a call waits for its turn. Default "30s".
    pub(super) wait: Option<At<Time>>,
    /// How many calls of one caller may stand in one line. Default 1000.
    pub(super) queue: Option<At<u32>>,
    /// How many calls may stand in all lines together; those of one caller are a quarter of it at most. Default 100000.
    pub(super) waiting: Option<At<u32>>,
    /// After which a call's outcome is unknown. Default "5min".
    pub(super) timeout: Option<At<Time>>,
    /// How much longer than its timeout what a call holds is held. Default "30s".
    pub(super) grace: Option<At<Time>>,
    /// How long a call may go on while its upstream lives; then what it held is free. Default "15min".
    pub(super) longest: Option<At<Time>>,
    /// The same for a task that goes on after its call. Default "24h".
    pub(super) longest_task: Option<At<Time>>,
    /// How long answers to repeat, versions and what readers have seen are remembered. Default "24h".
    pub(super) keep: Option<At<Time>>,
    /// How long closing waits for the calls in flight. Default "30s".
    pub(super) close: Option<At<Time>>,
    /// When the store is away: "refuse" what may change something, or "pass" everything. Default "refuse".
    pub(super) store_away: Option<StoreAwayText>,
}

/// What happens to calls when the store is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum StoreAwayText {
    Refuse,
    Pass,
}

/// A server behind the guard.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpstreamTable {
    /// What it is called in logs and metrics, and before the names of its tools.
    pub(super) name: At<String>,
    /// The program and its arguments, as a list; no shell reads it.
    pub(super) command: Option<At<Vec<String>>>,
    /// What is added to the program's environment.
    #[serde(default)]
    pub(super) env: Option<At<BTreeMap<String, String>>>,
    /// The folder that the program runs in; relative to this file. Default: that of the guard.
    pub(super) cwd: Option<At<String>>,
    /// Where it is, for Streamable HTTP.
    pub(super) url: Option<At<String>>,
    /// What is added to every HTTP request.
    pub(super) headers: Option<At<BTreeMap<String, String>>>,
    /// The file with the authorities that its certificate is checked against, in PEM. Default: those of the system.
    pub(super) ca: Option<At<String>>,
    /// Whether the guard does not start without it. Default true.
    pub(super) required: Option<bool>,
    /// What stands before the names of its tools. Default: nothing for one upstream, "NAME_" for each of several.
    pub(super) prefix: Option<At<String>>,
    /// Who shares a process: "one" for everybody, or one "per-session". Default "one".
    pub(super) sharing: Option<At<SharingText>>,
    /// With "per-session": how many processes there may be at once. Default 256.
    pub(super) processes: Option<At<u32>>,
    /// With "per-session": how many of them one caller may have. Default: a quarter of `processes`.
    pub(super) processes_per_caller: Option<At<u32>>,
    /// With "one": how many processes of it run side by side, on HTTP. Locks, keys and limits are the same for all. Default 1.
    pub(super) instances: Option<At<u32>>,
    /// With several `instances`: whether the calls of a session, or of a caller without one, keep to one of them ("sticky"), or each goes to the
    /// one that has the fewest under way ("least-loaded"). Default "sticky".
    pub(super) choose: Option<At<ChooseText>>,
}

/// Which of several processes a call goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub(super) enum ChooseText {
    Sticky,
    LeastLoaded,
}

/// Who shares a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub(super) enum SharingText {
    One,
    PerSession,
}

/// What becomes of a cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum CancelText {
    Hold,
    Pass,
}

/// A rule for the tools of some patterns. Later rules add to and override earlier ones, key by key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolTable {
    /// The tools it is for, one pattern or several: "delete_*". `*` stands for any run of characters.
    #[serde(rename = "match")]
    pub(super) matches: At<Words>,
    /// Only those whose server says `readOnlyHint: true` (true), or only the others (false).
    pub(super) read_only: Option<bool>,
    /// Keys that a call holds alone, such as "order:{args.orderId}". [] takes back what earlier rules say.
    pub(super) lock: Option<At<Words>>,
    /// Keys that a call holds together with others that share them. [] takes back.
    pub(super) lock_shared: Option<At<Words>>,
    /// Keys that a call reads. [] takes back.
    pub(super) observes: Option<At<Words>>,
    /// Keys that a call may change. [] takes back.
    pub(super) changes: Option<At<Words>>,
    /// Keys that must not have changed since the caller last read them. [] takes back.
    pub(super) requires_fresh: Option<At<Words>>,
    /// How often, per caller: "60/min"; "off" takes back.
    pub(super) rate: Option<At<RateText>>,
    /// How many at once, per caller: 10; "off" takes back.
    pub(super) in_flight: Option<At<Count>>,
    /// Where the key of a call that must take effect once comes from: "meta" or "args.NAME"; "off" takes back.
    pub(super) idempotency: Option<At<IdempotencyText>>,
    /// Whether a call that does not say its key is refused, and not run unprotected. Default false.
    pub(super) idempotency_required: Option<bool>,
    /// After which a call's outcome is unknown: "30s".
    pub(super) timeout: Option<At<Time>>,
    /// How long a call waits for its turn: "10s".
    pub(super) wait: Option<At<Time>>,
    /// Whether the server hears of a caller's cancel ("pass"), or what the call holds is held until the server answers ("hold"). Default: "hold"
    /// for calls that have a lock or an idempotency key, or change something; "pass" for others.
    pub(super) cancel: Option<CancelText>,
    /// Whether it may not be called at all, and is not listed.
    pub(super) deny: Option<bool>,
    /// The callers that alone may call it and see it listed: "key:ci", "jwt:*@example.org", "scope:tools.write", "claim:groups=ops". [] takes back.
    pub(super) allow: Option<At<Words>>,
    /// The callers that may not call it, and do not see it listed. [] takes back.
    pub(super) deny_callers: Option<At<Words>>,
    /// Whether what this rule says is carried out ("enforce") or only written down ("observe").
    pub(super) mode: Option<At<ModeText>>,
}
