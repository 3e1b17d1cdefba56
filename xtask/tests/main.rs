//! The commands as a person runs them, on a copy of the workspace, so that they may break and create what they like.

mod copy;
mod gen_check;
mod new_hazard;
mod tidy;
