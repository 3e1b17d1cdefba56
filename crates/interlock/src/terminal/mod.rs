//! Text for people at a terminal.

mod ink;
mod markdown;

pub(crate) use self::{ink::Ink, markdown::markdown};
