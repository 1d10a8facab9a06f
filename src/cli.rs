//! What was typed, and what it comes to: values that are checked, with no option that still means a default.

mod args;
mod config;
mod environment;
mod lists;
mod mount;
mod named;
mod patterns;
mod precedence;
mod values;

use std::fmt::Display;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _};
use tracing_subscriber::filter::LevelFilter;

use crate::catalog::{self, Cache, Limits};
use crate::finding::{Code, Host};
use crate::rules::Rules;
use crate::tree;
use crate::watch::When;
use crate::{http, mcp};

pub use config::{Checking, Command, Config, Format, Listening, Serving, Source};
pub use environment::Environment;

/// Reads the command line and the environment. For help, the version, or words that make no sense it answers by itself
/// and ends the process: with 0 for the first two, with 2 for the last.
pub fn parse() -> Config {
    let is_bare = std::env::args_os().len() <= 1;
    match typed() {
        Ok(config) => config,
        Err(error) if is_bare && error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            refused(
                None,
                "say what to do, for example `skillserve http ./skills`; `skillserve --help` tells the rest",
            )
            .exit()
        }
        Err(error) => error.exit(),
    }
}

fn typed() -> Result<Config, clap::Error> {
    let known = args::Cli::command();
    let matches = environment::matches(&known).map_err(hinted)?;
    let mut cli = args::Cli::from_arg_matches(&matches)?;
    lists::take_apart(&mut cli, &matches);
    let environment = Environment::new(&known, &matches);
    match precedence::settle(&mut cli, &matches).and_then(|()| command(cli.command)) {
        Ok(command) => {
            Ok(Config { log_level: cli.log.level(), log_format: cli.log.log_format, environment, command })
        }
        Err(sentence) => Err(refused(matches.subcommand_name(), &environment.named_in(&sentence))),
    }
}

/// The error, which says what to type for a word that is no command and like none.
fn hinted(mut error: clap::Error) -> clap::Error {
    let is_like_none = error.get(ContextKind::SuggestedSubcommand).is_none();
    if error.kind() == ErrorKind::InvalidSubcommand && is_like_none {
        let hint = "to serve directories, say how: `skillserve http ./skills`, or `skillserve stdio ./skills` in a host's entry";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    }
    error
}

/// The sentence, and below it how the command is used.
fn refused(command: Option<&str>, sentence: &str) -> clap::Error {
    let mut root = args::Cli::command();
    // Only then do the commands know their whole names.
    root.build();
    let used = match command.and_then(|name| root.find_subcommand_mut(name)) {
        Some(command) => command,
        None => &mut root,
    };
    used.error(ErrorKind::ValueValidation, sentence)
}

fn command(typed: args::CommandArgs) -> Result<Command, String> {
    Ok(match typed {
        args::CommandArgs::Stdio { source, serving } => {
            Command::Stdio(source.into_source()?.served(&serving), serving.into())
        }
        args::CommandArgs::Http { source, serving, listening } => Command::Http(
            source.into_source()?.served(&serving),
            serving.into(),
            Box::new(listening.into_listening()?),
        ),
        args::CommandArgs::Check { source, format, deny_warnings } => {
            let (source, passed_over) = source.into_checked()?;
            Command::Check(source, Checking { format, deny_warnings, passed_over })
        }
        args::CommandArgs::List { source, json, watch, poll } => {
            let watch = watch.then(|| when(false, poll));
            Command::List { source: source.into_source()?, json, watch }
        }
        args::CommandArgs::Index { source, output } => {
            Command::Index { source: source.into_source()?, output }
        }
        args::CommandArgs::Explain { code } => Command::Explain(code.as_deref().map(explained).transpose()?),
    })
}

impl Source {
    /// The same for a server, which keeps what cannot be built any more, and holds what is read.
    fn served(mut self, serving: &args::ServingArgs) -> Self {
        self.catalog.keep_last_good = Duration::from_secs(serving.keep_last_good);
        self.catalog.cache = Cache::new(serving.cache_bytes);
        self
    }
}

fn host(name: &str) -> Result<Host, String> {
    let all = || Host::ALL.iter().map(|host| host.as_str()).collect::<Vec<_>>().join(", ");
    let host = Host::ALL.iter().copied().find(|host| host.as_str() == name);
    host.ok_or_else(|| format!("--hosts does not know {name:?}: it takes {}", all()))
}

fn explained(code: &str) -> Result<Code, String> {
    Code::meant(code).ok_or_else(|| format!("there is no code {code:?}{}", Code::hint(code)))
}

fn when(never: bool, poll_s: Option<u64>) -> When {
    match poll_s {
        _ if never => When::Never,
        Some(seconds) => When::Every(Duration::from_secs(seconds)),
        None => When::Changed,
    }
}

impl args::LogArgs {
    fn level(&self) -> LevelFilter {
        match (self.quiet, self.verbose) {
            (true, _) => LevelFilter::ERROR,
            (false, 0) => LevelFilter::INFO,
            (false, 1) => LevelFilter::DEBUG,
            (false, _) => LevelFilter::TRACE,
        }
    }
}

impl args::SourceArgs {
    fn into_source(self) -> Result<Source, String> {
        if self.dirs.is_empty() && self.mounts.is_empty() {
            return Err("name a directory of skills, for example ./skills".to_owned());
        }
        self.read(|rules| rules)
    }

    /// For `check`, where a file stands for the skill that holds it, and every rule is looked at. Gives the files that no
    /// skill holds beside it.
    fn into_checked(mut self) -> Result<(Source, Vec<PathBuf>), String> {
        let named = named::sort(std::mem::take(&mut self.dirs));
        if named.is_nothing() && self.mounts.is_empty() {
            return Err("name a directory of skills, or files of them, for example ./skills".to_owned());
        }
        self.dirs = named.roots;
        let mut source = self.read(Rules::in_full)?;
        source.mounts.extend(named.skills);
        Ok((source, named.passed_over))
    }

    fn read(self, more: impl FnOnce(Rules) -> Rules) -> Result<Source, String> {
        let mounts = mount::all(self.dirs, self.mounts)?;
        let hosts: Vec<_> = self.hosts.iter().map(|name| host(name)).collect::<Result<_, _>>()?;
        let mut rules = more(Rules::default().for_hosts(&hosts, self.portable));
        for word in &self.rules {
            rules.set(word).map_err(|error| format!("--rule `{word}`: {error}"))?;
        }
        let tree = tree::Options {
            include_hidden: self.include_hidden,
            exclude: patterns::all("--exclude", self.exclude)?,
            links: match self.links {
                args::Links::Inside => tree::Links::Inside,
                args::Links::Refuse => tree::Links::Refuse,
            },
            follow_links_to: self.follow_links_to,
            allow_secret: patterns::all("--allow-secret", self.allow_secret)?,
        };
        tree.check().map_err(|error| error.to_string())?;
        let catalog = catalog::Options {
            limits: Limits { max_files: self.max_files, max_bytes: self.max_bytes },
            on_name_mismatch: match self.on_name_mismatch {
                args::OnNameMismatch::Skip => catalog::OnNameMismatch::Skip,
                args::OnNameMismatch::UseName => catalog::OnNameMismatch::UseName,
            },
            rules,
            ..catalog::Options::default()
        };
        Ok(Source { mounts, tree, catalog })
    }
}

impl From<args::ServingArgs> for Serving {
    fn from(typed: args::ServingArgs) -> Self {
        let cache_scope = match typed.cache_scope {
            args::CacheScope::Public => mcp::CacheScope::Public,
            args::CacheScope::Private => mcp::CacheScope::Private,
        };
        let mcp = mcp::Options { name: typed.name, ttl: typed.ttl.map(Duration::from_secs), cache_scope };
        Self {
            mcp,
            strict: typed.strict,
            wait_for_root: Duration::from_secs(typed.wait_for_root),
            watch: when(typed.no_watch, typed.poll),
            index: typed.index,
        }
    }
}

impl args::ListeningArgs {
    fn into_listening(self) -> Result<Listening, String> {
        let http = http::Options {
            path: value("--path", &self.path)?,
            allow_hosts: parse_all("--allow-host", &self.allow_host)?,
            allow_origins: parse_all("--allow-origin", &self.allow_origin)?,
            token_file: self.token_file,
            anonymous: self.anonymous,
            trusted_proxies: parse_all("--trusted-proxy", &self.trusted_proxy)?,
            rate_limit: NonZeroU32::new(self.rate_limit),
            sessions: self.sessions,
            access_log: !self.no_access_log,
            drain: Duration::from_secs(self.drain_seconds),
            page: !self.no_page,
        };
        let tls = match (self.tls_cert, self.tls_key) {
            (Some(cert), Some(key)) => Some(http::TlsFiles { cert, key }),
            (None, None) => None,
            (Some(_), None) => {
                return Err(
                    "--tls-cert needs the private key of its certificate: give --tls-key FILE too".to_owned()
                );
            }
            (None, Some(_)) => {
                return Err(
                    "--tls-key needs the certificate that it is the key of: give --tls-cert FILE too"
                        .to_owned(),
                );
            }
        };
        let listen: http::Address = value("--listen", &self.listen)?;
        let admin: Option<http::Address> =
            self.admin_listen.map(|typed| value("--admin-listen", &typed)).transpose()?;
        if admin.as_ref() == Some(&listen) && !listen.takes_free_port() {
            return Err(format!("--listen and --admin-listen are both {listen}: give them two addresses"));
        }
        Ok(Listening { address: listen, tls, admin, http })
    }
}

fn value<T: FromStr<Err: Display>>(option: &str, typed: &str) -> Result<T, String> {
    typed.parse().map_err(|error| format!("{option} `{typed}`: {error}"))
}

fn parse_all<T: FromStr<Err: Display>>(option: &str, values: &[String]) -> Result<Vec<T>, String> {
    values.iter().map(|typed| value(option, typed)).collect()
}
