//! The program: arguments, logs, one command, an exit code.

use skillserve::cli::{self, Command};
use skillserve::commands::Exit;
use skillserve::{commands, log};

fn main() {
    let config = cli::parse();
    let written = log::start(config.log_level, config.log_format, config.command.tells_when());
    config.environment.tell();
    let done = match config.command {
        Command::Stdio(source, serving) => commands::stdio(source, serving),
        Command::Http(source, serving, listening) => commands::http(source, serving, listening),
        Command::Check(source, checking) => commands::check(&source, &checking),
        Command::List { source, json, watch: None } => commands::list(&source, json),
        Command::List { source, watch: Some(watch), .. } => commands::list_watch(source, watch),
        Command::Index { source, output } => commands::index(&source, &output),
        Command::Explain(code) => commands::explain(code),
    };
    let code = done.unwrap_or_else(|error| {
        tracing::error!("{}", config.environment.named_in(&format!("{error:#}")));
        Exit::CouldNotRun
    });
    drop(written);
    // Not a return: a thread that still waits for stdin would hold the process.
    std::process::exit(code as i32)
}
