//! Lists: in the environment one item a line, and names of hosts with commas between them anywhere. Otherwise what is typed
//! is never taken apart, since a path may hold a line feed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::args::{Cli, CommandArgs, ListeningArgs, SourceArgs};

/// Takes the lists of `cli` apart. Lines that are empty are no items: a block of YAML ends with one.
pub(super) fn take_apart(cli: &mut Cli, matches: &ArgMatches) {
    let Some((_, matches)) = matches.subcommand() else { return };
    match &mut cli.command {
        CommandArgs::Http { source, listening, .. } => {
            of_source(source, matches);
            of_listening(listening, matches);
        }
        CommandArgs::Stdio { source, .. }
        | CommandArgs::Check { source, .. }
        | CommandArgs::List { source, .. }
        | CommandArgs::Index { source, .. } => of_source(source, matches),
        CommandArgs::Explain { .. } => {}
    }
}

fn of_source(source: &mut SourceArgs, matches: &ArgMatches) {
    split(&mut source.dirs, "dirs", matches);
    split(&mut source.mounts, "mounts", matches);
    split(&mut source.exclude, "exclude", matches);
    split(&mut source.allow_secret, "allow_secret", matches);
    split(&mut source.follow_links_to, "follow_links_to", matches);
    split(&mut source.rules, "rules", matches);
    split(&mut source.hosts, "hosts", matches);
    source.hosts = source.hosts.iter().flat_map(|names| between_commas(names)).collect();
}

fn of_listening(listening: &mut ListeningArgs, matches: &ArgMatches) {
    split(&mut listening.allow_host, "allow_host", matches);
    split(&mut listening.allow_origin, "allow_origin", matches);
    split(&mut listening.trusted_proxy, "trusted_proxy", matches);
}

fn split<T: Items>(list: &mut Vec<T>, id: &str, matches: &ArgMatches) {
    if matches.value_source(id) == Some(ValueSource::EnvVariable) {
        *list = std::mem::take(list).into_iter().flat_map(T::items).collect();
    }
}

fn between_commas(names: &str) -> impl Iterator<Item = String> {
    names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// An item that several may stand in, a line each.
trait Items: Sized {
    fn items(self) -> Vec<Self>;
}

impl Items for String {
    fn items(self) -> Vec<Self> {
        self.split('\n').filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }
}

impl Items for PathBuf {
    #[cfg(unix)]
    fn items(self) -> Vec<Self> {
        use std::os::unix::ffi::OsStringExt as _;
        let bytes = self.into_os_string().into_vec();
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| OsString::from_vec(line.to_vec()).into()).collect()
    }

    #[cfg(not(unix))]
    fn items(self) -> Vec<Self> {
        match self.into_os_string().into_string() {
            Ok(text) => text.items().into_iter().map(Self::from).collect(),
            Err(whole) => vec![OsString::into(whole)],
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, FromArgMatches as _};

    use super::*;

    #[test]
    fn what_is_typed_stays_whole() {
        let typed = ["skillserve", "check", "a\nb", "--exclude", "c\n"];
        let matches = Cli::command().try_get_matches_from(typed).unwrap();
        let mut cli = Cli::from_arg_matches(&matches).unwrap();
        take_apart(&mut cli, &matches);
        let CommandArgs::Check { source, .. } = cli.command else { panic!("{cli:?}") };
        assert_eq!((source.dirs, source.exclude), (vec![PathBuf::from("a\nb")], vec!["c\n".to_owned()]));
        for command in Cli::command().get_subcommands() {
            let split = command.get_arguments().filter(|arg| arg.get_value_delimiter() == Some('\n'));
            assert_eq!(split.count(), 0, "{}", command.get_name());
        }
    }

    #[test]
    fn commas_stand_between_hosts() {
        let check = |names: &str, expected: &[&str]| {
            assert_eq!(between_commas(names).collect::<Vec<_>>(), expected, "{names}");
        };
        check("rmcp", &["rmcp"]);
        check("rmcp, windows,", &["rmcp", "windows"]);
        check(",", &[]);
        check("", &[]);
    }

    #[test]
    fn an_item_stands_on_each_line() {
        let check = |list: &str, expected: &[&str]| {
            assert_eq!(list.to_owned().items(), expected);
            assert_eq!(PathBuf::from(list).items(), expected.iter().map(PathBuf::from).collect::<Vec<_>>());
        };
        check("a", &["a"]);
        check("a\nb c\n", &["a", "b c"]);
        check("\n\na\n\n", &["a"]);
        check("", &[]);
        check("\n", &[]);
    }
}
