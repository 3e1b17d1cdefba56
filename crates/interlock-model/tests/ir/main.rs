//! Can the IR say it? Each module hand-builds real shapes, safe and unsafe, and shows that the two differ in what the IR says.
//!
//! A shape is checked twice: its text form, as a front end's tests will compare it, and a question that a rule will ask of it.

mod ask;

mod counters;
mod databases;
mod files;
mod helpers;
mod lifecycle;
mod the_other_hazards;

use expect_test::Expect;
use interlock_model::{
    FileId, Span,
    ir::{Function, FunctionBuilder, Program},
};

/// A program of one file with these functions.
fn program(functions: impl IntoIterator<Item = Function>) -> Program {
    let mut program = Program::default();
    program.add_file("server.ts");
    for function in functions {
        program.add_function(function);
    }
    program
}

/// A function on a line of that file.
fn function(line: u32, name: &str) -> FunctionBuilder {
    FunctionBuilder::new(name).span(Span::on_line(FileId(0), line))
}

/// Compares the text form.
fn check(program: &Program, expect: Expect) {
    expect.assert_eq(&program.to_string());
}
