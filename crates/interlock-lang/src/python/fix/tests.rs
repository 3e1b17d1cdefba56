//! What is changed, and what is left alone.

use expect_test::{Expect, expect};
use interlock_model::Span;

use super::repair;
use crate::{Repair, Request, Source};

/// Repairs a text at the place where `at` stands first.
fn check(text: &str, wanted: Repair, at: &str, expected: &Expect) {
    let start = u32::try_from(text.find(at).unwrap()).unwrap();
    let span = Span { start, end: start + 1, ..Span::default() };
    let repaired = repair(&Source { path: "a.py", text }, &[Request { repair: wanted, spans: vec![span] }]);
    expected.assert_eq(&repaired.apply(text).unwrap());
}

#[test]
fn a_file_that_must_be_new_is_opened_so() {
    check(
        "def save(path, text):\n    with open(path, \"w\", encoding=\"utf-8\") as file:\n        file.write(text)\n",
        Repair::CreateExclusively,
        "file.write",
        &expect![[r#"
            def save(path, text):
                with open(path, "x", encoding="utf-8") as file:
                    file.write(text)
        "#]],
    );
}

#[test]
fn a_file_is_written_beside_and_put_in_its_place() {
    check(
        "import json\n\n\ndef save(path, data):\n    with open(path, \"w\") as file:\n        json.dump(data, file)\n    return 1\n",
        Repair::ReplaceAtomically,
        "json.dump",
        &expect![[r#"
            import os
            import uuid
            import json


            def save(path, data):
                beside_path = f"{path}.{uuid.uuid4().hex}.tmp"
                with open(beside_path, "w") as file:
                    json.dump(data, file)
                os.replace(beside_path, path)
                return 1
        "#]],
    );
}

#[test]
fn a_file_of_a_fixed_name_is_written_beside() {
    check(
        "import os\nimport json\n\n\ndef save(data):\n    with open(\"state.json\", \"w\") as file:\n        json.dump(data, file)\n",
        Repair::ReplaceAtomically,
        "json.dump",
        &expect![[r#"
            import uuid
            import os
            import json


            def save(data):
                beside_path = f"state.json.{uuid.uuid4().hex}.tmp"
                with open(beside_path, "w") as file:
                    json.dump(data, file)
                os.replace(beside_path, "state.json")
        "#]],
    );
    check(
        "def save(data):\n    with open(\"{state}.json\", \"w\") as file:\n        file.write(data)\n",
        Repair::ReplaceAtomically,
        "file.write",
        &expect![[r#"
            def save(data):
                with open("{state}.json", "w") as file:
                    file.write(data)
        "#]],
    );
}

#[test]
fn a_file_whose_mode_is_said_by_name_is_opened_as_a_new_one() {
    check(
        "def save(path, text):\n    with open(path, mode=\"w\") as file:\n        file.write(text)\n",
        Repair::CreateExclusively,
        "file.write",
        &expect![[r#"
            def save(path, text):
                with open(path, mode="x") as file:
                    file.write(text)
        "#]],
    );
}

#[test]
fn a_path_that_opens_or_writes_itself_is_written_beside() {
    check(
        "import os\nimport uuid\n\n\ndef save(text):\n    with STATE.open(\"w\") as file:\n        file.write(text)\n",
        Repair::ReplaceAtomically,
        "file.write",
        &expect![[r#"
            import os
            import uuid


            def save(text):
                beside_path = STATE.with_name(f"{STATE.name}.{uuid.uuid4().hex}.tmp")
                with beside_path.open("w") as file:
                    file.write(text)
                os.replace(beside_path, STATE)
        "#]],
    );
    check(
        "import os\nimport uuid\n\n\ndef save(self, text):\n    self.path.write_text(text, encoding=\"utf-8\")\n",
        Repair::ReplaceAtomically,
        "self.path.write",
        &expect![[r#"
            import os
            import uuid


            def save(self, text):
                beside_path = self.path.with_name(f"{self.path.name}.{uuid.uuid4().hex}.tmp")
                beside_path.write_text(text, encoding="utf-8")
                os.replace(beside_path, self.path)
        "#]],
    );
}

#[test]
fn what_is_written_is_left_alone_where_its_path_is_computed_or_its_size_is_used() {
    for text in [
        "def save(name, text):\n    (folder / name).write_text(text)\n",
        "def save(path, text):\n    size = path.write_text(text)\n    return size\n",
    ] {
        let start = u32::try_from(text.find("write_text").unwrap()).unwrap();
        let span = Span { start, end: start + 1, ..Span::default() };
        let request = Request { repair: Repair::ReplaceAtomically, spans: vec![span] };
        assert!(repair(&Source { path: "a.py", text }, &[request]).edits.is_empty(), "{text}");
    }
}

#[test]
fn what_is_between_acquire_and_release_goes_into_a_with() {
    check(
        "async def work(url):\n    await lock.acquire()\n    data = await load(url)\n\n    if data:\n        keep(data)\n    lock.release()\n    return data\n",
        Repair::ReleaseAlways,
        "lock.acquire",
        &expect![[r#"
            async def work(url):
                async with lock:
                    data = await load(url)

                    if data:
                        keep(data)
                return data
        "#]],
    );
}

#[test]
fn what_is_not_plain_is_left_alone() {
    let computed =
        "def save(name, text):\n    with open(folder() / name, \"w\") as file:\n        file.write(text)\n";
    check(
        computed,
        Repair::ReplaceAtomically,
        "file.write",
        &expect![[r#"
        def save(name, text):
            with open(folder() / name, "w") as file:
                file.write(text)
    "#]],
    );
    let twice = "def work():\n    lock.acquire()\n    if bad():\n        lock.release()\n        return\n    go()\n    lock.release()\n";
    check(
        twice,
        Repair::ReleaseAlways,
        "lock.acquire",
        &expect![[r#"
        def work():
            lock.acquire()
            if bad():
                lock.release()
                return
            go()
            lock.release()
    "#]],
    );
    let appended = "def note(path, text):\n    with open(path, \"a\") as file:\n        file.write(text)\n";
    check(
        appended,
        Repair::CreateExclusively,
        "file.write",
        &expect![[r#"
        def note(path, text):
            with open(path, "a") as file:
                file.write(text)
    "#]],
    );
}
