//! Threads of one process against each other.

use std::{sync::Barrier, thread};

use interlock_sync::files::{Created, Files, State, Swap};

use crate::{PLENTY, hash, names, read, root};

/// Runs as many threads, all released at once, and collects what they say.
fn together<T: Send>(threads: usize, act: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let start = |index| {
            let (act, barrier) = (&act, &barrier);
            scope.spawn(move || {
                barrier.wait();
                act(index)
            })
        };
        let handles: Vec<_> = (0..threads).map(start).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    })
}

fn check_one_winner(make: impl Fn(&Files, &str, &[u8]) -> bool + Sync) {
    for round in 0..10 {
        let (folder, files) = root();
        let name = format!("f{round}");
        let won = together(32, |index| make(&files, &name, index.to_string().repeat(1000).as_bytes()));
        let winners: Vec<usize> = (0..).zip(won).filter_map(|(index, won)| won.then_some(index)).collect();
        let [winner] = winners[..] else { panic!("{winners:?}") };
        assert_eq!(read(&files, &name), winner.to_string().repeat(1000).as_bytes());
        assert_eq!(names(folder.path()), [".interlock", &name]);
    }
}

#[test]
fn of_thirty_two_who_create_a_file_one_does() {
    check_one_winner(|files, name, content| files.create_new(name, content).unwrap() == Created::New);
}

#[test]
fn of_thirty_two_who_swap_from_nothing_one_does() {
    check_one_winner(|files, name, content| {
        matches!(files.compare_and_swap(name, State::Absent, content).unwrap(), Swap::Done { .. })
    });
}

#[test]
fn of_creators_and_swappers_together_one_wins() {
    check_one_winner(|files, name, content| {
        if content.first().is_some_and(|digit| digit % 2 == 0) {
            files.create_new(name, content).unwrap() == Created::New
        } else {
            matches!(files.compare_and_swap(name, State::Absent, content).unwrap(), Swap::Done { .. })
        }
    });
}

#[test]
fn of_thirty_two_who_swap_the_same_content_one_does() {
    let (_folder, files) = root();
    files.replace("f", b"0").unwrap();
    for _ in 0..10 {
        let seen = State::Is(hash(&files, "f"));
        let won = together(32, |index| {
            let new = format!("{index} after {seen:?}");
            matches!(files.compare_and_swap("f", seen, new.as_bytes()).unwrap(), Swap::Done { .. })
        });
        assert_eq!(won.into_iter().filter(|won| *won).count(), 1);
    }
}

#[test]
fn no_appended_record_is_lost_to_a_swap_or_torn_by_another() {
    const EACH: usize = 50;
    let (folder, files) = root();
    // The second root is a second opening of the same files, as another process would have it.
    let others = Files::open(folder.path()).unwrap();
    files.replace("log", b"").unwrap();
    let add = |files: &Files, line: &str| loop {
        let content = files.read("log", PLENTY).unwrap().unwrap();
        let longer = [&content.bytes, line.as_bytes()].concat();
        if let Swap::Done { .. } = files.compare_and_swap("log", content.hash.into(), &longer).unwrap() {
            return;
        }
    };
    together(4, |index| {
        let files = if index % 2 == 0 { &files } else { &others };
        for round in 0..EACH {
            let line = format!("{index} {round} {}\n", "x".repeat(100 * index));
            if index < 2 { add(files, &line) } else { files.append("log", line.as_bytes()).unwrap() }
        }
    });
    let text = String::from_utf8(read(&files, "log")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4 * EACH);
    for index in 0..4 {
        let of_index: Vec<String> =
            (0..EACH).map(|round| format!("{index} {round} {}", "x".repeat(100 * index))).collect();
        let start = format!("{index} ");
        let found: Vec<&str> = lines.extract_if(.., |line| line.starts_with(&start)).collect();
        assert_eq!(found, of_index, "each once, whole, and in order");
    }
}

#[test]
fn an_unconditional_replace_never_comes_between_a_comparison_and_its_swap() {
    // One adds to a number by compare-and-swap, the other sets it to the next million. No swap may bring a number back that was
    // replaced by a greater one.
    const MILLION: usize = 1_000_000;
    let (_folder, files) = root();
    files.replace("n", b"0").unwrap();
    let number = |content: Vec<u8>| String::from_utf8(content).unwrap().parse::<usize>().unwrap();
    together(2, |index| {
        for round in 1..=200 {
            if index == 0 {
                files.replace("n", (round * MILLION).to_string().as_bytes()).unwrap();
                assert!(number(read(&files, "n")) >= round * MILLION, "a swap undid the replacement");
            } else {
                let content = files.read("n", PLENTY).unwrap().unwrap();
                let new = (number(content.bytes) + 1).to_string();
                let _ = files.compare_and_swap("n", content.hash.into(), new.as_bytes()).unwrap();
            }
        }
    });
}
