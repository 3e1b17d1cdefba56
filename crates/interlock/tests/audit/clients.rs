//! With nothing named: the servers that the MCP clients of this machine know.

use crate::{Desk, copy, example};

#[test]
fn the_servers_of_the_clients_are_offered_and_none_is_started_unasked() {
    let desk = Desk::new();
    copy(&example(), &desk.path("work/credits"));
    desk.write("work/credits/dist/index.js", "require('node:fs').writeFileSync('started', '')\n");
    desk.write(
        "work/.mcp.json",
        r#"{"mcpServers": {"credits": {"command": "node", "args": ["credits/dist/index.js"], "env": {"POSTGRES_URL": "secret"}}}}"#,
    );
    desk.write("home/.cursor/mcp.json", r#"{"mcpServers": {"far": {"url": "https://h.example/mcp"}}}"#);
    let ended = desk.audit(&[]);
    assert_eq!(ended.code, 1, "{} {}", ended.stdout, ended.stderr);
    let names: Vec<&str> =
        (0..2).filter_map(|index| ended.at(&format!("/subjects/{index}/name")).as_str()).collect();
    assert_eq!(names, ["credits", "far"]);
    assert!(ended.entries(0).iter().any(|entry| entry.contains("lost-update")), "{:#?}", ended.entries(0));
    for (index, why) in [(0, "--run starts `node credits/dist/index.js`"), (1, "over the network")] {
        let live = ended.at(&format!("/subjects/{index}/live"));
        assert_eq!(live["state"], "not-run");
        assert!(live["why"].as_str().unwrap_or_default().contains(why), "{live}");
    }
    assert!(!ended.report.to_string().contains("secret"), "what clients keep in their files is not told");
    assert!(!desk.path("work/started").exists());
}

#[test]
fn without_any_client_it_is_said_what_can_be_named() {
    let desk = Desk::new();
    let ended = desk.audit(&[]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("no MCP client here knows a server"), "{}", ended.stderr);
}
