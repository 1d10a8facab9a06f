//! The command line and the environment, word for word.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::Format;
use super::values::{bytes, count, period, seconds, yes_or_no};
use crate::log;
use crate::skill::{SKILL_MAX_BYTES, SKILL_MAX_FILES};

/// How much is held in memory if nothing else is said: 128 MiB, which is a small part of a small server and more than most
/// collections of skills have.
const CACHE_BYTES: u64 = 128 * 1024 * 1024;

const EXAMPLES: &str = "\
Examples:
  skillserve stdio ./skills                        serve a folder to the host that started it
  skillserve http ./skills                         serve it on http://127.0.0.1:8008/mcp
  skillserve http ./skills --mount acme=./billing  a second folder, under skill://acme/
  skillserve check ./skills                        say what would not be served, and the cure
  skillserve list ./skills                         say what would be served
  skillserve explain yaml-syntax                   explain a finding
  skillserve index ./skills -o skills.index        let servers that start with --index skills.index start faster

Every option can also be set in the environment, where its name is SKILLSERVE_ and the option's in capitals: \
SKILLSERVE_MAX_FILES=100. An option that can be repeated takes one value a line there. What is typed wins, and a variable \
that is empty counts for nothing. Sizes may have a unit, as in 16MiB, and times too, as in 5m.

Exit codes: 0 done; 1 `check` found errors, or nobody took answers of `stdio`; 2 it could not run. What `list` and `index` \
leave out they tell on stderr, and exit with 0: `check` is the one that fails.";

const CHECK_EXAMPLES: &str = "\
Examples:
  skillserve check ./skills                          every skill in a directory
  skillserve check --format sarif ./skills >a.sarif  for code scanning
  skillserve check skills/pdf/SKILL.md               the skill that holds a file
  skillserve check --rule secret=error --rule unknown-field=off ./skills
  skillserve check --hosts typescript,fastmcp --portable ./skills

Exit codes: 0 no error, 1 errors (with --deny-warnings also warnings), 2 it could not run.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  skillserve explain              each code, with what a finding of it is and a few words
  skillserve explain yaml-syntax  one of them

Exit codes: 0 done, 2 there is no such code.";

const SERVING_EXAMPLE: &str =
    "Every option is also read from the environment: --max-files from SKILLSERVE_MAX_FILES.";

/// Serves Agent Skills from directories to MCP hosts.
#[derive(Debug, Parser)]
#[command(name = "skillserve", version, max_term_width = 100, after_help = EXAMPLES, subcommand_required = true)]
pub(super) struct Cli {
    #[command(flatten)]
    pub log: LogArgs,
    #[command(subcommand)]
    pub command: CommandArgs,
}

#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// Tell more on stderr; twice, as -vv, also each request over stdio
    #[arg(
        short,
        long,
        global = true,
        action = clap::ArgAction::Count,
        env = "SKILLSERVE_VERBOSE",
        help_heading = "Messages"
    )]
    pub verbose: u8,
    /// Tell only errors on stderr, whatever --verbose says, and the address that port 0 took
    #[arg(
        short,
        long,
        global = true,
        env = "SKILLSERVE_QUIET",
        value_parser = yes_or_no,
        help_heading = "Messages"
    )]
    pub quiet: bool,
    /// How messages on stderr are written
    #[arg(
        long,
        global = true,
        env = "SKILLSERVE_LOG_FORMAT",
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Messages"
    )]
    pub log_format: log::Format,
}

#[derive(Debug, Subcommand)]
pub(super) enum CommandArgs {
    /// Serve over stdin and stdout, to the host that starts this program
    #[command(after_help = SERVING_EXAMPLE)]
    Stdio {
        #[command(flatten)]
        source: SourceArgs,
        #[command(flatten)]
        serving: ServingArgs,
    },
    /// Serve over streamable HTTP
    #[command(after_help = SERVING_EXAMPLE)]
    Http {
        #[command(flatten)]
        source: SourceArgs,
        #[command(flatten)]
        serving: ServingArgs,
        #[command(flatten)]
        listening: Box<ListeningArgs>,
    },
    /// Say what would not be served or not load somewhere, where and why, and the cure
    ///
    /// Besides directories it takes files: each stands for the skill that holds it.
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        #[command(flatten)]
        source: SourceArgs,
        /// How the findings are written
        #[arg(
            long,
            value_name = "FORMAT",
            env = "SKILLSERVE_FORMAT",
            default_value = "text",
            help_heading = "Findings"
        )]
        format: Format,
        /// Exit with 1 for warnings too
        #[arg(long, env = "SKILLSERVE_DENY_WARNINGS", value_parser = yes_or_no, help_heading = "Findings")]
        deny_warnings: bool,
    },
    /// Say what would be served
    List {
        #[command(flatten)]
        source: SourceArgs,
        /// Print the entries as JSON, exactly as `skills/list` gives them
        #[arg(long, env = "SKILLSERVE_JSON", value_parser = yes_or_no)]
        json: bool,
        /// Go on, and say what is added, changed, removed or refused as it is seen
        #[arg(long, env = "SKILLSERVE_WATCH", value_parser = yes_or_no)]
        watch: bool,
        /// Look for changes this often, where the system does not tell of them
        #[arg(long, value_name = "SECONDS", env = "SKILLSERVE_POLL", value_parser = period)]
        poll: Option<u64>,
    },
    /// Write an index of the files for servers that start from a copy of them, for example in a container's image
    Index {
        #[command(flatten)]
        source: SourceArgs,
        /// The file to write, outside of what is served
        #[arg(short, long, value_name = "FILE", env = "SKILLSERVE_OUTPUT")]
        output: PathBuf,
    },
    /// Explain a finding's code: what it means, why it matters, an example, the cure. Without CODE, list them
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain {
        /// The code, as it stands in brackets
        code: Option<String>,
    },
}

/// Takes the empty path too, for which there is a better sentence than that of the library.
fn any_path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

#[derive(Debug, Args)]
pub(super) struct SourceArgs {
    /// A directory of skills, or one that is a skill itself. Where two hold the same URI, the first named wins
    #[arg(value_name = "DIR", env = "SKILLSERVE_DIR", value_parser = any_path())]
    pub dirs: Vec<PathBuf>,
    /// Serve DIR under a prefix: acme/hr=./skills under skill://acme/hr/. Can be repeated
    #[arg(long = "mount", value_name = "PREFIX=DIR", env = "SKILLSERVE_MOUNT")]
    pub mounts: Vec<String>,

    /// Serve files and directories whose names begin with a dot too (never .git)
    #[arg(long, env = "SKILLSERVE_INCLUDE_HIDDEN", value_parser = yes_or_no, help_heading = "What is served")]
    pub include_hidden: bool,
    /// Leave out what matches, in gitignore syntax; .skillignore files do the same. Can be repeated
    #[arg(long, value_name = "GLOB", env = "SKILLSERVE_EXCLUDE", help_heading = "What is served")]
    pub exclude: Vec<String>,
    /// Serve what matches although its name says that it holds a secret. Can be repeated
    #[arg(long, value_name = "GLOB", env = "SKILLSERVE_ALLOW_SECRET", help_heading = "What is served")]
    pub allow_secret: Vec<String>,
    /// Which symbolic links are followed
    #[arg(
        long,
        value_name = "WHICH",
        env = "SKILLSERVE_LINKS",
        default_value = "inside",
        help_heading = "What is served"
    )]
    pub links: Links,
    /// Follow links into this directory too. Can be repeated
    #[arg(
        long,
        value_name = "DIR",
        env = "SKILLSERVE_FOLLOW_LINKS_TO",
        value_parser = any_path(),
        help_heading = "What is served"
    )]
    pub follow_links_to: Vec<PathBuf>,
    /// What to do with a skill whose name is not its directory's
    #[arg(
        long,
        value_name = "WHAT",
        env = "SKILLSERVE_ON_NAME_MISMATCH",
        default_value = "skip",
        help_heading = "What is served"
    )]
    pub on_name_mismatch: OnNameMismatch,
    /// The most files that a skill may have. Hosts need not accept more than 512
    #[arg(
        long,
        value_name = "N",
        env = "SKILLSERVE_MAX_FILES",
        value_parser = count::<usize>,
        default_value_t = SKILL_MAX_FILES,
        help_heading = "What is served"
    )]
    pub max_files: usize,
    /// The most bytes that a skill's files may have in sum. Hosts need not accept more than 16 MiB
    #[arg(
        long,
        value_name = "BYTES",
        env = "SKILLSERVE_MAX_BYTES",
        value_parser = bytes,
        default_value_t = SKILL_MAX_BYTES,
        help_heading = "What is served"
    )]
    pub max_bytes: u64,

    /// What a finding costs: CODE=off does not tell it, CODE=warn tells it, CODE=error keeps the skill from being served.
    /// Can be repeated
    #[arg(long = "rule", value_name = "CODE=LEVEL", env = "SKILLSERVE_RULE", help_heading = "Findings")]
    pub rules: Vec<String>,
    /// Also tell what would not load in these hosts; `check` does so for all but chatgpt if none is named
    #[arg(long, value_name = "NAME,…", env = "SKILLSERVE_HOSTS", help_heading = "Findings")]
    pub hosts: Vec<String>,
    /// Do not serve a skill that makes one of the hosts lose the whole listing
    #[arg(long, env = "SKILLSERVE_PORTABLE", value_parser = yes_or_no, help_heading = "Findings")]
    pub portable: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Answers")]
pub(super) struct ServingArgs {
    /// The server's name and title
    #[arg(long, env = "SKILLSERVE_NAME", default_value = "skillserve")]
    pub name: String,
    /// How long hosts may keep an answer; if not given, not at all, or until directories that are polled are looked at next
    #[arg(long, value_name = "SECONDS", env = "SKILLSERVE_TTL", value_parser = seconds)]
    pub ttl: Option<u64>,
    /// Who may share an answer that a host keeps
    #[arg(long, value_name = "SCOPE", env = "SKILLSERVE_CACHE_SCOPE", default_value = "private")]
    pub cache_scope: CacheScope,
    /// Do not follow changes. SIGHUP still makes it look again
    #[arg(long, env = "SKILLSERVE_NO_WATCH", value_parser = yes_or_no, help_heading = "Changes")]
    pub no_watch: bool,
    /// Look for changes this often, where the system does not tell of them: on network and container mounts
    #[arg(
        long,
        value_name = "SECONDS",
        env = "SKILLSERVE_POLL",
        value_parser = period,
        help_heading = "Changes"
    )]
    pub poll: Option<u64>,
    /// Serve the last good version of a skill that an edit broke for at most this long; 0 withdraws it at once
    #[arg(
        long,
        value_name = "SECONDS",
        env = "SKILLSERVE_KEEP_LAST_GOOD", value_parser = seconds,
        default_value_t = 30,
        help_heading = "Changes"
    )]
    pub keep_last_good: u64,
    /// The most bytes that are held in memory, of files and of what is prepared for answers; 0 reads each file from disk
    #[arg(
        long,
        value_name = "BYTES",
        env = "SKILLSERVE_CACHE_BYTES", value_parser = bytes,
        default_value_t = CACHE_BYTES,
        help_heading = "Starting and memory"
    )]
    pub cache_bytes: u64,
    /// Keep what is known of files in FILE, outside of what is served, so that the next start need not read them again
    #[arg(long, value_name = "FILE", env = "SKILLSERVE_INDEX", help_heading = "Starting and memory")]
    pub index: Option<PathBuf>,
    /// Wait this long for a directory that is not there yet
    #[arg(
        long,
        value_name = "SECONDS",
        env = "SKILLSERVE_WAIT_FOR_ROOT", value_parser = seconds,
        default_value_t = 0,
        help_heading = "Starting and memory"
    )]
    pub wait_for_root: u64,
    /// Serve nothing, and exit with 2, if a skill cannot be served
    #[arg(long, env = "SKILLSERVE_STRICT", value_parser = yes_or_no, help_heading = "Starting and memory")]
    pub strict: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Listening")]
pub(super) struct ListeningArgs {
    /// HOST:PORT, where port 0 takes a free one and prints it, or unix:/path for a socket of user and group. A socket that
    /// systemd passes is taken instead
    #[arg(long, value_name = "ADDRESS", env = "SKILLSERVE_LISTEN", default_value = "127.0.0.1:8008")]
    pub listen: String,
    /// The path of the endpoint
    #[arg(long, value_name = "PATH", env = "SKILLSERVE_PATH", default_value = "/mcp")]
    pub path: String,
    /// Speak TLS with this certificate: a chain in PEM, read again when it changes
    #[arg(long, value_name = "FILE", env = "SKILLSERVE_TLS_CERT")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of that certificate, in PEM
    #[arg(long, value_name = "FILE", env = "SKILLSERVE_TLS_KEY")]
    pub tls_key: Option<PathBuf>,
    /// When told to stop, answer what is in hand for at most this long; a second signal ends that
    #[arg(
        long,
        value_name = "SECONDS",
        env = "SKILLSERVE_DRAIN_SECONDS",
        value_parser = seconds,
        default_value_t = 5
    )]
    pub drain_seconds: u64,
    /// A host name under which clients may ask, besides this machine's own. Can be repeated
    #[arg(long, value_name = "HOST", env = "SKILLSERVE_ALLOW_HOST", help_heading = "Who may ask")]
    pub allow_host: Vec<String>,
    /// A web page's origin that may ask, besides this server's own: https://app.example. Can be repeated
    #[arg(long, value_name = "ORIGIN", env = "SKILLSERVE_ALLOW_ORIGIN", help_heading = "Who may ask")]
    pub allow_origin: Vec<String>,
    /// Answer only holders of a token in FILE: one NAME:TOKEN or NAME:sha256:HEX a line, read again when it changes
    #[arg(long, value_name = "FILE", env = "SKILLSERVE_TOKEN_FILE", help_heading = "Who may ask")]
    pub token_file: Option<PathBuf>,
    /// Answer everybody, also beyond this machine
    #[arg(long, env = "SKILLSERVE_ANONYMOUS", value_parser = yes_or_no, help_heading = "Who may ask")]
    pub anonymous: bool,
    /// Take the word of a proxy at this address for where a request comes from: 10.0.0.0/8, ::1, unix. Can be repeated
    #[arg(long, value_name = "CIDR", env = "SKILLSERVE_TRUSTED_PROXY", help_heading = "Who may ask")]
    pub trusted_proxy: Vec<String>,
    /// The most requests a minute, and at once, of one holder of a token or one address; 0 for no limit
    #[arg(
        long,
        value_name = "N",
        env = "SKILLSERVE_RATE_LIMIT",
        value_parser = count::<u32>,
        default_value_t = crate::http::RATE_LIMIT,
        help_heading = "Who may ask"
    )]
    pub rate_limit: u32,
    /// Keep at most this many sessions of clients from before 2026-07-28, which hear of changes only in one
    #[arg(
        long,
        value_name = "N",
        env = "SKILLSERVE_SESSIONS", value_parser = count::<usize>,
        default_value_t = 0,
        help_heading = "Changes"
    )]
    pub sessions: usize,
    /// Do not tell each request on stderr
    #[arg(long, env = "SKILLSERVE_NO_ACCESS_LOG", value_parser = yes_or_no, help_heading = "Messages")]
    pub no_access_log: bool,
    /// Serve the page, metrics and status on this address instead, not beside the endpoint: HOST:PORT or unix:/path
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "SKILLSERVE_ADMIN_LISTEN",
        help_heading = "For people and monitoring"
    )]
    pub admin_listen: Option<String>,
    /// Serve no page for people at /
    #[arg(
        long,
        env = "SKILLSERVE_NO_PAGE",
        value_parser = yes_or_no,
        help_heading = "For people and monitoring"
    )]
    pub no_page: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Links {
    /// Those that stay inside a served directory
    Inside,
    /// None
    Refuse,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum OnNameMismatch {
    /// Do not serve it
    Skip,
    /// Serve it as if its directory had its name
    UseName,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum CacheScope {
    /// Anybody
    Public,
    /// One user
    Private,
}

#[cfg(test)]
mod tests {
    use clap::{ArgAction, CommandFactory as _};

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_can_be_repeated_says_so() {
        let mut root = Cli::command();
        // Only then do the options know what is done with them.
        root.build();
        for command in root.get_subcommands() {
            let options = command.get_arguments().filter(|arg| arg.get_long().is_some());
            for option in options.filter(|option| matches!(option.get_action(), ArgAction::Append)) {
                let help = option.get_help().unwrap().to_string();
                // One that takes several at once need not be.
                assert!(
                    help.ends_with("Can be repeated") || option.to_string().contains(",…"),
                    "{option}: {help}"
                );
            }
        }
    }
}
