//! Files and locks on them.

use expect_test::expect;

use super::script::{check, closure, list, named, number, object, text, yes};

#[test]
fn a_file_is_read_judged_and_written() {
    check(
        |s, [id, _, data]| {
            s.export("fs/promises", "readFile", [id.clone(), text("utf8")]);
            s.export("fs", "promises.access", [id.clone()]);
            s.export("fs", "existsSync", [id.clone()]);
            s.export("fs", "statSync", [id.clone()]);
            s.export("fs", "lstatSync", [id.clone()]);
            s.export("fs", "writeFileSync", [id.clone(), data.clone()]);
            s.export("fs/promises", "appendFile", [id.clone(), data.clone()]);
            s.export("graceful-fs", "unlinkSync", [id.clone()]);
            s.export("fs/promises", "rename", [text("a.tmp"), id]);
        },
        expect![[r#"
            1       readFile = read file id
            2       access = read existence of file id
            3       existsSync = read existence of file id
            4       statSync = read metadata of file id
            5       lstatSync = read target of file id
            6       writeFileSync = write blind file id from data
            7       appendFile = write append file id from data
            8       unlinkSync = delete file id
            9       rename file "a.tmp" to file id
            9       rename = derived from id
        "#]],
    );
}

#[test]
fn the_flag_that_makes_a_write_exclusive_is_seen_wherever_it_stands() {
    check(
        |s, [id, _, data]| {
            let flag = |flag| object([("flag", flag)]);
            s.export("fs/promises", "writeFile", [id.clone(), data.clone(), flag(text("wx"))]);
            s.export("fs/promises", "writeFile", [id.clone(), data.clone(), flag(text("a"))]);
            s.export("fs/promises", "writeFile", [id.clone(), data.clone(), flag(text("w"))]);
            s.export("fs/promises", "writeFile", [id.clone(), data.clone(), text("utf8")]);
            let flags = list([named("constants.O_CREAT"), named("constants.O_EXCL")]);
            s.export("fs/promises", "open", [id.clone(), flags]);
            s.export("fs", "openSync", [id.clone(), text("wx")]);
            s.export("fs", "openSync", [id.clone(), named("flags")]);
            s.export("fs/promises", "writeFile", [id.clone(), data.clone(), text("hex")]);
            s.export("fs/promises", "mkdir", [id.clone(), object([("recursive", yes())])]);
            s.export("fs/promises", "mkdir", [id.clone()]);
            let copy = |flag| [text("a"), id.clone(), flag];
            s.export("fs/promises", "copyFile", copy(named("constants.COPYFILE_EXCL")));
            s.export("fs/promises", "copyFile", copy(number(0)));
        },
        expect![[r#"
            1       writeFile = write exclusive file id from data
            2       writeFile.2 = write append file id from data
            3       writeFile.3 = write blind file id from data
            4       writeFile.4 = write blind file id from data
            5       open = write exclusive file id
            6       openSync = write exclusive file id
            7       openSync.2 = read file id
            8       writeFile.5 = write blind file id from data
            9       mkdir = write ensure file id
            10      mkdir.2 = write exclusive file id
            11      copied = read file "a"
            11      copyFile = write exclusive file id from copied
            12      copied.2 = read file "a"
            12      copyFile.2 = write blind file id from copied.2
        "#]],
    );
}

#[test]
fn a_handle_remembers_its_file_and_how_it_was_opened() {
    check(
        |s, [id, _, data]| {
            for flag in ["wx", "w", "a", "r+"] {
                let handle = s.export("fs/promises", "open", [id.clone(), text(flag)]);
                s.method(&handle, "writeFile", [data.clone()]);
                s.method(&handle, "close", []);
            }
            let fd = s.export("fs", "openSync", [id.clone(), text("wx")]);
            s.export("fs", "writeFileSync", [fd.arg(), data.clone()]);
            let stream = s.export("fs", "createWriteStream", [id]);
            s.method(&stream, "write", [data]);
        },
        expect![[r#"
            1       open = write exclusive file id
            2       writeFile = write exclusive file id from data
            3       close = derived from open
            4       open.2 = write blind file id
            5       writeFile.2 = write blind file id from data
            6       close.2 = derived from open.2
            7       open.3 = derived from id
            8       writeFile.3 = write append file id from data
            9       close.3 = derived from open.3
            10      open.4 = read file id
            11      writeFile.4 = write blind file id from data
            12      close.4 = derived from open.4
            13      openSync = write exclusive file id
            14      writeFileSync = write exclusive file id from data
            15      createWriteStream = write blind file id
            16      write = write pieces stream createWriteStream from data
        "#]],
    );
}

#[test]
fn a_callback_runs_after_the_step_with_what_it_gave() {
    check(
        |s, [id, ..]| {
            s.export("fs", "readFile", [id.clone(), text("utf8"), closure()]);
            s.export("fs", "exists", [id, closure()]);
        },
        expect![[r#"
            1       result = read file id
            1       error = derived from result
            1       suspend
            1       call fn closure(error, result)
            2       result.2 = read existence of file id
            2       error.2 = derived from result.2
            2       suspend
            2       call fn closure(error.2, result.2)
        "#]],
    );
}

#[test]
fn other_libraries_write_files_too() {
    check(
        |s, [id, _, data]| {
            s.export("fs-extra", "readJson", [id.clone()]);
            s.export("fs-extra", "pathExists", [id.clone()]);
            s.export("fs-extra", "outputJsonSync", [id.clone(), data.clone()]);
            s.export("fs-extra", "writeJson", [id.clone(), data.clone(), object([("flag", text("wx"))])]);
            s.export("fs-extra", "ensureDir", [id.clone()]);
            s.export("fs-extra", "move", [text("a"), id.clone()]);
            s.export("write-file-atomic", "", [id.clone(), data.clone()]);
            let writer = s.create("steno", "Writer", [id]);
            s.method(&writer, "write", [data]);
        },
        expect![[r#"
            1       readJson = read file id
            2       pathExists = read existence of file id
            3       outputJsonSync = write blind file id from data
            4       writeJson = write exclusive file id from data
            5       ensureDir = write ensure file id
            6       rename file "a" to file id
            6       move = derived from id
            7       temp = id + "." + random
            7       write blind file temp from data
            7       rename file temp to file id
            7       made = derived from id, data
            8       Writer = new
            9       temp.2 = id + "." + random
            9       write blind file temp.2 from data
            9       rename file temp.2 to file id
            9       write = derived from Writer, data
        "#]],
    );
}

#[test]
fn a_lock_file_is_released_by_what_locking_it_gave() {
    check(
        |s, [id, ..]| {
            s.export("proper-lockfile", "check", [id.clone()]);
            let release = s.export("proper-lockfile", "lock", [id.clone()]);
            s.method(&release, "", []);
            s.export("proper-lockfile", "lockSync", [id.clone()]);
            s.export("proper-lockfile", "unlockSync", [id]);
        },
        expect![[r#"
            1       check = read existence of file id
            2       acquire ::proper-lockfile for id across processes as renewed lease
            2       lock = derived from id
            3       release ::proper-lockfile for id across processes as renewed lease
            3       called = derived from lock
            4       acquire ::proper-lockfile for id across processes as renewed lease
            4       lockSync = derived from id
            5       release ::proper-lockfile for id across processes as renewed lease
            5       unlockSync = derived from id
        "#]],
    );
}

#[test]
fn other_runtimes_have_files_too() {
    check(
        |s, [id, _, data]| {
            let file = s.plain("", "Bun.file", [id.clone()]);
            s.method(&file, "json", []);
            s.method(&file, "exists", []);
            s.export("", "Bun.write", [file.arg(), data.clone()]);
            s.export("", "Deno.readTextFileSync", [id.clone()]);
            s.export("", "Deno.writeTextFile", [id.clone(), data.clone()]);
            s.export("", "Deno.writeTextFile", [id.clone(), data.clone(), object([("createNew", yes())])]);
            let low = s.export("lowdb/node", "JSONFilePreset", [id.clone(), data]);
            s.method(&low, "update", [closure()]);
            s.export("fs/promises", "mkdtemp", [id]);
        },
        expect![[r#"
            1       file = derived from id
            2       json = read file id
            3       exists = read existence of file id
            4       write = write blind file id from data
            5       readTextFileSync = read file id
            6       writeTextFile = write blind file id from data
            7       writeTextFile.2 = write exclusive file id from data
            8       JSONFilePreset = read file id
            9       update = call fn closure()
            9       temp = id + "." + random
            9       write blind file temp from JSONFilePreset
            9       rename file temp to file id
            10      mkdtemp = id + random from id
        "#]],
    );
}
