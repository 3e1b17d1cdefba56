//! What the driver says, folded to what a caller can act on.

use interlock_sync::store::StoreError;
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// What the server answers instead of running a command, and will not answer for ever.
///
/// A script that is refused its first write with one of these has written nothing: everything is read before.
const NOT_NOW: [&str; 11] = [
    "ASK",
    "BUSY",
    "LOADING",
    "READONLY",
    "TRYAGAIN",
    "MASTERDOWN",
    "CLUSTERDOWN",
    "NOREPLICAS",
    "MISCONF",
    "OOM",
    "NOSCRIPT",
];

/// An error of a command that was handed to a connection.
pub(super) fn sent(error: RedisError, place: &str) -> StoreError {
    if error.is_timeout() {
        return StoreError::in_doubt(format!("{place} did not answer in time"), error);
    }
    match error.kind() {
        ErrorKind::Io => StoreError::in_doubt(format!("the connection to {place} broke"), error),
        _ if is_not_now(&error) => StoreError::unavailable(format!("{place} cannot serve now"), error),
        ErrorKind::Server(ServerErrorKind::Moved) => StoreError::broken(
            format!(
                "{place} is the wrong node of its cluster for this namespace, and does not lead to the right one"
            ),
            error,
        ),
        _ => StoreError::broken(format!("{place} refused"), error),
    }
}

/// An error of making a connection: nothing was sent.
pub(super) fn connecting(error: RedisError, place: &str) -> StoreError {
    match error.kind() {
        ErrorKind::Io => StoreError::unavailable(format!("no connection to {place}"), error),
        _ if is_not_now(&error) => StoreError::unavailable(format!("{place} cannot serve now"), error),
        _ => StoreError::broken(format!("{place} refused the connection"), error),
    }
}

/// Whether the server refused because it does not know the script.
pub(super) fn is_unknown_script(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

/// Whether a connection that brought this error is of no more use. After a time-out it may be a line that nobody is at the other end
/// of any more, which the operating system finds out only much later; and a server that became read-only is the wrong one.
pub(super) fn spoils_the_line(error: &RedisError) -> bool {
    let kind = error.kind();
    error.is_unrecoverable_error()
        || matches!(kind, ErrorKind::Io | ErrorKind::Server(ServerErrorKind::ReadOnly))
}

/// Servers before 7 wrap what a script was refused with into an error of their own, so the code may be inside.
fn is_not_now(error: &RedisError) -> bool {
    let wrapped =
        || error.detail().is_some_and(|said| said.split([' ', '-']).any(|word| NOT_NOW.contains(&word)));
    match error.code() {
        Some("ERR") => wrapped(),
        Some(code) => NOT_NOW.contains(&code),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn said(code: &str, detail: &str) -> StoreError {
        let answer = format!("-{code} {detail}\r\n");
        let value = redis::parse_redis_value(answer.as_bytes()).unwrap();
        sent(value.extract_error().unwrap_err(), "redis://here")
    }

    #[test]
    fn what_the_server_will_not_say_for_ever_may_be_tried_again() {
        for code in NOT_NOW {
            assert!(matches!(said(code, "for some reason"), StoreError::Unavailable { .. }), "{code}");
        }
        let old =
            "Error running script (call to f_1): @user_script:9: @user_script: 9: -READONLY You can't write";
        assert!(matches!(said("ERR", old), StoreError::Unavailable { .. }));
    }

    #[test]
    fn what_it_refuses_for_good_is_not_tried_again() {
        for code in ["NOAUTH", "WRONGPASS", "NOPERM", "WRONGTYPE", "MOVED", "ERR"] {
            assert!(matches!(said(code, "3 no:1"), StoreError::Broken { .. }), "{code}");
        }
    }

    #[test]
    fn an_answer_that_did_not_come_leaves_doubt_and_a_connection_that_was_not_made_does_not() {
        for kind in [io::ErrorKind::TimedOut, io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset] {
            let error = RedisError::from(io::Error::from(kind));
            assert!(spoils_the_line(&error), "{kind}");
            assert!(matches!(connecting(error.clone(), ""), StoreError::Unavailable { .. }), "{kind}");
            assert!(sent(error, "").is_in_doubt(), "{kind}");
        }
    }
}
