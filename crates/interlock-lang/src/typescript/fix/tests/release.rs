//! Releases that move into a `finally`.

use expect_test::{Expect, expect};

use super::{check, left_alone};
use crate::Repair::ReleaseAlways;

fn moves(text: &str, part: &str, expect: Expect) {
    check(ReleaseAlways, text, part, expect);
}

#[test]
fn what_lies_between_goes_into_a_try() {
    moves(
        r#"async function add(note: Note) {
  const release = await mutex.acquire();
  const notes = await load();

  // The newest comes last.
  notes.push(note);
  await save(notes);
  release();
  await log("saved");
}
"#,
        "mutex.acquire()",
        expect![[r#"
            async function add(note: Note) {
              const release = await mutex.acquire();
              try {
                const notes = await load();

                // The newest comes last.
                notes.push(note);
                await save(notes);
              } finally {
                release();
              }
              await log("saved");
            }
        "#]],
    );
}

#[test]
fn a_closing_return_that_uses_what_was_read_comes_along() {
    moves(
        r#"async function add(note) {
    await this.lock.acquire();
    const notes = await load();
    const text = `a
  b`;
    this.lock.release();

    return {
        count: notes.length,
    };
}
"#,
        "this.lock.acquire()",
        expect![[r#"
            async function add(note) {
                await this.lock.acquire();
                try {
                    const notes = await load();
                    const text = `a
              b`;

                    return {
                        count: notes.length,
                    };
                } finally {
                    this.lock.release();
                }
            }
        "#]],
    );
}

#[test]
fn releases_on_early_ways_out_are_dropped() {
    moves(
        r#"const take = async (id: string) => {
	const unlock = await locks.lock(id);
	const item = await find(id);
	if (!item) {
		await unlock();
		return null;
	}
	try {
		await use(item);
	} catch (error) {
		await unlock();
		throw error;
	}
	await unlock();
};
"#,
        "locks.lock(id)",
        expect![[r#"
            const take = async (id: string) => {
            	const unlock = await locks.lock(id);
            	try {
            		const item = await find(id);
            		if (!item) {
            			return null;
            		}
            		try {
            			await use(item);
            		} catch (error) {
            			throw error;
            		}
            	} finally {
            		await unlock();
            	}
            };
        "#]],
    );
}

#[test]
fn what_is_not_plain_is_left_alone() {
    for body in [
        // Safe already, or never released.
        "const release = await m.acquire();\ntry {\nwork();\n} finally {\nrelease();\n}",
        "const release = await m.acquire();\nwork();",
        "const release = await m.acquire();\nrelease();",
        // Used after the release.
        "const release = await m.acquire();\nconst x = await work();\nrelease();\nawait send(x);",
        "const release = await m.acquire();\nconst x = await work();\nrelease();\nreturn await send(x);",
        "const release = await m.acquire();\nconst x = await work();\nrelease();\nlog(x);\nreturn x;",
        "const release = await m.acquire();\nwork();\nrelease();\nrelease();",
        // Released where it is not plain when.
        "const release = await m.acquire();\nif (a) release();\nwork();\nrelease();",
        "const release = await m.acquire();\nif (a) { release(); b(); }\nwork();\nrelease();",
        "const release = await m.acquire();\nsetTimeout(() => release(), 10);\nwork();\nrelease();",
        "const release = await m.acquire();\nqueue.push(release);\nwork();\nrelease();",
        "g();\nconst release = await m.acquire();\nfunction g() {}\nwork();\nrelease();",
        // Another lock, another line, another form.
        "const release = await m.acquire();\nwork();\nother();",
        "await m.acquire();\nwork();\nn.release();",
        "const release = await m.acquire();\nwork(); release();",
        "let release = await m.acquire();\nwork();\nrelease();",
        "const [x, release] = await m.acquire();\nwork();\nrelease();",
    ] {
        left_alone(ReleaseAlways, &format!("async function f() {{\n{body}\n}}\n"), "m.acquire()");
    }
}
