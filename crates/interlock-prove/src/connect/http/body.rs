//! Bodies: how long one is, taken out of its chunks, and the messages in a stream of events.

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// So many bytes are left.
    Exactly(usize),
    /// Chunks, the last of them empty.
    Chunked,
    /// With the connection.
    UntilClosed,
}

/// Takes what is complete from the front of `raw` and adds it to `body`. Says whether the body is complete.
pub(super) fn advance(length: &mut Length, raw: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<bool, String> {
    match length {
        Length::Exactly(left) => {
            let take = raw.len().min(*left);
            body.extend(raw.drain(..take));
            *left -= take;
            Ok(*left == 0)
        }
        Length::UntilClosed => {
            body.append(raw);
            Ok(false)
        }
        Length::Chunked => loop {
            match httparse::parse_chunk_size(raw).map_err(|_| "a chunk without a length".to_owned())? {
                httparse::Status::Partial => return Ok(false),
                httparse::Status::Complete((start, 0)) => {
                    // The empty chunk is followed by an empty line; trailers are not used by anybody we talk to.
                    if raw.len() < start + 2 {
                        return Ok(false);
                    }
                    raw.drain(..start + 2);
                    return Ok(true);
                }
                httparse::Status::Complete((start, size)) => {
                    let size = usize::try_from(size).map_err(|_| "a chunk without an end".to_owned())?;
                    let Some(end) = start.checked_add(size).and_then(|end| end.checked_add(2)) else {
                        return Err("a chunk without an end".to_owned());
                    };
                    if raw.len() < end {
                        return Ok(false);
                    }
                    body.extend(raw.drain(..end).skip(start).take(size));
                }
            }
        },
    }
}

/// Takes the complete events from the front of a stream and returns their data.
pub(super) fn events(stream: &mut Vec<u8>) -> Vec<String> {
    let mut events = Vec::new();
    while let Some(end) = end_of_event(stream) {
        let event: Vec<u8> = stream.drain(..end).collect();
        let event = String::from_utf8_lossy(&event).into_owned();
        let data: Vec<&str> = event
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        if !data.is_empty() {
            events.push(data.join("\n"));
        }
    }
    events
}

/// Behind the empty line that ends the first event.
fn end_of_event(stream: &[u8]) -> Option<usize> {
    let ends = [b"\n\n".as_slice(), b"\r\n\r\n", b"\r\r"];
    let found = ends.iter().filter_map(|end| {
        stream.windows(end.len()).position(|window| window == *end).map(|at| at + end.len())
    });
    found.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_may_arrive_in_any_pieces() {
        let whole = b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\nnext";
        for cut in 0..whole.len() {
            let (mut length, mut body) = (Length::Chunked, Vec::new());
            let mut raw = whole[..cut].to_vec();
            let mut done = advance(&mut length, &mut raw, &mut body).unwrap();
            if !done {
                raw.extend(&whole[cut..]);
                done = advance(&mut length, &mut raw, &mut body).unwrap();
            } else {
                raw.extend(&whole[cut..]);
            }
            assert!(done, "cut at {cut}");
            assert_eq!(body, b"hello world", "cut at {cut}");
            assert_eq!(raw, b"next", "cut at {cut}");
        }
    }

    #[test]
    fn a_body_ends_at_its_length() {
        let (mut length, mut raw, mut body) = (Length::Exactly(3), b"abcdef".to_vec(), Vec::new());
        assert!(advance(&mut length, &mut raw, &mut body).unwrap());
        assert_eq!((body.as_slice(), raw.as_slice()), (b"abc".as_slice(), b"def".as_slice()));
    }

    #[test]
    fn chunks_without_sense_are_an_error_and_no_panic() {
        for text in ["zz\r\n", "ffffffffffffffffff\r\n", "fffffffffffffffe\r\nabc"] {
            let mut raw = text.as_bytes().to_vec();
            let outcome = advance(&mut Length::Chunked, &mut raw, &mut Vec::new());
            assert!(!matches!(outcome, Ok(true)), "{text}");
        }
    }

    #[test]
    fn events_are_told_apart_and_their_lines_joined() {
        let mut stream =
            b"event: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n: ping\n\ndata:two\n\ndata: thr".to_vec();
        assert_eq!(events(&mut stream), ["{\"a\":\n1}", "two"]);
        assert_eq!(stream, b"data: thr");
    }
}
