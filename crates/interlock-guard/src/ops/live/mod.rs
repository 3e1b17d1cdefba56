//! This moment, and the last five minutes, for the page and for whoever polls the JSON.

mod page;
mod recent;
mod ring;
mod state;

pub(super) use self::{
    page::{POLICY, page},
    recent::{Recent, Refused},
    ring::Ring,
    state::{State, Surroundings, state},
};
