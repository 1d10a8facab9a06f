//! Walks of real directories.

#![allow(clippy::unwrap_used)]

mod bed;
mod ignoring;
mod links;
mod names;
