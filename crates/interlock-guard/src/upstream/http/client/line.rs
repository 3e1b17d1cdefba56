//! One connection: a request goes out, the head of its answer comes in.

use std::{
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes, BytesMut};
use http::Response;
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncReadExt, AsyncWrite},
    net::TcpStream,
};

use super::{
    Shelf,
    body::Arriving,
    broken::Broken,
    head::{self, Head, Written},
};

/// What a connection runs over.
pub(super) type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// A connection. It is large, with all that TLS needs, and goes from hand to hand in a box.
pub(super) struct Line {
    stream: TokioIo<Stream>,
    /// What came and was not taken yet.
    read: BytesMut,
    /// What was not sent yet of the request.
    unsent: Written,
    is_flushed: bool,
    /// Whether a byte of the request may have been read.
    has_sent: bool,
    /// Why the rest cannot be sent. The server may have answered before.
    unsendable: Option<Broken>,
}

/// How much is read at once, unless more is known to come.
const ROOM: usize = 8 << 10;
const MOST_ROOM: usize = 128 << 10;

impl Line {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream: TokioIo::new(stream),
            read: BytesMut::new(),
            unsent: [Bytes::new(), Bytes::new()],
            is_flushed: true,
            has_sent: false,
            unsendable: None,
        }
    }

    /// Sends a request and waits for the head of its answer. Otherwise says whether the server may have read any of it.
    pub(super) async fn exchange(
        mut self: Box<Self>,
        request: Written,
        shelf: &Shelf,
    ) -> Result<Response<Arriving>, (Broken, bool)> {
        self.unsent = request;
        (self.is_flushed, self.has_sent) = (false, false);
        match std::future::poll_fn(|context| self.poll_head(context)).await {
            Err(broken) => Err((broken, self.has_sent)),
            Ok(Head { response, rest, is_last }) => {
                let shelf = shelf.clone();
                Ok(response.map(|()| Arriving { line: Some(self), rest, is_last, shelf }))
            }
        }
    }

    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<Result<Head, Broken>> {
        self.go_on_sending(context);
        if !self.has_sent
            && let Some(broken) = self.unsendable.take()
        {
            return Poll::Ready(Err(broken));
        }
        loop {
            match ready!(self.poll_read(context, None)) {
                Ok(true) => {
                    if let Some(head) = head::take(&mut self.read)? {
                        return Poll::Ready(Ok(head));
                    }
                }
                Ok(false) => return Poll::Ready(Err(self.unsendable.take().unwrap_or(Broken::HungUp))),
                Err(broken) => return Poll::Ready(Err(self.unsendable.take().unwrap_or(broken))),
            }
        }
    }

    /// Sends what is left of the request, as far as the server takes it: it may begin to answer before it has read all.
    pub(super) fn go_on_sending(&mut self, context: &mut Context<'_>) {
        if let Poll::Ready(Err(broken)) = self.poll_send(context) {
            self.unsent = [Bytes::new(), Bytes::new()];
            self.is_flushed = true;
            self.unsendable = Some(broken);
        }
    }

    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        for part in &mut self.unsent {
            while !part.is_empty() {
                let sent = ready!(Pin::new(&mut self.stream).poll_write(context, part))?;
                if sent == 0 {
                    return Poll::Ready(Err(Broken::HungUp));
                }
                part.advance(sent);
                self.has_sent = true;
            }
        }
        if !self.is_flushed {
            ready!(Pin::new(&mut self.stream).poll_flush(context))?;
            self.is_flushed = true;
        }
        Poll::Ready(Ok(()))
    }

    /// Reads what has come; `false` at the end.
    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        expected: Option<u64>,
    ) -> Poll<Result<bool, Broken>> {
        let wanted = expected.and_then(|expected| usize::try_from(expected).ok()).unwrap_or_default();
        self.read.reserve(wanted.clamp(ROOM, MOST_ROOM));
        let read = ready!(pin!(self.stream.read_buf(&mut self.read)).poll(context))?;
        Poll::Ready(Ok(read > 0))
    }

    /// What came and was not taken yet.
    pub(super) fn read_mut(&mut self) -> &mut BytesMut {
        &mut self.read
    }

    /// Whether the request went out as a whole, and nothing came behind its answer.
    pub(super) fn is_done(&self) -> bool {
        self.unsent.iter().all(Bytes::is_empty)
            && self.is_flushed
            && self.unsendable.is_none()
            && self.read.is_empty()
    }

    /// Whether another request can be sent: the server has neither hung up nor said anything that nobody asked for.
    pub(super) fn is_silent(&mut self, context: &mut Context<'_>) -> bool {
        self.poll_read(context, None).is_pending()
    }
}
