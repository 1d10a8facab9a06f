//! Walks of real directories.

#![allow(clippy::unwrap_used)]

mod bed;
mod links;
