//! How clients reach the guard: stdio and Streamable HTTP.

mod http;
mod stdio;

pub use self::{
    http::{Options, http},
    stdio::stdio,
};

use bytes::{BufMut, Bytes, BytesMut};

use crate::session::Said;

/// The answers of a batch as one message; `None` if there are none.
fn together(said: Vec<Said>) -> Option<Bytes> {
    let mut bytes = BytesMut::new();
    for said in said {
        if let Some(answer) = said.bytes() {
            bytes.put_u8(if bytes.is_empty() { b'[' } else { b',' });
            bytes.put_slice(&answer);
        }
    }
    if bytes.is_empty() {
        return None;
    }
    bytes.put_u8(b']');
    Some(bytes.freeze())
}
