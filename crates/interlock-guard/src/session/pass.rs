//! Session ids that every replica can read: the handshake of a client and the name of the caller, signed with a key that all replicas have.
//!
//! So whoever loses its replica, or is led to another one, goes on with the id that it has: the other one begins the session again from it. What the
//! policy knows of the session, such as what it has read, is in the store, under a short name that the id also says. What is gone is what only the
//! first replica had: streams that were open, and what a server keeps for a process or a session of the client's own.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};

use super::client::unguessable;
use crate::{
    call::Caller,
    message::{Kind, Message},
};

/// Makes and reads ids of sessions.
pub(crate) struct Passes {
    sign: EncodingKey,
    check: DecodingKey,
    asked: Validation,
}

/// What an id says.
#[derive(Serialize, Deserialize)]
struct Pass {
    /// Not a token for anything else that is signed with the same key.
    aud: String,
    /// Who opened the session.
    sub: String,
    exp: u64,
    /// The short name.
    jti: String,
    /// The handshake, as it came.
    hello: String,
}

/// A session that an id tells of.
pub(crate) struct Known {
    /// Its short name.
    pub(crate) name: Arc<str>,
    /// How its client began it.
    pub(crate) hello: Message,
}

const FOR: &str = "interlock session";

/// How long an id is good for where nobody remembers its session.
const LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest handshake that goes into a header with each request: most have some hundred bytes.
const LONGEST_HELLO: usize = 2 << 10;

/// And the longest id that is looked at.
const LONGEST_ID: usize = 8 << 10;

impl Passes {
    /// Signs with this key.
    pub(crate) fn new(key: &[u8]) -> Self {
        let mut asked = Validation::new(Algorithm::HS256);
        asked.set_required_spec_claims(&["exp", "aud", "sub"]);
        asked.set_audience(&[FOR]);
        Self { sign: EncodingKey::from_secret(key), check: DecodingKey::from_secret(key), asked }
    }

    /// An id for a session that this caller begins so, and its short name. None for a handshake that is too long to be carried along.
    pub(crate) fn issue(&self, caller: &Caller, hello: &Message) -> Option<(String, Arc<str>)> {
        let hello = std::str::from_utf8(hello.bytes()).ok().filter(|hello| hello.len() <= LONGEST_HELLO)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let pass = Pass {
            aud: FOR.to_owned(),
            sub: caller.as_str().to_owned(),
            exp: (now + LIFE).as_secs(),
            jti: unguessable(),
            hello: hello.to_owned(),
        };
        let id = encode(&Header::new(Algorithm::HS256), &pass, &self.sign).ok()?;
        Some((id, pass.jti.into()))
    }

    /// What an id says, if it was made with this key for this caller.
    pub(crate) fn read(&self, id: &str, caller: &Caller) -> Option<Known> {
        if id.len() > LONGEST_ID {
            return None;
        }
        let pass = decode::<Pass>(id, &self.check, &self.asked).ok()?.claims;
        let hello = Message::read(pass.hello.into()).ok()?;
        let is_whole =
            pass.sub == caller.as_str() && hello.kind() == Kind::Request && hello.method() == "initialize";
        is_whole.then(|| Known { name: pass.jti.into(), hello })
    }
}

impl fmt::Debug for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8] = b"a key of thirty-two bytes or more";

    fn hello(name: &str) -> Message {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"2025-11-25","clientInfo":{{"name":"{name}"}}}}}}"#
        );
        Message::read(text.into()).unwrap()
    }

    #[test]
    fn an_id_is_read_with_its_key_and_for_its_caller() {
        let (ann, passes) = (Caller::new("jwt:ann"), Passes::new(KEY));
        let (id, name) = passes.issue(&ann, &hello("x")).unwrap();
        assert!(id.bytes().all(|byte| byte.is_ascii_graphic()), "it goes into a header: {id}");
        let known = Passes::new(KEY).read(&id, &ann).unwrap();
        assert_eq!((known.name, known.hello.bytes()), (name, hello("x").bytes()));
        assert!(passes.read(&id, &Caller::new("jwt:bob")).is_none());
        assert!(Passes::new(b"another key of thirty-two bytes!!").read(&id, &ann).is_none());
    }

    #[test]
    fn what_nobody_signed_is_no_id() {
        let (ann, passes) = (Caller::new("jwt:ann"), Passes::new(KEY));
        let (id, _) = passes.issue(&ann, &hello("x")).unwrap();
        let (signed, signature) = id.rsplit_once('.').unwrap();
        let (other, _) = passes.issue(&Caller::new("jwt:eve"), &hello("x")).unwrap();
        let body = other.split('.').nth(1).unwrap();
        let head = id.split('.').next().unwrap();
        for forged in [
            String::new(),
            signed.to_owned(),
            format!("{signed}."),
            format!("{head}.{body}.{signature}"),
            format!("{id}x"),
            "x".repeat(LONGEST_ID + 1),
            "0123456789abcdef0123456789abcdef".to_owned(),
        ] {
            assert!(passes.read(&forged, &ann).is_none(), "{forged}");
        }
        // The same key may sign tokens of another kind.
        let claims = serde_json::json!({ "aud": "it", "sub": "jwt:ann", "exp": 4_102_444_800_u64, "jti": "x", "hello": "{}" });
        let token = encode(&Header::new(Algorithm::HS256), &claims, &EncodingKey::from_secret(KEY)).unwrap();
        assert!(passes.read(&token, &ann).is_none());
    }

    #[test]
    fn a_handshake_that_is_too_long_has_no_place_in_an_id() {
        let passes = Passes::new(KEY);
        assert!(passes.issue(&Caller::anonymous(), &hello(&"x".repeat(LONGEST_HELLO))).is_none());
    }
}
