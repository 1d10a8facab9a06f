//! Tables of what is where, so that a router and the paths that are taken are made from the same lines.

use axum::Router;
use axum::routing::MethodRouter;

/// A path, and what answers there.
pub(super) type Route<S> = (&'static str, fn() -> MethodRouter<S>);

/// Answers at all of these.
pub(super) fn router<S: Clone + Send + Sync + 'static>(routes: &[Route<S>]) -> Router<S> {
    routes.iter().fold(Router::new(), |router, (path, method)| router.route(path, method()))
}

/// The paths of them.
pub(super) fn paths<S>(routes: &[Route<S>]) -> impl Iterator<Item = &'static str> {
    routes.iter().map(|(path, _)| *path)
}
