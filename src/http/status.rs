//! What is served, what is not and why, as one JSON object. `schemas/status.schema.json` in the repository describes it.
//!
//! It can be long, so it is made while it is read, a piece at a time, and never stands in memory as a whole. A tag says
//! whether anything in it is other than when it was read last, but for the times.

mod pieces;

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use axum::body::Body;
use serde::Serialize;

use crate::catalog::{Catalog, Look, Snapshot, Standing, Totals};
use crate::finding::Finding;
use crate::report::{Names, Skipped, Summary};
use crate::timestamp;

use super::health::{Health, Readiness};

use pieces::Pieces;

/// Grows when something is taken away or gets another meaning; members may be added at any time.
const FORMAT_VERSION: u32 = 1;

/// Says how it stands with the skills.
#[derive(Debug)]
pub(super) struct Status {
    catalog: Catalog,
    health: Health,
    started: SystemTime,
    last: Mutex<Last>,
}

/// What was said last. It holds nothing that is served.
#[derive(Debug, Default)]
struct Last {
    number: u64,
    snapshot: Weak<Snapshot>,
    findings: Option<Weak<[Finding]>>,
    roots: Vec<RootItem>,
    skipped: Skipped,
}

/// The object, to be read.
pub(super) struct Object {
    /// What it is called as long as it says the same.
    pub(super) tag: String,
    pieces: Pieces,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    version: u32,
    server: Server,
    state: &'static str,
    roots: &'a [RootItem],
    look: Option<LookItem>,
    summary: Summary,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Server {
    version: &'static str,
    started_at: Option<String>,
    uptime_seconds: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct RootItem {
    name: String,
    prefix: String,
    is_lost: bool,
    left_out: LeftOut,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct LeftOut {
    hidden: u64,
    junk: u64,
    ignored: u64,
}

#[derive(Serialize)]
struct LookItem {
    at: Option<String>,
    seconds: f64,
    directories: u64,
}

impl Status {
    /// Of what is served from `catalog` since `started`.
    pub(super) fn new(catalog: Catalog, health: Health, started: SystemTime) -> Self {
        Self { catalog, health, started, last: Mutex::default() }
    }

    /// How it stands now. It looks through all findings if there are new ones.
    pub(super) fn now(&self) -> serde_json::Result<Object> {
        let (standing, readiness) = (self.catalog.standing(), self.health.readiness());
        let names = Names::of(standing.iter().flat_map(|standing| standing.roots.iter()));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.look_at(standing.as_ref(), &names);
        let head = serde_json::to_string(&self.head(standing.as_ref(), readiness, &last))?;
        let since = self.started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let tag = format!("W/\"{:x}-{}-{}\"", since.as_micros(), last.number, readiness.as_str());
        Ok(Object { tag, pieces: Pieces::new(head, standing, names) })
    }

    fn head<'a>(&self, standing: Option<&Standing>, readiness: Readiness, last: &'a Last) -> Head<'a> {
        let server = Server {
            version: env!("CARGO_PKG_VERSION"),
            started_at: timestamp::seconds(self.started),
            uptime_seconds: self.started.elapsed().unwrap_or_default().as_secs(),
        };
        let totals = standing.map_or_else(Totals::default, |standing| standing.snapshot.totals());
        let findings = standing.map_or(0, |standing| standing.findings.len());
        Head {
            version: FORMAT_VERSION,
            server,
            state: readiness.as_str(),
            roots: &last.roots,
            look: standing.map(|standing| LookItem::of(standing.look)),
            summary: Summary::of(totals, findings, last.skipped),
        }
    }
}

impl Last {
    /// Takes note of what is said now, and counts it if it is something else.
    fn look_at(&mut self, standing: Option<&Standing>, names: &Names) {
        let Some(standing) = standing else { return };
        let roots: Vec<_> = standing.roots.iter().zip(names.all()).map(RootItem::of).collect();
        let findings = Arc::downgrade(&standing.findings);
        let is_same = self.snapshot.ptr_eq(&Arc::downgrade(&standing.snapshot))
            && self.findings.as_ref().is_some_and(|seen| seen.ptr_eq(&findings));
        if !is_same {
            self.skipped = Skipped::of(&standing.findings);
        }
        if !is_same || self.roots != roots {
            self.number += 1;
        }
        self.snapshot = Arc::downgrade(&standing.snapshot);
        self.findings = Some(findings);
        self.roots = roots;
    }
}

impl Object {
    /// The bytes, as they are asked for.
    pub(super) fn into_body(self) -> Body {
        Body::from_stream(self.pieces.stream())
    }
}

impl RootItem {
    fn of((root, name): (&crate::catalog::Mounted, &str)) -> Self {
        let crate::tree::LeftOut { hidden, junk, ignored } = root.left_out;
        Self {
            name: name.to_owned(),
            prefix: root.prefix.clone(),
            is_lost: root.is_lost,
            left_out: LeftOut { hidden, junk, ignored },
        }
    }
}

impl LookItem {
    fn of(look: Look) -> Self {
        Self {
            at: timestamp::millis(look.at),
            seconds: look.took.as_secs_f64(),
            directories: look.directories,
        }
    }
}
