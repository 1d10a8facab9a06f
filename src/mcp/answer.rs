//! What every answer has in common: it is given even if the work panics, it stops when nobody waits for it any more, and
//! it says how long it may be kept.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::FutureExt as _;
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, GetSkillResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListSkillsResult, ListToolsResult, MetaObject, ReadResourceResult,
};
use tokio_util::sync::CancellationToken;

use super::failure::Failure;

/// Does the work for one request, to its end, a panic or its cancellation.
pub(crate) async fn finish<T>(
    method: &str,
    cancelled: &CancellationToken,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, ErrorData> {
    let result = tokio::select! {
        biased;
        result = unwinding(method, work) => result,
        () = cancelled.cancelled() => Err(Failure::Cancelled),
    };
    match &result {
        Ok(_) => tracing::trace!(method, "answered"),
        Err(failure) => tracing::trace!(method, ?failure, "failed"),
    }
    result.map_err(ErrorData::from)
}

/// Does work, to its end or a panic.
pub(super) async fn unwinding<T>(
    method: &str,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| {
        tell(method, &*panic);
        Err(Failure::Panicked)
    })
}

/// Does work that does not wait, to its end, or to a panic, after which there is nothing.
pub(super) fn caught<T>(method: &str, work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).inspect_err(|panic| tell(method, &**panic)).ok()
}

fn tell(method: &str, panic: &(dyn Any + Send)) {
    tracing::error!(method, panic = panic_message(panic), "a request made the server panic");
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// What is written on every result.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    /// Who may share it (K1).
    pub(super) cache_scope: CacheScope,
    /// Who says it.
    pub(super) meta: MetaObject,
}

/// A result that carries cache hints and `_meta`.
pub(super) trait Stamped {
    /// Writes the hints of `stamp` and for how many milliseconds it may be kept (K1), and for a peer that knows of it also
    /// the `_meta`.
    fn stamp(&mut self, stamp: &Stamp, ttl_ms: u64, is_modern: bool);
}

macro_rules! stamped {
    ($($result:ty),* $(,)?) => {$(
        impl Stamped for $result {
            fn stamp(&mut self, stamp: &Stamp, ttl_ms: u64, is_modern: bool) {
                self.ttl_ms = Some(ttl_ms);
                self.cache_scope = Some(stamp.cache_scope);
                self.meta = is_modern.then(|| stamp.meta.clone());
            }
        }
    )*};
}

stamped!(
    GetSkillResult,
    ListPromptsResult,
    ListResourceTemplatesResult,
    ListResourcesResult,
    ListSkillsResult,
    ListToolsResult,
    ReadResourceResult,
);

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;

    use super::*;

    async fn check(
        cancelled: bool,
        work: impl Future<Output = Result<u8, Failure>>,
        expected: Result<u8, ErrorCode>,
    ) {
        let token = CancellationToken::new();
        if cancelled {
            token.cancel();
        }
        let result = finish("test", &token, work).await;
        assert_eq!(result.map_err(|error| error.code), expected);
    }

    #[tokio::test]
    async fn work_ends_in_an_answer_whatever_happens() {
        let internal = Err(ErrorCode::INTERNAL_ERROR);
        check(false, async { Ok(7) }, Ok(7)).await;
        check(false, async { Err(Failure::Cursor) }, Err(ErrorCode::INVALID_PARAMS)).await;
        check(false, async { panic!("on purpose") }, internal).await;
        check(true, std::future::pending(), internal).await;
        check(true, async { Ok(7) }, Ok(7)).await;
    }

    #[test]
    fn a_panic_where_nothing_waits_ends_there() {
        assert_eq!(caught("test", || 7), Some(7));
        assert_eq!(caught("test", || -> u8 { panic!("on purpose") }), None);
    }
}
