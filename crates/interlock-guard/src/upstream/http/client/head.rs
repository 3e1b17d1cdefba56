//! The head of a request as it is written, and that of an answer as it is read.

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Version, header};
use httparse::{EMPTY_HEADER, Status};

use super::{body::Rest, broken::Broken};

/// The longest head of an answer.
const LONGEST: usize = 64 << 10;
/// Almost no answer has more headers, and none may have more than the most.
const FEW: usize = 24;
const MOST: usize = 256;
/// The longest body that is put behind its head, so that both are one piece for the system.
const TOGETHER: usize = 16 << 10;

/// The head of an answer, and what comes behind it.
pub(super) struct Head {
    pub(super) response: Response<()>,
    pub(super) rest: Rest,
    /// The connection is of no use afterwards.
    pub(super) is_last: bool,
}

/// A request as it goes over a connection, in two pieces of which the second may be empty.
pub(crate) type Written = [Bytes; 2];

/// A request as it goes over a connection.
pub(super) fn written(request: &Request<Bytes>) -> Written {
    with_body(&lines(request), request.body(), request.method() == Method::POST)
}

/// The first lines of the head of a request: all but what is said of its body.
pub(crate) fn lines<B>(request: &Request<B>) -> Bytes {
    let (uri, headers) = (request.uri(), request.headers());
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    // Whoever has a name and a password in its address does not mean the server to find them in this header.
    let host = uri.authority().and_then(|host| host.as_str().rsplit('@').next()).unwrap_or_default();
    let mut lines = BytesMut::with_capacity(512);
    let mut put = |parts: &[&[u8]]| parts.iter().for_each(|part| lines.extend_from_slice(part));
    put(&[request.method().as_str().as_bytes(), b" ", path.as_bytes(), b" HTTP/1.1\r\n"]);
    if !headers.contains_key(header::HOST) {
        put(&[b"host: ", host.as_bytes(), b"\r\n"]);
    }
    // How long the body is, and how long the connection lasts, is nobody else's to say.
    let own = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION];
    for (name, value) in headers.iter().filter(|(name, _)| !own.contains(name)) {
        put(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"]);
    }
    lines.freeze()
}

/// A request of these lines and this body.
pub(crate) fn with_body(lines: &[u8], body: &Bytes, states_length: bool) -> Written {
    let behind = if body.len() <= TOGETHER { body.len() } else { 0 };
    let mut head = BytesMut::with_capacity(lines.len() + behind + 48);
    head.extend_from_slice(lines);
    if states_length || !body.is_empty() {
        head.extend_from_slice(b"content-length: ");
        head.extend_from_slice(body.len().to_string().as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    if behind < body.len() {
        return [head.freeze(), body.clone()];
    }
    head.extend_from_slice(body);
    [head.freeze(), Bytes::new()]
}

/// Takes the head of an answer from what was read; `None` if it is not there as a whole yet.
pub(super) fn take(read: &mut BytesMut) -> Result<Option<Head>, Broken> {
    loop {
        let parsed = match parse(read, &mut [EMPTY_HEADER; FEW]) {
            Err(Broken::Head(httparse::Error::TooManyHeaders)) => parse(read, &mut vec![EMPTY_HEADER; MOST]),
            parsed => parsed,
        }?;
        let Some((length, head)) = parsed else {
            return if read.len() > LONGEST { Err(Broken::TooLong) } else { Ok(None) };
        };
        read.advance(length);
        match head.response.status() {
            StatusCode::SWITCHING_PROTOCOLS => return Err(Broken::Switched),
            // An answer comes behind it.
            status if status.is_informational() => {}
            _ => return Ok(Some(head)),
        }
    }
}

fn parse<'a>(read: &'a [u8], room: &mut [httparse::Header<'a>]) -> Result<Option<(usize, Head)>, Broken> {
    let mut parsed = httparse::Response::new(room);
    let Status::Complete(length) = parsed.parse(read).map_err(Broken::Head)? else { return Ok(None) };
    let status = StatusCode::from_u16(parsed.code.unwrap_or_default()).map_err(|_| Broken::Status)?;
    let mut framing = Framing { is_last: parsed.version == Some(0), ..Framing::default() };
    let mut headers = HeaderMap::with_capacity(parsed.headers.len());
    for line in parsed.headers.iter() {
        let name = HeaderName::from_bytes(line.name.as_bytes()).map_err(|_| Broken::Header)?;
        let value = HeaderValue::from_bytes(line.value).map_err(|_| Broken::Header)?;
        framing.hear(&name, line.value)?;
        headers.append(name, value);
    }
    let (rest, is_last) = framing.rest(status);
    let mut response = Response::new(());
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    *response.version_mut() = if parsed.version == Some(0) { Version::HTTP_10 } else { Version::HTTP_11 };
    Ok(Some((length, Head { response, rest, is_last })))
}

/// What headers say of where an answer ends.
#[derive(Default)]
struct Framing {
    length: Option<u64>,
    has_coding: bool,
    is_chunked: bool,
    is_last: bool,
}

impl Framing {
    fn hear(&mut self, name: &HeaderName, value: &[u8]) -> Result<(), Broken> {
        let mut words = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        if name == header::CONTENT_LENGTH {
            for word in words {
                // Whoever states two lengths could mean either, and the rest would be taken for another answer.
                let length = whole(word).filter(|length| self.length.is_none_or(|known| known == *length));
                self.length = Some(length.ok_or(Broken::Length)?);
            }
        } else if name == header::TRANSFER_ENCODING {
            self.has_coding = true;
            self.is_chunked = words.next_back().is_some_and(|last| last.eq_ignore_ascii_case(b"chunked"));
        } else if name == header::CONNECTION {
            self.is_last |= words.any(|word| word.eq_ignore_ascii_case(b"close"));
        }
        Ok(())
    }

    /// What comes, and whether the connection is of no use afterwards.
    fn rest(&self, status: StatusCode) -> (Rest, bool) {
        if matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
            return (Rest::Known(0), self.is_last);
        }
        match (self.has_coding, self.is_chunked, self.length) {
            // One that states a length besides may not know where it ends itself.
            (true, true, length) => (Rest::ChunkSize, self.is_last || length.is_some()),
            (false, _, Some(length)) => (Rest::Known(length), self.is_last),
            (true, false, _) | (false, _, None) => (Rest::UntilClose, true),
        }
    }
}

/// A number in digits and nothing else.
fn whole(digits: &[u8]) -> Option<u64> {
    let is_plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_plain)?.parse().ok()
}
