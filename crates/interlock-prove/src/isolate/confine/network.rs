//! A network of one's own, in which there is nothing but loopback. It is down at first; servers that talk to themselves need it.

use std::io;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink::SocketAddrNetlink, recv, sendto,
    socket_with,
};

use super::named;

/// In every network namespace loopback is the first link.
const LOOPBACK: u32 = 1;

/// Of rtnetlink(7): a message that changes a link, what is asked of it, and the flag of a link that is up.
const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST_AND_ACK: u16 = 1 | 4;
const IFF_UP: u32 = 1;

/// Brings loopback up.
pub(super) fn raise_loopback() -> io::Result<()> {
    let raised = || -> io::Result<()> {
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        sendto(&socket, &request(), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        let mut answer = [0_u8; 256];
        let (_, length) = recv(&socket, &mut answer, RecvFlags::empty())?;
        acknowledged(answer.get(..length).unwrap_or_default())
    };
    raised().map_err(named("loopback in a network of its own"))
}

/// A header of 16 bytes and an `ifinfomsg` of 16.
fn request() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32);
    bytes.extend(32_u32.to_ne_bytes());
    bytes.extend(RTM_NEWLINK.to_ne_bytes());
    bytes.extend(NLM_F_REQUEST_AND_ACK.to_ne_bytes());
    // Sequence and port: there is one message on one socket.
    bytes.extend([0; 8]);
    // Family and type of the link: unspecified.
    bytes.extend([0; 4]);
    bytes.extend(LOOPBACK.to_ne_bytes());
    bytes.extend(IFF_UP.to_ne_bytes());
    // Which flags are changed.
    bytes.extend(IFF_UP.to_ne_bytes());
    bytes
}

/// Behind the header of the answer is a number: zero, or an error below it.
fn acknowledged(answer: &[u8]) -> io::Result<()> {
    let code = answer.get(16..20).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok()).map(i32::from_ne_bytes);
    match code {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, "the answer is too short")),
    }
}
