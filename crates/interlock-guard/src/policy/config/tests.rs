//! Configurations that are right, and what is said of those that are not.

use std::{collections::BTreeMap, path::Path, time::Duration};

use expect_test::{Expect, expect};
use interlock_model::{IdempotencyKey, Mode};
use interlock_sync::store::Quota;

use super::{
    super::{Choose, Environment, Processes, Reach, Sharing, UpstreamConfig},
    *,
};

fn environment() -> Environment {
    [("TOKEN", "s3cret"), ("AGENT_KEY", "a-key-that-is-long-enough"), ("SHORT", "short")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into_iter()
        .collect()
}

fn parse(text: &str) -> Config {
    Config::parse("guard.toml", text, Some(Path::new("/etc/guard")), &environment()).unwrap()
}

fn refused(text: &str, expect: Expect) {
    let broken = Config::parse("guard.toml", text, None, &environment()).unwrap_err();
    expect.assert_eq(&broken.to_string());
}

#[test]
fn an_empty_file_is_all_defaults() {
    assert_eq!(parse(""), Config::default());
}

#[test]
fn the_policy_of_the_design_reads_as_it_is_meant() {
    let config = parse(
        r#"
        [state]
        url = "memory:"
        [[upstream]]
        name = "memory"
        command = ["node", "server-memory/dist/index.js"]
        [[tool]]
        match = "*"
        lock = "graph"
        changes = "graph"
        in_flight = 10
        rate = "60/min"
        [[tool]]
        match = ["read_graph", "search_nodes", "open_nodes"]
        lock = []
        lock_shared = "graph"
        observes = "graph"
        changes = []
        [[tool]]
        match = "delete_*"
        requires_fresh = "graph"
        "#,
    );
    assert_eq!(config.rules.iter().map(|rule| rule.line.unwrap()).collect::<Vec<_>>(), [8, 14, 20]);
    let upstream = &config.upstreams[0];
    assert_eq!(
        (upstream.name.as_str(), upstream.prefix.as_str(), upstream.is_required),
        ("memory", "", true)
    );
    let rules = super::super::Rules::of_config(&config);
    let reader = rules.of("read_graph", false);
    assert_eq!((&reader.lock, &reader.changes), (&None, &None));
    assert_eq!(reader.lock_shared.as_ref().unwrap().value[0].to_string(), "graph");
    assert_eq!(&*reader.rate.as_ref().unwrap().rule, "*");
    assert!(reader.passes_without_store);
    let deletes = rules.of("delete_entities", false);
    assert_eq!(deletes.rate.as_ref().unwrap().value, Quota::bucket(60, Duration::from_secs(60)).unwrap());
    assert_eq!(deletes.in_flight.as_ref().unwrap().value.get(), 10);
    assert_eq!(&*deletes.requires_fresh.as_ref().unwrap().rule, "delete_*");
    assert_eq!(&*deletes.lock.as_ref().unwrap().rule, "*");
    assert!(!deletes.passes_without_store);
}

#[test]
fn methods_are_denied_by_pattern_and_those_of_tools_belong_elsewhere() {
    let config = parse("[requests]\ndeny = [\"resources/read\", \"prompts/*\"]\n");
    let rules = super::super::Rules::of_config(&config);
    for (method, is_denied) in [
        ("resources/read", true),
        ("prompts/get", true),
        ("resources/list", false),
        ("completion/complete", false),
    ] {
        assert_eq!(rules.denies_request(method), is_denied.then_some(Mode::Enforce), "{method}");
    }
    rules.replace(&parse("mode = \"observe\"\n[requests]\ndeny = \"*\"\n"));
    assert_eq!(rules.denies_request("made/up"), Some(Mode::Observe), "a reload replaces them");
    let broken =
        Config::parse("guard.toml", "[requests]\ndeny = \"tools/call\"\n", None, &Environment::default());
    assert!(broken.unwrap_err().to_string().contains("`[[tool]]`"));
}

#[test]
fn every_key_of_a_rule_is_read_and_can_be_taken_back() {
    let config = parse(
        r#"
        mode = "observe"
        [[tool]]
        match = "pay"
        lock = ["account:{args.from}", "account:{args.to}"]
        idempotency = "args.request.id"
        rate = "5/s"
        in_flight = 1
        timeout = "500ms"
        wait = "2min"
        deny = true
        mode = "enforce"
        [[tool]]
        match = "*"
        read_only = false
        idempotency = "meta"
        [[tool]]
        match = "free"
        idempotency = "off"
        rate = "off"
        in_flight = "off"
        deny = false
        "#,
    );
    let pay = &config.rules[0];
    assert_eq!(pay.idempotency, Some(Some(IdempotencyKey::Argument("request.id".into()))));
    assert_eq!((pay.timeout, pay.wait), (Some(Duration::from_millis(500)), Some(Duration::from_secs(120))));
    let rules = super::super::Rules::of_config(&config);
    let (pay, other) = (rules.of("pay", true), rules.of("other", false));
    assert_eq!(pay.deny.as_ref().unwrap().mode, Mode::Enforce);
    assert_eq!(pay.lock.as_ref().unwrap().value.len(), 2);
    let meta = other.idempotency.as_ref().unwrap();
    assert_eq!((&meta.value, meta.mode), (&IdempotencyKey::Meta, Mode::Observe));
    let free = rules.of("free", false);
    assert_eq!((&free.idempotency, &free.rate, &free.in_flight, &free.deny), (&None, &None, &None, &None));
}

#[test]
fn the_tables_are_read_and_paths_start_from_the_file() {
    let config = parse(
        r#"
        [state]
        url = "redis://${TOKEN}@localhost"
        [listen]
        at = "localhost:8443"
        path = "/"
        origins = "https://App.example"
        body = "1MB"
        connections = 5
        slow = "5s"
        [listen.tls]
        cert = "cert.pem"
        key = "/keys/key.pem"
        client_ca = "ca.pem"
        [admin]
        listen = "127.0.0.1:9090"
        [audit]
        path = "audit.jsonl"
        arguments = true
        [identity]
        mtls = "common-name"
        [identity.jwt]
        jwks = "https://issuer.example/jwks"
        issuer = "https://issuer.example"
        audience = ["guard"]
        algorithms = ["RS256", "ES256"]
        [[identity.api_key]]
        name = "ci"
        env = "AGENT_KEY"
        [defaults]
        wait = "1s"
        queue = 7
        timeout = "2s"
        grace = "3s"
        keep = "4h"
        close = "5s"
        store_away = "pass"
        "#,
    );
    assert_eq!(config.state, "redis://s3cret@localhost");
    assert_eq!(config.listen.address.unwrap().to_string(), "127.0.0.1:8443");
    assert_eq!(config.listen.origins.unwrap(), ["https://app.example"]);
    assert_eq!((config.listen.limits.body, config.listen.limits.connections), (1 << 20, 5));
    let tls = config.listen.tls.unwrap();
    assert_eq!((tls.cert, tls.key), ("/etc/guard/cert.pem".into(), "/keys/key.pem".into()));
    assert_eq!(config.audit.path, Some("/etc/guard/audit.jsonl".into()));
    assert_eq!(config.admin.unwrap().port(), 9090);
    assert!(config.identity.is_required && config.identity.verifies());
    assert_eq!(config.identity.api_keys[0].name, "ci");
    assert_eq!(config.identity.mtls, Some(CertificateName::CommonName));
    assert_eq!(config.defaults.store_away, StoreAway::Pass);
    assert_eq!((config.defaults.queue, config.defaults.keep), (7, Duration::from_secs(4 * 3_600)));
    assert!(!format!("{:?}", config.identity).contains("a-key-that"));
}

#[test]
fn several_upstreams_get_prefixes_and_a_program_its_environment() {
    let config = parse(
        r#"
        [[upstream]]
        name = "files"
        command = ["server", "--token", "${TOKEN}"]
        env = { TOKEN = "${TOKEN}" }
        cwd = "data"
        sharing = "per-session"
        required = false
        [[upstream]]
        name = "web"
        url = "https://example.com/mcp"
        headers = { Authorization = "Bearer ${TOKEN}" }
        prefix = "w-"
        "#,
    );
    let [files, web] = config.upstreams.try_into().unwrap();
    assert_eq!(
        (files.prefix.as_str(), files.sharing, files.is_required),
        ("files_", Sharing::PerSession, false)
    );
    let Reach::Command { command, env, folder } = files.reach else { panic!("a program") };
    assert_eq!(command, ["server", "--token", "s3cret"]);
    assert_eq!(env, BTreeMap::from([("TOKEN".to_owned(), "s3cret".to_owned())]));
    assert_eq!(folder, Some("/etc/guard/data".into()));
    assert_eq!(web.prefix, "w-");
    let Reach::Url { headers, .. } = web.reach else { panic!("a url") };
    assert_eq!(headers["Authorization"], "Bearer s3cret");
}

#[test]
fn unknown_keys_are_told_the_nearest_all_at_once() {
    refused(
        "mod = 'observe'\n[[upstream]]\nname = 'a'\ncomand = ['x']\n[listen.tls]\ncertificate = 'x'\n[zebra]\n",
        expect![[r#"
            `guard.toml`, line 1: the file has no key `mod`; the nearest is `mode`
            `guard.toml`, line 4: `[[upstream]]` has no key `comand`; the nearest is `command`
            `guard.toml`, line 6: `[tls]` has no key `certificate`; the nearest is `cert`
            `guard.toml`, line 7: the file has no key `zebra`; it has `admin`, `audit`, `defaults`, `identity`, `import`, `listen`, `mode`, `requests`, `state`, `tool`, `upstream`"#]],
    );
    refused(
        "[[tool]]\nmatch = '*'\nlocks = 'x'\n[[tool]]\nmatch = 'a'\nreadonly = true",
        expect![[r#"
            `guard.toml`, line 3: `[[tool]]` has no key `locks`; the nearest is `lock`
            `guard.toml`, line 6: `[[tool]]` has no key `readonly`; the nearest is `read_only`"#]],
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_told_what_is_wanted() {
    refused(
        "[tool]\nmatch = '*'",
        expect!["`guard.toml`, line 1: there may be several: write `[[tool]]`, with two brackets"],
    );
    refused(
        "[[tool]]\nmatch = '*'\nrate = 60",
        expect![[
            r#"`guard.toml`, line 3: `rate`: invalid type: integer `60`, expected a string. How often, per caller: "60/min"; "off" takes back."#
        ]],
    );
    refused(
        "[[tool]]\nmatch = '*'\nin_flight = 0",
        expect![[
            r#"`guard.toml`, line 3: `in_flight`: invalid value: integer `0`, expected a number from 1 to 4294967295, or "off". How many at once, per caller: 10; "off" takes back."#
        ]],
    );
    refused(
        "[[tool]]\nmatch = '*'\nlock = [1]",
        expect![[
            r#"`guard.toml`, line 3: `lock`: invalid type: integer `1`, expected a string. Keys that a call holds alone, such as "order:{args.orderId}". [] takes back what earlier rules say."#
        ]],
    );
    refused(
        "[[tool]]\nlock = 'x'",
        expect![
            "`guard.toml`, line 1: `tool`: missing field `match`. A rule for the tools of some patterns. Later rules add to and override earlier ones, key by key."
        ],
    );
    refused(
        "mode = 'obsrve'",
        expect![[
            r#"`guard.toml`, line 1: `mode`: unknown variant `obsrve`, expected `enforce` or `observe`. "observe" decides and writes down, but refuses and delays nothing; what a rule says of itself counts more. Default "enforce"."#
        ]],
    );
    refused(
        "tool = 3",
        expect![
            "`guard.toml`, line 1: `tool`: invalid type: integer `3`, expected a sequence. A rule for the tools of some patterns. Later rules add to and override earlier ones, key by key."
        ],
    );
    refused("[[tool]\n", expect!["`guard.toml`, line 1: unclosed array table, expected `]`"]);
}

#[test]
fn texts_that_mean_nothing_are_told_how_they_are_written() {
    refused(
        "[[tool]]\nmatch = ['', 'a']\nrate = '60/minute'\nlock = [\n  'x',\n  'order:{orderId}',\n  'x',\n]\nidempotency = 'args.'\ntimeout = '5 minutes'\nwait = '99999d'\n[[tool]]\nmatch = []\ntimeout = '0s'",
        expect![[r#"
            `guard.toml`, line 2: a pattern must not be empty; `*` matches every tool
            `guard.toml`, line 3: `60/minute` is not a rate: a count from 1 on and a unit out of s, min, h, d, such as `60/min`
            `guard.toml`, line 6: `{orderId}` names no argument: write `{args.NAME}`
            `guard.toml`, line 7: `x` stands here twice
            `guard.toml`, line 9: `args.` names no idempotency key: write `meta`, `args.NAME` or `off`
            `guard.toml`, line 10: `5 minutes` is no time: write a number with ms, s, min, h or d, such as `30s`; at most a year
            `guard.toml`, line 11: `99999d` is no time: write a number with ms, s, min, h or d, such as `30s`; at most a year
            `guard.toml`, line 13: a rule must match something; `match = "*"` is for every tool
            `guard.toml`, line 14: a time longer than zero is wanted here"#]],
    );
    refused(
        "[state]\nurl = 'mysql://user:password@x'\n[listen]\nat = 'everywhere'\npath = 'mcp'\norigins = ['*', 'https://a/b']\nbody = '4 potatoes'\nrequests = 0\nconnections = 0\n[admin]\nlisten = '9090'",
        expect![[r#"
            `guard.toml`, line 2: this is no place for state: write `memory:`, `sqlite:PATH`, `redis://HOST` or `postgres://HOST/NAME`
            `guard.toml`, line 4: `everywhere` is no address: write an IP address and a port, such as `127.0.0.1:8080`
            `guard.toml`, line 5: `mcp` is no path: it begins with `/`
            `guard.toml`, line 6: `*` is no origin: write a scheme, a host and perhaps a port, such as `https://app.example`
            `guard.toml`, line 6: `https://a/b` is no origin: write a scheme, a host and perhaps a port, such as `https://app.example`
            `guard.toml`, line 7: `4 potatoes` is no size: write a number with B, KB, MB or GB, such as `4MB`
            `guard.toml`, line 8: a number from 1 to 1000000 is wanted here, not 0
            `guard.toml`, line 9: a number from 1 to 1000000 is wanted here, not 0
            `guard.toml`, line 11: `9090` is no address: write an IP address and a port, such as `127.0.0.1:8080`"#]],
    );
}

#[test]
fn an_upstream_is_a_program_or_a_url() {
    refused(
        "[[upstream]]\nname = 'a b'\ncommand = []\nheaders = {}\n[[upstream]]\nname = 'b'\n[[upstream]]\nname = 'c'\nurl = 'ftp://x'\nsharing = 'one'\nheaders = { 'a b' = 'x' }\n[[upstream]]\nname = 'd'\ncommand = ['x']\nurl = 'http://x'",
        expect![[r#"
            `guard.toml`, line 2: `a b` is no name for an upstream: it is made of letters, digits, `_`, `-` and `.`
            `guard.toml`, line 3: a command must name a program: write `["PROGRAM", "ARGUMENT"]`
            `guard.toml`, line 4: `headers` are for an upstream with a `url`; a program has `env`
            `guard.toml`, line 6: an upstream needs a `command` or a `url`
            `guard.toml`, line 9: this is no URL of a server: write `https://HOST/PATH` or `http://HOST:PORT/PATH`
            `guard.toml`, line 10: `sharing` is for an upstream with a `command`; this one has a `url`
            `guard.toml`, line 11: `a b` is no name of a header
            `guard.toml`, line 15: an upstream has a `command` or a `url`, not both"#]],
    );
    refused(
        "[[upstream]]\nname = 'a'\ncommand = ['a']\n[[upstream]]\nname = 'a_b'\ncommand = ['a']\n[[upstream]]\nname = 'a'\ncommand = ['a']",
        expect![[r#"
            `guard.toml`, line 5: tools of `a_b` (prefix `a_b_`) and of `a` (prefix `a_`) could have the same name: give them prefixes of which none begins with the other
            `guard.toml`, line 8: there is another upstream called `a`"#]],
    );
}

#[test]
fn an_identity_that_verifies_nobody_is_refused() {
    refused(
        "[identity]\nrequired = true",
        expect![
            "`guard.toml`, line 2: nobody could be verified: add `[identity.jwt]`, `[[identity.api_key]]` or `mtls`"
        ],
    );
    refused(
        "[identity]\nmtls = 'subject'",
        expect![
            "`guard.toml`, line 2: a client's certificate counts only if it is checked: set `client_ca` in `[listen.tls]`"
        ],
    );
    refused(
        "[identity.jwt]\nkey = 'k'\nissuer = ''\naudience = []\nalgorithms = ['HS256', 'RS256', 'none', 'rs256']\nleeway = '2h'",
        expect![[r#"
            `guard.toml`, line 3: this must not be empty: a token for anybody else would do
            `guard.toml`, line 4: this must not be empty: a token for anybody else would do
            `guard.toml`, line 5: `none` is none of RS256, ES256, EdDSA, HS256
            `guard.toml`, line 5: `rs256` is none of RS256, ES256, EdDSA, HS256; the nearest is `RS256`
            `guard.toml`, line 5: one key is a shared secret (HS256) or a public key (RS256, ES256, EdDSA), never both: a public key is no secret
            `guard.toml`, line 6: clocks are not more than an hour apart: at most `1h`"#]],
    );
    refused(
        "[identity.jwt]\njwks = 'http://issuer.example/keys'\nissuer = 'x'\naudience = 'y'\nalgorithms = 'HS256'",
        expect![[r#"
            `guard.toml`, line 2: keys that come without TLS could be anybody's: write `https://`
            `guard.toml`, line 5: HS256 needs a secret, and a key set that is fetched is public"#]],
    );
    refused(
        "[[identity.api_key]]\nname = 'a'\nenv = 'SHORT'\n[[identity.api_key]]\nname = 'b'\nenv = 'NONE'\n[[identity.api_key]]\nname = 'c'\nsha256 = 'abc'\n[[identity.api_key]]\nname = 'd'\n[[identity.api_key]]\nname = 'e'\nenv = 'AGENT_KEY'\n[[identity.api_key]]\nname = 'e'\nenv = 'AGENT_KEY'",
        expect![[r#"
            `guard.toml`, line 3: `SHORT` has a key shorter than 16 characters
            `guard.toml`, line 6: the environment has no `NONE`; set it
            `guard.toml`, line 9: this is no SHA-256: 64 hexadecimal digits, as `printf %s KEY | sha256sum` prints
            `guard.toml`, line 11: a key has a `sha256`, or an `env` with the variable that has it
            `guard.toml`, line 16: every key has a name of its own: limits are counted under it
            `guard.toml`, line 16: another name has the same key: nobody could tell them apart"#]],
    );
}

#[test]
fn a_variable_that_is_not_set_is_named_with_its_line() {
    refused(
        "[state]\nurl = '${NONE}'\n[[upstream]]\nname = 'a'\ncommand = [\n'x',\n'${ALSO_NONE}']\nenv = { A = '${' }",
        expect![[r#"
            `guard.toml`, line 2: the environment has no `NONE`; set it, or write `${NONE:-DEFAULT}`
            `guard.toml`, line 7: the environment has no `ALSO_NONE`; set it, or write `${ALSO_NONE:-DEFAULT}`
            `guard.toml`, line 8: `${` has no `}`; write `$${` for the two characters themselves"#]],
    );
    // A comment and a key are no values.
    assert_eq!(parse("# ${NONE}\n"), Config::default());
}

#[test]
fn the_servers_of_a_client_are_imported() {
    let text = r#"{
        "mcpServers": {
            "memory": { "command": "npx", "args": ["-y", "server-memory"], "env": { "FILE": "${HOME:-/tmp}/m" } },
            "web": { "type": "http", "url": "https://example.com/mcp", "headers": { "X-Key": "${TOKEN}" } },
            "off": { "command": "x", "disabled": true }
        },
        "other": [1, 2]
    }"#;
    let upstreams = import(".mcp.json", text, &environment()).unwrap();
    let [memory, web] = upstreams.try_into().unwrap();
    assert_eq!((memory.name.as_str(), memory.prefix.as_str()), ("memory", "memory_"));
    let Reach::Command { command, env, .. } = memory.reach else { panic!("a program") };
    assert_eq!(
        (command, env["FILE"].as_str()),
        (vec!["npx".into(), "-y".into(), "server-memory".into()], "/tmp/m")
    );
    let Reach::Url { headers, .. } = web.reach else { panic!("a url") };
    assert_eq!(headers["X-Key"], "s3cret");
}

#[test]
fn what_cannot_be_imported_is_said() {
    let refused = |text: &str, expect: Expect| {
        expect.assert_eq(&import(".mcp.json", text, &environment()).unwrap_err().to_string());
    };
    refused(
        "{}",
        expect![
            "`.mcp.json`, line 1: this is no list of servers, as in `.mcp.json`: missing field `mcpServers` at line 1 column 2"
        ],
    );
    refused(
        "{\n\"mcpServers\": 3}",
        expect![
            "`.mcp.json`, line 2: this is no list of servers, as in `.mcp.json`: invalid type: integer `3`, expected a map at line 2 column 15"
        ],
    );
    refused(
        r#"{"mcpServers": {"a": {}, "b c": {"command": "x"}, "d": {"type": "sse", "url": "http://x"}, "e": {"command": "${NONE}"}, "f": {"url": "x"}}}"#,
        expect![[r#"
            `.mcp.json`: the server `a`: it has neither a `command` nor a `url`
            `.mcp.json`: `b c` is no name for an upstream: it is made of letters, digits, `_`, `-` and `.`
            `.mcp.json`: the server `d`: it speaks HTTP+SSE, which was replaced by Streamable HTTP in 2025 and is not spoken here
            `.mcp.json`: the server `e`: the environment has no `NONE`; set it, or write `${NONE:-DEFAULT}`
            `.mcp.json`: the server `f`: this is no URL of a server: write `https://HOST/PATH` or `http://HOST:PORT/PATH`"#]],
    );
}

#[test]
fn an_import_is_named_in_the_file_and_read_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("guard.toml");
    std::fs::write(&path, "import = '.mcp.json'\n[[upstream]]\nname = 'a'\ncommand = ['a']\n").unwrap();
    let broken = Config::load(&path, &environment()).unwrap_err().to_string();
    assert!(broken.ends_with("line 1: `.mcp.json` cannot be imported: there is no such file"), "{broken}");
    std::fs::write(folder.path().join(".mcp.json"), r#"{"mcpServers": {"b": {"command": "b"}}}"#).unwrap();
    let config = Config::load(&path, &environment()).unwrap();
    let prefixes: Vec<_> = config.upstreams.iter().map(|upstream| upstream.prefix.as_str()).collect();
    assert_eq!(prefixes, ["a_", "b_"]);
}

#[test]
fn hostile_files_are_refused_and_nothing_more() {
    for text in [
        "a".repeat(100_000),
        "[".repeat(100_000),
        format!("x = {}", "[".repeat(10_000)),
        format!("tool = {}{}", "[".repeat(60), "]".repeat(60)),
        "[[tool]]\nmatch = \"\u{0}\"".to_owned(),
        "a.".repeat(10_000) + "b = 1",
    ] {
        Config::parse("guard.toml", &text, None, &environment()).unwrap_err();
    }
    let folder = tempfile::tempdir().unwrap();
    let said = |path: &Path| Config::load(path, &environment()).unwrap_err().problems[0].what.clone();
    assert_eq!(said(folder.path()), "it is no file");
    let path = folder.path().join("large");
    std::fs::write(&path, vec![b'#'; 2 << 20]).unwrap();
    assert_eq!(said(&path), "it is larger than 1024 KB");
    std::fs::write(&path, [0xff]).unwrap();
    assert_eq!(said(&path), "it is not UTF-8");
}

#[test]
fn a_namespace_is_what_is_said_or_comes_from_the_first_server() {
    let of = |text: &str| parse(text).namespace();
    let bank = "[[upstream]]\nname = 'bank'\ncommand = ['x']\n";
    assert_eq!(of(bank), "guard-bank");
    let edited = format!(
        "{bank}[[upstream]]\nname = 'mail'\ncommand = ['y', '--new']\n[[tool]]\nmatch = '*'\nlock = 'k'"
    );
    assert_eq!(of(&edited), "guard-bank", "a file that is edited keeps it");
    assert_eq!(of(&format!("[state]\nnamespace = 'shop_1-b'\n{bank}")), "shop_1-b");
    assert_eq!(of(""), "guard-");
    for wrong in ["", "a b", "ä", &"n".repeat(64)] {
        let text = format!("[state]\nnamespace = '{wrong}'");
        let broken = Config::parse("guard.toml", &text, None, &environment()).unwrap_err().to_string();
        assert!(broken.contains("is no namespace"), "{broken}");
    }
}

#[test]
fn a_text_without_quotes_and_a_table_that_is_a_list_are_called_by_their_name() {
    refused(
        "[[upstream]]\nname = files\n",
        expect![[r#"`guard.toml`, line 2: a text stands in quotes: write `name = "files"`"#]],
    );
    refused(
        "[[tool]]\nmatch = delete_* # all of them\nwait = 30s\n",
        expect![[r#"
            `guard.toml`, line 2: a text stands in quotes: write `match = "delete_*"`
            `guard.toml`, line 3: a text stands in quotes: write `wait = "30s"`"#]],
    );
    refused(
        "[[tool]]\nmatch = \"a\"\n[tool]\nmatch = \"b\"\n",
        expect!["`guard.toml`, line 3: there may be several: write `[[tool]]`, with two brackets"],
    );
    // What has quotes, or is something else, is told as the parser does.
    for text in ["name = \"files", "deny = tru\"e", "body = [1", "é = é\u{0}\""] {
        let broken = Config::parse("guard.toml", text, None, &environment()).unwrap_err().to_string();
        assert!(!broken.contains("stands in quotes"), "{text}: {broken}");
    }
}

#[test]
fn several_processes_are_for_everybody_and_there_is_a_choice_between_several() {
    let config = parse(
        "[[upstream]]\nname = 'a'\ncommand = ['a']\ninstances = 3\nchoose = 'least-loaded'\n[[upstream]]\nname = 'b'\ncommand = ['b']\ninstances = 1\n",
    );
    let names = config.upstreams.iter().flat_map(UpstreamConfig::instances).collect::<Vec<_>>();
    assert_eq!(names, ["a#1", "a#2", "a#3", "b"]);
    let choices = config.upstreams.iter().map(|upstream| upstream.processes.choose);
    assert!(choices.eq([Choose::LeastLoaded, Choose::Sticky]));
    refused(
        "[[upstream]]\nname = 'a'\ncommand = ['a']\nchoose = 'sticky'\n[[upstream]]\nname = 'b'\ncommand = ['b']\nsharing = 'per-session'\ninstances = 2\n[[upstream]]\nname = 'c'\nurl = 'http://c'\ninstances = 2\n[[upstream]]\nname = 'd'\ncommand = ['d']\ninstances = 0\n",
        expect![[r#"
            `guard.toml`, line 4: `choose` is for several `instances`: there is nothing to choose from
            `guard.toml`, line 9: `instances` is for a process that everybody shares; with `sharing = "per-session"` each session has a process of its own
            `guard.toml`, line 13: `instances` is for an upstream with a `command`; this one has a `url`
            `guard.toml`, line 17: a number from 1 to 256 is wanted here, not 0"#]],
    );
}

#[test]
fn processes_and_idle_connections_have_bounds() {
    let config = parse(
        r#"
        [listen]
        connections = 100
        [[upstream]]
        name = "a"
        command = ["a"]
        sharing = "per-session"
        processes = 10
        [[upstream]]
        name = "b"
        command = ["b"]
        processes_per_caller = 7
        "#,
    );
    assert_eq!(config.listen.limits.idle_per_address, 25);
    let bounds = config.upstreams.iter().map(|upstream| upstream.processes);
    assert!(bounds.eq([(10, 2), (256, 7)].map(|(most, per_caller)| Processes {
        most,
        per_caller,
        ..Processes::default()
    })));
    refused(
        "[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"\nprocesses = 0\n",
        expect![[r#"
            `guard.toml`, line 4: `processes` is for an upstream with a `command`; this one has a `url`
            `guard.toml`, line 4: a number from 1 to 100000 is wanted here, not 0"#]],
    );
}
