//! Parses the TypeScript and JavaScript files that a list names, one on each line, on one thread and does nothing with them: what
//! `cargo xtask bench scan` measures a whole scan by, on the files that the scan reads. Prints how many files and bytes there were.
#![expect(clippy::print_stdout, reason = "this is a program, and what it prints is what it is for")]
#![expect(clippy::disallowed_methods, reason = "this is a program, and the list is its argument")]

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    thread,
};

use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;

/// As much as a scan gives to its threads.
const STACK: usize = 128 << 20;

fn main() -> io::Result<()> {
    let list = env::args_os().nth(1).map(PathBuf::from).ok_or(io::ErrorKind::InvalidInput)?;
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || parse_all(&list))?;
    let (files, bytes, statements) = worker.join().map_err(|_| io::ErrorKind::Other)??;
    println!("{files} {bytes} {statements}");
    Ok(())
}

fn parse_all(list: &Path) -> io::Result<(usize, usize, usize)> {
    let (mut files, mut bytes, mut statements) = (0, 0, 0);
    let mut allocator = Allocator::default();
    for path in fs::read_to_string(list)?.lines() {
        let Ok(source_type) = SourceType::from_path(path) else { continue };
        let text = fs::read_to_string(path)?;
        let parsed = Parser::new(&allocator, &text, source_type).parse();
        files += 1;
        bytes += text.len();
        statements += parsed.program.body.len();
        allocator.reset();
    }
    Ok((files, bytes, statements))
}
