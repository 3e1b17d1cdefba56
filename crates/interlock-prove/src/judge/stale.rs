//! The window in which a call trusted what another had already changed, where operations could be seen.

use interlock_model::{History, IoTick, StaleWindow, TickKind};

/// The widest window from a call's read to its later write of the same thing, with another call's write of it in between. What a file says
/// comes before what is said about it: its mode, or whether it is there.
pub(crate) fn stale_window(history: &History) -> Option<StaleWindow> {
    let contents: Vec<&IoTick> = history.ticks.iter().filter(|tick| !is_about(tick)).collect();
    widest(&contents).or_else(|| widest(&history.ticks.iter().collect::<Vec<_>>()))
}

/// Words of operations that neither read nor write what is in a file.
const ABOUT: &[&str] = &[
    "access", "chmod", "chown", "exists", "fstat", "futimes", "lstat", "lutimes", "mkdir", "realpath",
    "stat", "utimes",
];

fn is_about(tick: &IoTick) -> bool {
    tick.on.split(' ').next().is_some_and(|word| ABOUT.contains(&word))
}

fn widest(ticks: &[&IoTick]) -> Option<StaleWindow> {
    let pairs = ticks.iter().filter(|tick| tick.kind == TickKind::Read).flat_map(|read| {
        let writes = ticks.iter().filter(move |write| {
            write.kind == TickKind::Write
                && write.call == read.call
                && write.at > read.at
                && same(write, read)
        });
        writes.map(move |write| (read, write))
    });
    let windows = pairs.filter_map(|(read, write)| {
        let call = read.call?;
        let between = |tick: &&&IoTick| {
            tick.kind == TickKind::Write
                && tick.call.is_some_and(|other| other != call)
                && (read.at..write.at).contains(&tick.at)
                && same(tick, read)
        };
        ticks.iter().find(between)?;
        Some(StaleWindow { call, from: read.at, to: write.at })
    });
    windows.max_by_key(|window| window.to.saturating_sub(window.from))
}

/// Whether two operations are on the same thing. Behind the word for the operation stands what it is on; a rename names two.
fn same(one: &IoTick, two: &IoTick) -> bool {
    let things = |tick: &IoTick| -> Vec<String> {
        let behind = tick.on.split_once(' ').map_or("", |(_, behind)| behind);
        behind.split(" -> ").filter(|thing| !thing.is_empty()).map(str::to_owned).collect()
    };
    let others = things(two);
    things(one).iter().any(|thing| others.contains(thing))
}

#[cfg(test)]
mod tests {
    use interlock_model::Moment;

    use super::*;

    fn tick(call: usize, at: u64, kind: TickKind, on: &str) -> IoTick {
        IoTick { call: Some(call), at: Moment::from_millis(at), kind, on: on.into() }
    }

    #[test]
    fn the_window_is_from_the_read_to_the_write_that_undoes_anothers() {
        use TickKind::{Read, Write};
        let ticks = vec![
            tick(0, 1, Read, "readFile graph"),
            tick(1, 2, Read, "readFile graph"),
            tick(0, 5, Write, "writeFile graph"),
            tick(1, 8, Write, "writeFile graph"),
        ];
        let window = stale_window(&History { calls: vec![], ticks }).unwrap();
        assert_eq!((window.call, window.from.as_millis(), window.to.as_millis()), (1, 2, 8));
    }

    #[test]
    fn a_file_that_is_put_in_place_by_a_rename_is_written() {
        use TickKind::{Read, Write};
        let ticks = vec![
            tick(0, 1, Read, "readFile graph"),
            tick(1, 2, Write, "rename graph.tmp -> graph"),
            tick(0, 3, Write, "rename graph.tmp2 -> graph"),
        ];
        assert_eq!(stale_window(&History { calls: vec![], ticks }).map(|window| window.call), Some(0));
    }

    #[test]
    fn what_a_file_says_comes_before_what_is_said_about_it() {
        use TickKind::{Read, Write};
        let ticks = vec![
            tick(0, 1, Read, "realpath a"),
            tick(0, 2, Read, "readFile a"),
            tick(1, 3, Read, "readFile a"),
            tick(0, 5, Write, "rename a.1 -> a"),
            tick(1, 6, Write, "rename a.2 -> a"),
            tick(0, 9, Write, "chmod a"),
        ];
        let window = stale_window(&History { calls: vec![], ticks }).unwrap();
        assert_eq!((window.call, window.from.as_millis(), window.to.as_millis()), (1, 3, 6));
        let only_about =
            vec![tick(0, 1, Read, "access a"), tick(1, 2, Write, "mkdir a"), tick(0, 3, Write, "mkdir a")];
        assert_eq!(
            stale_window(&History { calls: vec![], ticks: only_about }).map(|window| window.call),
            Some(0)
        );
    }

    #[test]
    fn calls_that_follow_each_other_or_use_other_files_have_none() {
        use TickKind::{Read, Write};
        let apart = vec![
            tick(0, 1, Read, "readFile a"),
            tick(0, 2, Write, "writeFile a"),
            tick(1, 3, Read, "readFile a"),
            tick(1, 4, Write, "writeFile a"),
        ];
        assert_eq!(stale_window(&History { calls: vec![], ticks: apart }), None);
        let other = vec![
            tick(0, 1, Read, "readFile a"),
            tick(1, 2, Write, "writeFile b"),
            tick(0, 3, Write, "writeFile a"),
        ];
        assert_eq!(stale_window(&History { calls: vec![], ticks: other }), None);
    }
}
