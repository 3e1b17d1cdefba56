//! A file that is tested, then written: with and without `O_EXCL`.

use expect_test::expect;
use interlock_model::ir::{Aspect, Op, Program, Resource, Term, WriteMode};

use crate::{ask, check, function, program};

fn create_report(mode: WriteMode) -> Program {
    program([function(3, "createReport").handles("create_report").body(
        ["path", "text"],
        |b, [path, text]| {
            let file = || Resource::File(path.into());
            let exists = b.line(4).read_as("exists", file(), Aspect::Existence, None);
            b.suspend();
            b.line(5).check([exists], |b| b.throw(), |_| {});
            b.line(6).write(file(), [text], mode);
            b.suspend();
        },
    )])
}

#[test]
fn the_write_after_the_check_says_whether_it_is_exclusive() {
    check(
        &create_report(WriteMode::Blind),
        expect![[r#"
            server.ts
            3     fn createReport(path, text) handles create_report
            4       exists = read existence of file path
            4       suspend
            5       check exists
                    then
            5         throw
            6       write blind file path from text
            6       suspend
        "#]],
    );
    check(
        &create_report(WriteMode::Exclusive),
        expect![[r#"
            server.ts
            3     fn createReport(path, text) handles create_report
            4       exists = read existence of file path
            4       suspend
            5       check exists
                    then
            5         throw
            6       write exclusive file path from text
            6       suspend
        "#]],
    );
}

#[test]
fn both_let_another_call_in_and_only_one_of_them_minds() {
    for mode in [WriteMode::Blind, WriteMode::Exclusive] {
        let program = create_report(mode.clone());
        assert!(ask::another_call_fits_between(&program, "createReport", |r| matches!(r, Resource::File(_))));
        let overwrites = |op: &Op| matches!(op, Op::Write { mode: WriteMode::Blind, .. });
        assert_eq!(
            ask::steps(&program, "createReport").iter().any(|s| overwrites(s.op)),
            mode == WriteMode::Blind
        );
    }
}

/// `file-check-then-act` by way of a link, and `non-atomic-file-replace` by way of the temporary file's name.
#[test]
fn a_path_says_where_it_leads_and_how_unique_its_name_is() {
    use interlock_model::ir::Fresh::{ProcessId, Random};
    let replace = |line, name: &str, temp: fn(Term) -> Term| {
        function(line, name).body(["path", "text"], |b, [path, text]| {
            let real = b.read_as("real", Resource::File(path.into()), Aspect::Target, None);
            b.check([real], |_| {}, |b| b.throw());
            let temp = b.bind("temp", temp(path.into()), [path]);
            let temp = Resource::File(temp.into());
            b.write(temp.clone(), [text], WriteMode::Exclusive);
            b.push(Op::Rename { from: temp, to: Resource::File(path.into()) });
        })
    };
    check(
        &program([
            replace(1, "good", |path| {
                Term::Join(vec![Term::Parent(Box::new(path)), "/".into(), Term::Fresh(Random)])
            }),
            replace(2, "sharedName", |path| Term::Join(vec![path, ".".into(), Term::Fresh(ProcessId)])),
            replace(3, "otherDirectory", |_| {
                Term::Join(vec![Term::TempDir, "/".into(), Term::Fresh(Random)])
            }),
        ]),
        expect![[r#"
            server.ts
            1     fn good(path, text)
            1       real = read target of file path
            1       check real
                    else
            1         throw
            1       temp = parent(path) + "/" + random from path
            1       write exclusive file temp from text
            1       rename file temp to file path

            2     fn sharedName(path, text)
            2       real = read target of file path
            2       check real
                    else
            2         throw
            2       temp = path + "." + pid from path
            2       write exclusive file temp from text
            2       rename file temp to file path

            3     fn otherDirectory(path, text)
            3       real = read target of file path
            3       check real
                    else
            3         throw
            3       temp = tempdir + "/" + random from path
            3       write exclusive file temp from text
            3       rename file temp to file path
        "#]],
    );
}
