//! Which of two options counts where they exclude each other: what is typed, before what a variable says.

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::args::{Cli, CommandArgs, ListeningArgs, ServingArgs};

/// Leaves out of `cli` what does not count.
///
/// # Errors
/// A sentence, if both are typed or neither is.
pub(super) fn settle(cli: &mut Cli, matches: &ArgMatches) -> Result<(), String> {
    let Some((_, matches)) = matches.subcommand() else { return Ok(()) };
    let typed = Typed(matches);
    if cli.log.quiet && cli.log.verbose > 0 && typed.has("verbose") && !typed.has("quiet") {
        cli.log.quiet = false;
    }
    match &mut cli.command {
        CommandArgs::Stdio { serving, .. } => of_serving(serving, &typed),
        CommandArgs::Http { serving, listening, .. } => {
            of_serving(serving, &typed)?;
            of_listening(listening, &typed)
        }
        CommandArgs::List { json, watch, poll, .. } => of_list(json, watch, poll, &typed),
        CommandArgs::Check { .. } | CommandArgs::Index { .. } | CommandArgs::Explain { .. } => Ok(()),
    }
}

fn of_serving(serving: &mut ServingArgs, typed: &Typed<'_>) -> Result<(), String> {
    if serving.no_watch && serving.poll.is_some() {
        match typed.only("no_watch", "poll") {
            Some(Only::First) => serving.poll = None,
            Some(Only::Second) => serving.no_watch = false,
            None => {
                return Err("--no-watch follows no changes, and --poll does: give one of them".to_owned());
            }
        }
    }
    Ok(())
}

fn of_listening(listening: &mut ListeningArgs, typed: &Typed<'_>) -> Result<(), String> {
    if listening.anonymous && listening.token_file.is_some() {
        match typed.only("anonymous", "token_file") {
            Some(Only::First) => listening.token_file = None,
            Some(Only::Second) => listening.anonymous = false,
            None => {
                let sentence = "--anonymous lets everybody in, and --token-file does not: give one of them";
                return Err(sentence.to_owned());
            }
        }
    }
    Ok(())
}

fn of_list(
    json: &mut bool,
    watch: &mut bool,
    poll: &mut Option<u64>,
    typed: &Typed<'_>,
) -> Result<(), String> {
    if *json && *watch {
        match typed.only("json", "watch") {
            Some(Only::First) => *watch = false,
            Some(Only::Second) => *json = false,
            None => {
                return Err("--json prints one object, and --watch goes on: give one of them".to_owned());
            }
        }
    }
    // The variable is there for servers.
    if poll.is_some() && !*watch && typed.has("poll") {
        return Err("--poll is how often --watch looks: give that too".to_owned());
    }
    Ok(())
}

/// Which of two options was typed.
enum Only {
    First,
    Second,
}

/// The options that were typed.
struct Typed<'a>(&'a ArgMatches);

impl Typed<'_> {
    fn has(&self, id: &str) -> bool {
        self.0.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// The one of the two that was typed, if only one was.
    fn only(&self, first: &str, second: &str) -> Option<Only> {
        match (self.has(first), self.has(second)) {
            (true, false) => Some(Only::First),
            (false, true) => Some(Only::Second),
            _ => None,
        }
    }
}
