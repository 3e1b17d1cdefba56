//! What the cases are, as pages and once they are compiled, and trees of whose findings more counts than the lines.

#[path = "../pages/catalogue.rs"]
mod catalogue;
mod compiled;
mod findings;
mod pages;
