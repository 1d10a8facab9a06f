//! The hosts that read skills from a server, and what a finding costs there.

/// A host, or the client library that hosts are made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// The TypeScript client of the protocol, `@modelcontextprotocol/client`.
    TypeScript,
    /// FastMCP's client, in Python.
    FastMcp,
    /// fast-agent, in Python.
    FastAgent,
    /// MCP Inspector: its command line, terminal and web interfaces.
    Inspector,
    /// The Rust client of the protocol, `rmcp`.
    Rmcp,
    /// A file system of Windows, and of others that do not tell upper from lower case.
    Windows,
    /// ChatGPT's import of plugins.
    ChatGpt,
}

impl Host {
    /// Every host, in the order in which they are named.
    pub const ALL: &[Self] = &[
        Self::TypeScript,
        Self::FastMcp,
        Self::FastAgent,
        Self::Inspector,
        Self::Rmcp,
        Self::Windows,
        Self::ChatGpt,
    ];

    /// The hosts that skills are judged for unless others are picked. ChatGPT takes so little that only those who mean
    /// to import there want to hear of it.
    pub const DEFAULT: &[Self] =
        &[Self::TypeScript, Self::FastMcp, Self::FastAgent, Self::Inspector, Self::Rmcp, Self::Windows];

    /// The name that options and reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TypeScript => "typescript",
            Self::FastMcp => "fastmcp",
            Self::FastAgent => "fast-agent",
            Self::Inspector => "inspector",
            Self::Rmcp => "rmcp",
            Self::Windows => "windows",
            Self::ChatGpt => "chatgpt",
        }
    }

    /// The name that people know, with the version that the rules were tried with; none for what is only known from
    /// public documents.
    pub fn title(self) -> &'static str {
        match self {
            Self::TypeScript => "TypeScript client 2.4",
            Self::FastMcp => "FastMCP 4.2",
            Self::FastAgent => "fast-agent 0.10",
            Self::Inspector => "MCP Inspector 2.12",
            Self::Rmcp => "Rust client 3.11",
            Self::Windows => "Windows",
            Self::ChatGpt => "ChatGPT",
        }
    }
}

/// What is lost at a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loss {
    /// One file.
    File,
    /// The skill.
    Skill,
    /// Every skill of the server.
    Listing,
}

impl Loss {
    /// The word that reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Skill => "skill",
            Self::Listing => "listing",
        }
    }

    /// What a host does, to be put behind its name.
    pub fn what(self) -> &'static str {
        match self {
            Self::File => "does not read this file",
            Self::Skill => "does not load this skill",
            Self::Listing => "loads no skill of this server at all",
        }
    }
}

/// What a finding costs at one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Elsewhere {
    /// Where.
    pub host: Host,
    /// What.
    pub loss: Loss,
}

impl Elsewhere {
    /// The same loss at several hosts.
    pub fn each(loss: Loss, hosts: &[Host]) -> Vec<Self> {
        hosts.iter().map(|host| Self { host: *host, loss }).collect()
    }

    /// Who loses what, in one sentence without a full stop.
    pub fn sentence(self) -> String {
        match (self.host, self.loss) {
            (Host::Windows, _) => "Windows, or a file system that folds case, cannot hold it".to_owned(),
            (Host::ChatGpt, _) => "ChatGPT imports no skill of this server at all".to_owned(),
            (host, loss) => format!("{} {}", host.title(), loss.what()),
        }
    }
}
