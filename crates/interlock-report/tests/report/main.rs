//! Every format on the same few reports: what people and programs get to see.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

mod audit;
mod github;
mod hostile;
mod json;
mod markdown;
mod proof;
mod sample;
mod sarif;
mod text;
