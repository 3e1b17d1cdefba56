//! Proofs, in every form.

mod html;
mod json;
mod replay;
pub(crate) mod sample;
mod text;
mod trace;
