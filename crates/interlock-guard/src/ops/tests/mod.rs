//! The operations side as a whole, over events as the guard makes them.

mod admin;
mod audit;
mod desk;
mod flood;
mod metrics;
mod story;
mod traces;
