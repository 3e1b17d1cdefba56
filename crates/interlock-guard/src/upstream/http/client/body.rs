//! The body of an answer: where it ends, and the connection that is free then.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes, BytesMut};
use httparse::{EMPTY_HEADER, Status};
use hyper::body::{Body, Frame, SizeHint};

use super::{Shelf, broken::Broken, line::Line};

/// An answer on its way. When it has come as a whole its connection is used again; when it is dropped before, the connection ends.
pub(crate) struct Arriving {
    pub(super) line: Option<Box<Line>>,
    pub(super) rest: Rest,
    /// The connection is of no use afterwards.
    pub(super) is_last: bool,
    pub(super) shelf: Shelf,
}

/// What is still to come of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// So many bytes.
    Known(u64),
    /// Everything until the server hangs up.
    UntilClose,
    /// The line with the size of the next chunk.
    ChunkSize,
    /// So many bytes of a chunk.
    Chunk(u64),
    /// The line break behind a chunk.
    ChunkEnd,
    /// The lines behind the last chunk.
    Trailers,
}

/// What was found in what was read.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Data(Bytes),
    Nothing,
    End,
}

/// The longest line with the size of a chunk; a server may write something behind the number.
const LONGEST_LINE: usize = 4 << 10;
/// How much may stand behind the last chunk.
const LONGEST_TRAILERS: usize = 16 << 10;

impl Rest {
    /// How many bytes will come, if that is known.
    pub(super) fn length(self) -> Option<u64> {
        match self {
            Self::Known(left) | Self::Chunk(left) => Some(left),
            _ => None,
        }
    }

    fn take(&mut self, read: &mut BytesMut) -> Result<Found, Broken> {
        loop {
            match self {
                Self::Known(0) => return Ok(Found::End),
                Self::Chunk(0) => *self = Self::ChunkEnd,
                _ if read.is_empty() => return Ok(Found::Nothing),
                Self::Known(left) | Self::Chunk(left) => {
                    let length = read.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= length as u64;
                    return Ok(Found::Data(read.split_to(length).freeze()));
                }
                Self::UntilClose => return Ok(Found::Data(read.split().freeze())),
                Self::ChunkSize => {
                    if !read.first().is_some_and(u8::is_ascii_hexdigit) {
                        return Err(Broken::Chunk);
                    }
                    match httparse::parse_chunk_size(read).map_err(|_| Broken::Chunk)? {
                        Status::Complete((line, size)) => {
                            read.advance(line);
                            *self = if size == 0 { Self::Trailers } else { Self::Chunk(size) };
                        }
                        Status::Partial if read.len() > LONGEST_LINE => return Err(Broken::Chunk),
                        Status::Partial => return Ok(Found::Nothing),
                    }
                }
                Self::ChunkEnd if read.len() < 2 => return Ok(Found::Nothing),
                Self::ChunkEnd if read.starts_with(b"\r\n") => {
                    read.advance(2);
                    *self = Self::ChunkSize;
                }
                Self::ChunkEnd => return Err(Broken::Chunk),
                Self::Trailers => match httparse::parse_headers(read, &mut [EMPTY_HEADER; 32]) {
                    Ok(Status::Complete((lines, _))) => {
                        read.advance(lines);
                        *self = Self::Known(0);
                    }
                    Ok(Status::Partial) if read.len() <= LONGEST_TRAILERS => return Ok(Found::Nothing),
                    _ => return Err(Broken::Chunk),
                },
            }
        }
    }
}

impl Arriving {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Broken>> {
        let Some(line) = &mut self.line else { return Poll::Ready(Ok(None)) };
        line.go_on_sending(context);
        loop {
            match self.rest.take(line.read_mut())? {
                Found::Data(bytes) => return Poll::Ready(Ok(Some(bytes))),
                Found::Nothing => {}
                Found::End => {
                    if let Some(line) = self.line.take().filter(|line| !self.is_last && line.is_done()) {
                        self.shelf.put(line);
                    }
                    return Poll::Ready(Ok(None));
                }
            }
            if !ready!(line.poll_read(context, self.rest.length()))? {
                return Poll::Ready(match self.rest {
                    Rest::UntilClose => Ok(None),
                    _ => Err(Broken::HungUp),
                });
            }
        }
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let next = ready!(self.poll_next(context));
        if !matches!(next, Ok(Some(_))) {
            self.line = None;
        }
        Poll::Ready(next.transpose().map(|next| next.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        // Asked to the end in any case, so that the connection is put back.
        false
    }

    fn size_hint(&self) -> SizeHint {
        match self.rest {
            Rest::Known(left) => SizeHint::with_exact(left),
            _ => SizeHint::default(),
        }
    }
}
