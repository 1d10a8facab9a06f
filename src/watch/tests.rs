//! Real changes of real directories, and how they are heard of.

#![allow(clippy::unwrap_used)]

mod bed;
mod changes;
mod child;
mod limits;
mod times;
