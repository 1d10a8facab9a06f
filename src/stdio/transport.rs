//! rmcp's transport over lines.
//!
//! Each line that needs an answer holds a permit from when it is handed on until its answer has been written. When none
//! is left lines wait, and soon no more are read: a client that does not read what it asked for stops being served, and
//! costs no more memory than its last few answers.
//!
//! A subscription lasts, so it holds no permit. The session goes on past the end of the input until each has had its final
//! result, and every request its answer.
//!
//! Plain requests are answered beside rmcp, in the same order and with the same permits.
//!
//! A client's notification is handed on only if it cancels a request in hand. rmcp has no use for the others, and gives
//! the session up over one that comes before the first request. A faulty one is passed over, too: nobody hears of it, as
//! JSON-RPC has it.

use std::collections::VecDeque;
use std::sync::Arc;

use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::RoleServer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;
use crate::mcp::REQUEST_MAX_BYTES;
use crate::mcp::direct::{Direct, Request};
use crate::mcp::gate::Gate;
use crate::mcp::session::Session;
use crate::mcp::wire::{self, Incoming, Outgoing, Refusal};

use super::answers::Answers;
use super::beside::Beside;
use super::in_hand::{Cancelled, InHand};
use super::lines::{Lines, TooLong};

/// The most subscriptions at once. They hold no permit, because they last.
const LISTENS_MAX: usize = 16;
/// The most bytes of lines that are read ahead of their turn, give or take one line. Reading ahead is how the end of the
/// input and a cancellation are seen in time by a client that does not read.
const READ_AHEAD_MAX_BYTES: usize = REQUEST_MAX_BYTES;
/// What a line that waits counts for beside its own bytes.
const WAITING_BYTES: usize = 256;

/// Lines in, lines out.
pub(super) struct Transport<R, W> {
    lines: Lines<R>,
    answers: Answers<W>,
    /// What has been read and waits for a permit.
    ahead: VecDeque<Ahead>,
    ahead_bytes: usize,
    /// The requests that have been handed on, subscriptions among them.
    in_hand: InHand,
    beside: Beside,
    gate: Gate,
    session: Arc<Session>,
    end: End,
}

struct Ahead {
    bytes: usize,
    what: Wanting,
}

/// A line that is to be answered.
enum Wanting {
    /// A request to hand on.
    Request(RequestId, Box<Incoming>),
    /// A plain request, and the line that it was read from.
    Plain(Box<Request>, Vec<u8>),
    /// Anything to refuse.
    Refusal(Box<Refusal>),
}

/// How a session ends.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// No more requests are handed on. What is in hand is still answered.
    pub(super) stopped: CancellationToken,
    /// No more requests will come. Those that have been read are handed on in their turn, and subscriptions end.
    pub(super) ending: CancellationToken,
}

impl End {
    /// Far away.
    pub(super) fn new() -> Self {
        let stopped = CancellationToken::new();
        Self { ending: stopped.child_token(), stopped }
    }
}

impl<R, W> Transport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// A transport of a session that hears of changes of `catalog`, and where its answers can be waited for.
    pub(super) fn new(
        input: R,
        output: W,
        direct: Direct,
        catalog: Catalog,
        session: Arc<Session>,
        end: End,
    ) -> (Self, Answers<W>) {
        let answers = Answers::new(output, end.stopped.clone());
        let transport = Self {
            lines: Lines::new(input, REQUEST_MAX_BYTES),
            answers: answers.clone(),
            ahead: VecDeque::new(),
            ahead_bytes: 0,
            in_hand: InHand::default(),
            beside: Beside::new(direct),
            gate: Gate::new(catalog, LISTENS_MAX, end.ending.clone()),
            session,
            end,
        };
        (transport, answers)
    }

    /// The next message to hand on; `None` at the end. Dropping the future loses nothing.
    async fn next(&mut self) -> Option<Incoming> {
        loop {
            self.answers.let_write().await;
            let is_over = self.end.ending.is_cancelled();
            if is_over && self.ahead.is_empty() {
                return self.no_more().await;
            }
            tokio::select! {
                biased;
                permit = self.answers.permits.clone().acquire_owned(), if !self.ahead.is_empty() => {
                    if let Some(message) = self.take_turn(permit.ok()?) {
                        return Some(message);
                    }
                }
                line = self.lines.next(), if !is_over && self.ahead_bytes < READ_AHEAD_MAX_BYTES => {
                    let line = line.unwrap_or_else(|error| {
                        tracing::warn!(%error, "the input cannot be read");
                        None
                    });
                    match line {
                        Some(line) => {
                            if let Some(message) = self.sort(line) {
                                return Some(message);
                            }
                        }
                        None => self.end.ending.cancel(),
                    }
                }
            }
        }
    }

    /// The end, once each subscription has had its final result and every answer has been written. Until then rmcp must go
    /// on: after the end it gives no request more than a few seconds, and breaks off what it still writes. It drops this
    /// future to do anything and asks again.
    fn no_more(&self) -> impl Future<Output = Option<Incoming>> + Send + use<R, W> {
        let (is_listening, answers) = (self.in_hand.has_subscriptions(), self.answers.clone());
        async move {
            if is_listening {
                return std::future::pending().await;
            }
            answers.all_written().await;
            None
        }
    }

    /// Uses a permit for the line that has waited longest.
    fn take_turn(&mut self, permit: OwnedSemaphorePermit) -> Option<Incoming> {
        let Ahead { bytes, what } = self.ahead.pop_front()?;
        self.ahead_bytes -= bytes;
        match what {
            Wanting::Request(_, message) => Some(self.hand_on(*message, Some(permit))),
            Wanting::Plain(request, line) => {
                let permit = self.beside.answer(*request, &self.answers, permit)?;
                match wire::parse(&line) {
                    Ok(message) => Some(self.hand_on(message, Some(permit))),
                    Err(refusal) => self.refuse(refusal, permit),
                }
            }
            Wanting::Refusal(refusal) => self.refuse(refusal, permit),
        }
    }

    /// Takes a request in hand, and gives back the message in which rmcp hears of it. The permit is held until the request
    /// is answered; a subscription, which lasts, has none.
    fn hand_on(&mut self, mut message: Incoming, permit: Option<OwnedSemaphorePermit>) -> Incoming {
        wire::attach(&mut message, self.session.clone());
        self.in_hand.take(&mut message, permit);
        message
    }

    fn refuse(&self, refusal: Box<Refusal>, permit: OwnedSemaphorePermit) -> Option<Incoming> {
        let answers = self.answers.clone();
        tokio::spawn(async move { answers.write(&refusal.to_json(), Some(permit)).await });
        None
    }

    /// Puts a line in the queue if it is to be answered. Gives back what is to be handed on at once, and drops the rest.
    fn sort(&mut self, line: Result<Vec<u8>, TooLong>) -> Option<Incoming> {
        let bytes = WAITING_BYTES + line.as_ref().map_or(0, Vec::len);
        let what = match line {
            Err(TooLong) => {
                let message = format!("a message is at most {REQUEST_MAX_BYTES} bytes long");
                Wanting::Refusal(Box::new(Refusal::invalid(None, message)))
            }
            Ok(line) if line.trim_ascii().is_empty() => return None,
            Ok(line) => match self.plain(&line).ok_or_else(|| wire::parse(&line)) {
                Ok(request) => Wanting::Plain(request, line),
                Err(Ok(JsonRpcMessage::Request(request))) if self.is_known(&request.id) => {
                    let message = format!("the id {} is that of a request not answered yet", request.id);
                    Wanting::Refusal(Box::new(Refusal::invalid(None, message)))
                }
                Err(Ok(JsonRpcMessage::Request(request))) => {
                    let id = request.id.clone();
                    let mut message = JsonRpcMessage::Request(request);
                    match wire::subscribes(&message).map(|id| self.gate.admit(Some(id))) {
                        None => Wanting::Request(id, Box::new(message)),
                        Some(Err(refusal)) => Wanting::Refusal(refusal),
                        Some(Ok(pass)) => {
                            wire::attach(&mut message, pass);
                            return Some(self.hand_on(message, None));
                        }
                    }
                }
                Err(Ok(message)) => return self.cancel(message),
                Err(Err(_)) if wire::is_notification(&line) => return None,
                Err(Err(refusal)) => Wanting::Refusal(refusal),
            },
        };
        self.ahead_bytes += bytes;
        self.ahead.push_back(Ahead { bytes, what });
        None
    }

    /// The plain request that a line is, if it is one.
    fn plain(&self, line: &[u8]) -> Option<Box<Request>> {
        let request = Request::read(wire::without_mark(line))?;
        (!self.is_known(&request.id)).then(|| Box::new(request))
    }

    fn is_known(&self, id: &RequestId) -> bool {
        self.in_hand.has(id)
            || self.beside.is_known(id)
            || self.ahead.iter().any(|ahead| ahead.is_request(id))
    }

    /// Cancels the request that a message cancels, if it does, which is then not answered: one that is still in the queue
    /// leaves it. Gives back what rmcp is to hear of that.
    fn cancel(&mut self, mut message: Incoming) -> Option<Incoming> {
        let id = wire::cancels(&mut message)?;
        if let Some(at) = self.ahead.iter().position(|ahead| ahead.is_request(id))
            && let Some(cancelled) = self.ahead.remove(at)
        {
            self.ahead_bytes -= cancelled.bytes;
        }
        self.beside.cancel(id);
        *id = self.in_hand.cancel(id)?;
        Some(message)
    }
}

impl Ahead {
    fn is_request(&self, id: &RequestId) -> bool {
        match &self.what {
            Wanting::Request(waiting, _) => waiting == id,
            Wanting::Plain(request, _) => request.id == *id,
            Wanting::Refusal(_) => false,
        }
    }
}

impl<R, W> rmcp::transport::Transport<RoleServer> for Transport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(&mut self, mut message: Outgoing) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        let is_of_use = self.in_hand.give_back(&mut message);
        let answers = self.answers.clone();
        async move {
            match is_of_use {
                Ok(permit) => answers.write(&message, permit).await,
                Err(Cancelled) => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        let stopped = self.end.stopped.clone();
        tokio::select! {
            biased;
            () = stopped.cancelled() => self.no_more().await,
            message = self.next() => message,
        }
    }

    async fn close(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
