//! Two callers, the second 10 ms after the first: read a number, add one, write it back.

use std::{fs, io, thread, time::Duration};

fn call(late: Duration) {
    thread::sleep(late);
    let count: i64 = fs::read_to_string("count").unwrap().parse().unwrap_or(-1);
    fs::write("count", (count + 1).to_string()).unwrap();
}

fn main() {
    println!("ready");
    for _ in io::stdin().lines() {
        thread::scope(|scope| {
            scope.spawn(|| call(Duration::ZERO));
            scope.spawn(|| call(Duration::from_millis(10)));
        });
        println!("done");
    }
}
