//! Walks of real directories.

#![allow(clippy::unwrap_used)]

mod again;
mod bed;
mod bounds;
mod child;
mod disk;
mod ignoring;
mod links;
mod names;
mod random;
