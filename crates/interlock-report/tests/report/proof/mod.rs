//! Proofs, in every form.

mod html;
mod json;
mod replay;
mod sample;
mod text;
mod trace;
