//! Real keys, tokens and certificates, made when the tests run.

mod fetch;
mod kit;
mod tls;
mod token;
mod way;
