//! The library's single flight, file by file.

#[path = "../../src/single_flight/flight.rs"]
mod flight;
#[path = "../../src/single_flight/group.rs"]
mod group;
#[path = "../../src/single_flight/seat.rs"]
mod seat;

pub(crate) use self::group::SingleFlight;
