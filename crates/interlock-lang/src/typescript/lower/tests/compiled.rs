//! What a compiler wrote becomes the same as what was written.

use super::text;

/// Holds what a file becomes as it was written against what it becomes as it was compiled, wherever the steps stand.
fn check(written: &str, compiled: &str) {
    let steps = |source: &str| -> Vec<String> {
        let text = text("a.js", source);
        text.lines().map(|line| line.trim_start_matches(|it: char| it.is_ascii_digit()).to_owned()).collect()
    };
    assert_eq!(steps(written), steps(compiled));
}

#[test]
fn async_functions_that_are_generators_in_a_helper() {
    check(
        "export async function read(name) { const text = await load(name); return text; }",
        "export function read(name) {
            return __awaiter(this, void 0, void 0, function* () { const text = yield load(name); return text; });
        }",
    );
    check(
        "tool(async ({ id }, extra) => { await load(id); await load(extra); });",
        "tool((_a, extra_1) => __awaiter(void 0, [_a, extra_1], void 0, function* ({ id }, extra) {
            yield load(id);
            yield load(extra);
        }));",
    );
    check(
        "class Store { async load() { return parse(await this.file.read()); } }",
        "class Store { load() { return __async(this, null, function* () { return parse(yield this.file.read()); }); } }",
    );
    check(
        "class Store { async load() { await this.file.read(); } }",
        "class Store { load() { return _async_to_generator(function* () { yield this.file.read(); }).call(this); } }",
    );
    check(
        "function start() { ready(); return (async () => { await load(); })(); }",
        "function start() { ready(); return tslib_1.__awaiter(this, void 0, void 0, function* () { yield load(); }); }",
    );
}

#[test]
fn a_generator_inside_keeps_what_it_yields() {
    check(
        "async function all() { await load(); function* each() { yield load(); } return each; }",
        "function all() {
            return __awaiter(this, void 0, void 0, function* () {
                yield load(); function* each() { yield load(); } return each;
            });
        }",
    );
}

#[test]
fn calls_without_a_receiver() {
    check(
        "const fs_1 = require('fs'); async function save() { await fs_1.promises.writeFile('a', make()); }",
        "const fs_1 = require('fs'); async function save() { await (0, fs_1.promises.writeFile)('a', (0, make)()); }",
    );
}

#[test]
fn pauses_of_a_module() {
    check(
        "const timers_1 = require('timers/promises');
        async function f() { for (;;) { await timers_1.setTimeout(Math.random() * 50); } }",
        "const timers_1 = require('timers/promises');
        async function f() { for (;;) { await (0, timers_1.setTimeout)(Math.random() * 50); } }",
    );
    let text = text(
        "a.js",
        "const timers_1 = require('timers/promises');
        async function f(turn) { await (0, timers_1.setTimeout)(Math.random() * 2 ** turn); }",
    );
    assert!(text.contains("sleep growing with jitter"), "{text}");
}

#[test]
fn fields_that_a_helper_defines() {
    check(
        "class A { constructor() { this.lock = new Lock(); this.count = 0; } }",
        r#"class A { constructor() { __publicField(this, "lock", new Lock()); _define_property(this, "count", 0); __publicField(this, "name", void 0); } }"#,
    );
}

#[test]
fn modules_that_are_loaded_when_they_are_needed() {
    check(
        r#"async function f() { return await import("./mail.js"); }"#,
        r#"async function f() { return await Promise.resolve().then(() => __importStar(require("./mail.js"))); }"#,
    );
    check(
        "async function f(name) { return await import(name); }",
        "async function f(name) { return await Promise.resolve(name).then(s => __importStar(require(s))); }",
    );
}

#[test]
fn what_there_is_or_something_else() {
    check(
        "function f(key) { return load(key) ?? make(key); }",
        "function f(key) { return (_a = load(key)) !== null && _a !== void 0 ? _a : make(key); }",
    );
}

#[test]
fn decisions_that_are_expressions() {
    let check = |expression: &str, statement: &str| {
        check(
            &format!("async function f(x) {{ {statement} }}"),
            &format!("async function f(x) {{ {expression} }}"),
        );
    };
    check("!state.ready && (state.ready = await load(x));", "if (!state.ready) state.ready = await load(x);");
    check("state.kind === 'a' && (await load(x));", "if (state.kind === 'a') await load(x);");
    check("state.kind !== 'a' || (await load(x));", "if (!(state.kind !== 'a')) await load(x);");
    check("throw x.code === 'b' ? one(x) : x;", "if (x.code === 'b') throw one(x); else throw x;");
}
