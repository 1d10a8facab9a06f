//! Variables in the place of options: one that is empty counts for nothing, one that no option reads is told, and an error
//! names the variable that a value came from.

use std::ffi::OsStr;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, Error};

use crate::nearest::nearest;
use crate::report::escape;

/// How the names of all variables begin.
const PREFIX: &str = "SKILLSERVE_";
/// Variables of this project that are not the program's: where its benchmarks find what they compare with, and the marks of
/// its tests.
const OTHERS: [&str; 2] = ["SKILLSERVE_PEERS", "SKILLSERVE_TEST_"];

/// What the environment has to do with this run.
#[derive(Debug, Default)]
pub struct Environment {
    /// The words for what variables said, and those that name the variable: `SKILLSERVE_LISTEN` for `--listen`.
    given: Vec<(String, String)>,
    /// What is to be told about variables that no option reads.
    unread: Vec<String>,
}

/// Reads the words that were typed, and for what is missing among them the variables.
pub(super) fn matches(command: &Command) -> Result<ArgMatches, Error> {
    without(command, |_, value| value.is_empty()).try_get_matches().map_err(|error| match error.kind() {
        // It shows all variables, also those that are empty.
        ErrorKind::DisplayHelp => command.clone().try_get_matches().err().unwrap_or(error),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => named(command, error),
        ErrorKind::InvalidUtf8 => unreadable(command).unwrap_or(error),
        _ => error,
    })
}

/// The command as it is when it does not know of the variables whose names and values are such.
fn without(command: &Command, is_such: impl Fn(&OsStr, &OsStr) -> bool) -> Command {
    let forget = |arg: Arg| {
        let is_such = arg
            .get_env()
            .is_some_and(|name| std::env::var_os(name).is_some_and(|value| is_such(name, &value)));
        if is_such { arg.env(None::<&'static str>) } else { arg }
    };
    command.clone().mut_args(forget).mut_subcommands(|command| command.mut_args(forget))
}

/// The error, which names the variable if the value is not typed.
fn named(command: &Command, mut error: Error) -> Error {
    let typed = without(command, |_, _| true).try_get_matches();
    let same = |typed: &Error| typed.get(ContextKind::InvalidArg) == error.get(ContextKind::InvalidArg);
    if typed.is_err_and(|typed| typed.kind() == error.kind() && same(&typed)) {
        return error;
    }
    let mut command = command.clone();
    // Only then do the options know how they are shown.
    command.build();
    let variable = error.get(ContextKind::InvalidArg).and_then(|shown| {
        let arg = args(&command).find(|arg| *shown == ContextValue::String(arg.to_string()))?;
        Some(arg.get_env()?.to_string_lossy().into_owned())
    });
    if let Some(variable) = variable {
        error.insert(ContextKind::InvalidArg, ContextValue::String(variable));
    }
    error
}

/// The error that names the variable whose value has to be UTF-8 and is not; `None` if it is what is typed.
fn unreadable(command: &Command) -> Option<Error> {
    let is_wrong = |command: Command| {
        command.try_get_matches().is_err_and(|error| error.kind() == ErrorKind::InvalidUtf8)
    };
    if is_wrong(without(command, |_, _| true)) {
        return None;
    }
    let variable = args(command)
        .filter_map(Arg::get_env)
        .find(|name| is_wrong(without(command, |other, _| other != *name)))?;
    let sentence = format!("the value of {} is not UTF-8: give it another one", variable.to_string_lossy());
    Some(command.clone().error(ErrorKind::InvalidUtf8, sentence))
}

/// The options of all commands.
fn args(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().chain(command.get_subcommands().flat_map(Command::get_arguments))
}

impl Environment {
    /// What it has to do with a run of `command` that was read as `matches`.
    pub(super) fn new(command: &Command, matches: &ArgMatches) -> Self {
        let known: Vec<_> = args(command).filter_map(Arg::get_env).filter_map(OsStr::to_str).collect();
        let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
        let set = set.filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let unread = set.filter_map(|(name, value)| unread(&name, &value, &known)).collect();
        Self { given: given(command, matches), unread }
    }

    /// The sentence, in which a value that came from a variable goes by the name of that and not by the option's.
    pub fn named_in(&self, sentence: &str) -> String {
        let mut sentence = sentence.to_owned();
        for (option, variable) in &self.given {
            sentence = renamed(&sentence, option, variable);
        }
        sentence
    }

    /// Tells which variables nothing is done with.
    pub fn tell(&self) {
        self.unread.iter().for_each(|remark| tracing::warn!("{remark}"));
    }
}

fn given(command: &Command, matches: &ArgMatches) -> Vec<(String, String)> {
    let Some((name, matches)) = matches.subcommand() else { return Vec::new() };
    let own = command.find_subcommand(name).into_iter().flat_map(Command::get_arguments);
    let is_given = |arg: &&Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::EnvVariable);
    command.get_arguments().chain(own).filter(is_given).flat_map(names).collect()
}

/// An option and its variable. What has no name of its own is told by its values.
fn names(arg: &Arg) -> Vec<(String, String)> {
    let Some(variable) = arg.get_env().and_then(OsStr::to_str) else { return Vec::new() };
    match arg.get_long() {
        Some(long) => vec![(format!("--{long}"), variable.to_owned())],
        None => {
            let values = std::env::var(variable).unwrap_or_default();
            let quoted = values.lines().map(|value| format!("{value:?}"));
            quoted.map(|value| (value.clone(), format!("{value} of {variable}"))).collect()
        }
    }
}

/// What is told about a variable that no option reads. One of another program with such a name is not spoken of.
fn unread(name: &str, value: &OsStr, known: &[&str]) -> Option<String> {
    let end = name.strip_prefix(PREFIX)?;
    if known.contains(&name)
        || OTHERS.iter().any(|other| name.starts_with(other))
        || is_of_service(name, value)
    {
        return None;
    }
    let ends = known.iter().filter_map(|known| known.strip_prefix(PREFIX));
    let cure = match nearest(end, ends) {
        Some(nearest) => format!("did you mean {PREFIX}{nearest}?"),
        None => "`skillserve help` and the help of each command tell which there are".to_owned(),
    };
    Some(format!("nothing is done with the variable {}: {cure}", escape::text(name)))
}

/// Whether Kubernetes sets it in every pod, for a service whose name begins with this program's.
fn is_of_service(name: &str, value: &OsStr) -> bool {
    let is_url = value.to_str().is_some_and(|value| value.contains("://"));
    name.contains("_SERVICE_HOST")
        || name.contains("_SERVICE_PORT")
        || name.contains("_PORT_")
        || name.ends_with("_PORT") && is_url
}

/// The sentence with another word for `option`, where that stands by itself.
fn renamed(sentence: &str, option: &str, word: &str) -> String {
    let mut parts = sentence.split(option);
    let mut renamed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let goes_on = part.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '-');
        renamed.push_str(if goes_on { option } else { word });
        renamed.push_str(part);
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_named_where_it_stands_by_itself() {
        let check = |sentence: &str, expected: &str| assert_eq!(renamed(sentence, "--tls", "X"), expected);
        check("--tls `a`: it", "X `a`: it");
        check("give --tls, or --tls-key and --tls", "give X, or --tls-key and X");
        check("nothing", "nothing");
    }

    #[test]
    fn a_variable_that_nothing_reads_is_told() {
        let check = |name: &str, value: &str, expected: Option<&str>| {
            let told = unread(
                name,
                OsStr::new(value),
                &["SKILLSERVE_LISTEN", "SKILLSERVE_PORTABLE", "SKILLSERVE_TOKEN_FILE"],
            );
            match (&told, expected) {
                (Some(told), Some(words)) => assert!(told.contains(words), "{told}"),
                _ => assert_eq!(told.as_deref(), expected, "{name}"),
            }
        };
        check("SKILLSERVE_LISTEN", "x", None);
        check("SKILLSERVE_LISTN", "x", Some("SKILLSERVE_LISTN: did you mean SKILLSERVE_LISTEN?"));
        check("SKILLSERVE_TOKENFILE", "x", Some("did you mean SKILLSERVE_TOKEN_FILE?"));
        check("SKILLSERVE_QUUX", "x", Some("SKILLSERVE_QUUX: `skillserve help`"));
        check("SKILLSERVE", "x", None);
        check("OTHER_LISTN", "x", None);
        check("SKILLSERVE_PEERS", "x", None);
        check("SKILLSERVE_TEST_CHILD", "x", None);
        // Those of services named `skillserve` and `skillserve-web`.
        check("SKILLSERVE_SERVICE_HOST", "10.0.0.1", None);
        check("SKILLSERVE_WEB_SERVICE_PORT_HTTP", "80", None);
        check("SKILLSERVE_PORT", "tcp://10.0.0.1:80", None);
        check("SKILLSERVE_PORT_80_TCP_ADDR", "10.0.0.1", None);
        check("SKILLSERVE_PORT", "8080", Some("SKILLSERVE_PORT: `skillserve help`"));
    }
}
