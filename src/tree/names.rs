//! What a name alone says: never looked at, left behind by a tool, hidden, or likely to hold a secret.
//!
//! All names are compared without regard to ASCII case, because the disk may do so too.

use std::ffi::OsStr;
use std::path::Path;

/// Never walked, whatever the options, and never reached through a link: what version control and package managers
/// keep beside one's own files.
const NEVER: &[&str] = &[".git", ".hg", ".svn", ".bzr", ".jj", "_darcs", "node_modules"];

/// Left behind by tools. Names that a skill may well give to files of its own (`build`, `dist`, `target`, `vendor`,
/// `venv`) are not here; a virtual environment is told by its [`VENV_MARKER`].
const JUNK: &[&str] = &[
    // Python.
    "__pycache__",
    "site-packages",
    ".venv",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".ipynb_checkpoints",
    // JavaScript.
    "bower_components",
    ".nyc_output",
    ".parcel-cache",
    // Others' build state.
    ".gradle",
    ".terraform",
    // File managers and systems.
    ".ds_store",
    "__macosx",
    "thumbs.db",
    "desktop.ini",
    "$recycle.bin",
    "system volume information",
    "lost+found",
    ".directory",
    ".fseventsd",
    ".spotlight-v100",
    ".trashes",
];

/// Ends of names that editors and compilers leave behind.
const JUNK_ENDS: &[&str] = &["~", ".pyc", ".pyo", ".swp", ".swo"];
/// Beginnings of the same kind: resource forks, locks of editors and office programs, files removed while open.
const JUNK_STARTS: &[&str] = &["._", ".#", "~$", ".~lock.", ".nfs0", ".fuse_hidden"];

/// The file that makes its directory a Python virtual environment.
pub(super) const VENV_MARKER: &str = "pyvenv.cfg";

/// Directories that hold keys and logins.
const SECRET_DIRS: &[&str] =
    &[".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".gcloud", ".password-store"];

/// Files in which programs keep logins, tokens or what was typed.
const SECRET_FILES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".htpasswd",
    "htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".s3cfg",
    ".boto",
    ".vault-token",
    ".terraformrc",
    ".envrc",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    "kubeconfig",
    "id_xmss",
    "id_ecdsa_sk",
    "id_ed25519_sk",
];

/// Private keys and stores of them. `key` and `pem` stand for certificates and public keys too: see [`PUBLIC_WORDS`].
const KEY_EXTENSIONS: &[&str] = &[
    "key", "pem", "p8", "p12", "pfx", "pkcs12", "ppk", "jks", "jceks", "bks", "keystore", "keytab", "kdb",
    "kdbx", "ovpn", "tfstate",
];
/// Ends of the names that `ssh-keygen` gives to private keys: `id_rsa`, `deploy_ed25519`.
const KEY_ENDS: &[&str] = &["_rsa", "_dsa", "_ecdsa", "_ed25519"];
/// Words that make a `.key` or `.pem` public, unless a word says that it is a private key after all.
const PUBLIC_WORDS: &[&str] = &[
    "pub",
    "public",
    "pubkey",
    "cert",
    "certs",
    "certificate",
    "certificates",
    "ca",
    "cacert",
    "cacerts",
    "chain",
    "fullchain",
    "bundle",
    "root",
    "roots",
    "csr",
    "dhparam",
    "dhparams",
];
const PRIVATE_WORDS: &[&str] = &["private", "priv", "privkey", "secret"];

/// What a data file is called that holds credentials, alone or at the end of its stem: `gcp-credentials.json`.
const CREDENTIAL_WORDS: &[&str] = &["credential", "credentials", "secret", "secrets"];
/// What the stem of such a file may begin with.
const CREDENTIAL_STARTS: &[&str] = &["client_secret", "client-secret", "service-account", "service_account"];
/// The extensions of data files. Programs and documents about secrets (`secrets.py`, `credentials.md`) are none.
const DATA_EXTENSIONS: &[&str] =
    &["json", "yaml", "yml", "toml", "ini", "xml", "csv", "txt", "env", "properties", "cfg", "conf", "enc"];

/// Words that make a file of settings a sample without anything to hide: `.env.example`, `secrets.sample.yaml`.
const SAMPLE_WORDS: &[&str] =
    &["example", "examples", "sample", "template", "tmpl", "tpl", "dist", "default", "defaults", "schema"];

/// Whether the name is never looked at.
pub(super) fn is_never(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| is_one_of(name, NEVER))
}

/// Whether tools leave such a name behind.
pub(super) fn is_junk(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let in_the_middle = name.len() > 2 && name.starts_with(b"#") && name.ends_with(b"#");
    let ends = |end: &&str| {
        name.len() > end.len() && name[name.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
    };
    let starts = |start: &&str| {
        name.get(..start.len()).is_some_and(|name| name.eq_ignore_ascii_case(start.as_bytes()))
    };
    in_the_middle
        || JUNK.iter().any(|junk| name.eq_ignore_ascii_case(junk.as_bytes()))
        || JUNK_ENDS.iter().any(ends)
        || JUNK_STARTS.iter().any(starts)
}

/// Whether the name begins with a dot.
pub(super) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().first() == Some(&b'.')
}

/// Whether a file, or a directory, of this name is likely to hold a secret.
pub(super) fn is_secret(name: &OsStr, is_dir: bool) -> bool {
    if is_dir { is_secret_dir(name) } else { is_secret_file(name) }
}

/// Whether a directory of this name is likely to hold secrets.
fn is_secret_dir(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| is_one_of(name, SECRET_DIRS))
}

/// Whether a file of this name is likely to hold a secret.
fn is_secret_file(name: &OsStr) -> bool {
    // A name that is not UTF-8 is not served, but a link may still lead to it: judge what can be read of it.
    let name = name.to_string_lossy().to_ascii_lowercase();
    SECRET_FILES.contains(&name.as_str()) || is_key(&name) || is_environment(&name) || is_credentials(&name)
}

/// Why nothing may be served from a resolved path, relative to its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Withheld {
    /// It leads through one of these directories, which no option opens.
    Never,
    /// A directory or file on it is likely to hold a secret.
    Secret,
}

/// Judges a resolved path, of a file or of a directory.
pub(super) fn judge(path: &Path, is_file: bool) -> Option<Withheld> {
    if path.iter().any(is_never) {
        return Some(Withheld::Never);
    }
    let file = path.file_name().filter(|_| is_file);
    (path.iter().any(is_secret_dir) || file.is_some_and(is_secret_file)).then_some(Withheld::Secret)
}

fn is_key(name: &str) -> bool {
    if KEY_ENDS.iter().any(|end| name.ends_with(end))
        || name.starts_with("ssh_host_") && name.ends_with("_key")
    {
        return true;
    }
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let is_public = || has_word(stem, PUBLIC_WORDS) && !has_word(stem, PRIVATE_WORDS);
    match extension {
        "key" | "pem" => !is_public(),
        "backup" => stem.ends_with(".tfstate"),
        other => KEY_EXTENSIONS.contains(&other),
    }
}

fn is_environment(name: &str) -> bool {
    let named = name == ".env" || name.starts_with(".env.") || name.ends_with(".env");
    named && !has_word(name, SAMPLE_WORDS)
}

fn is_credentials(name: &str) -> bool {
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let last = extension.rsplit('.').next().unwrap_or_default();
    if !(extension.is_empty() || DATA_EXTENSIONS.contains(&last)) || has_word(name, SAMPLE_WORDS) {
        return false;
    }
    if extension.is_empty() {
        return stem == "credentials";
    }
    CREDENTIAL_WORDS
        .iter()
        .any(|word| stem.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with(['-', '_'])))
        || CREDENTIAL_STARTS.iter().any(|start| stem.starts_with(start))
}

fn is_one_of(name: &str, table: &[&str]) -> bool {
    table.iter().any(|entry| entry.eq_ignore_ascii_case(name))
}

fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(judge: impl Fn(&OsStr) -> bool, yes: &[&str], no: &[&str]) {
        for name in yes {
            assert!(judge(OsStr::new(name)), "{name:?}");
        }
        for name in no {
            assert!(!judge(OsStr::new(name)), "{name:?}");
        }
    }

    #[test]
    fn junk_is_what_tools_leave_behind() {
        check(
            is_junk,
            &[
                "__pycache__",
                "a.pyc",
                "notes.md~",
                ".DS_Store",
                "Thumbs.db",
                ".x.swp",
                "#a#",
                "._a",
                "~$a.docx",
            ],
            &[
                "build", "dist", "target", "vendor", "venv", "env", "bin", "~", "#a", "#", "a.swp.md",
                "SKILL.md",
            ],
        );
    }

    #[test]
    fn version_control_and_dependencies_are_never_looked_at() {
        check(is_never, &[".git", ".GIT", ".hg", ".svn", "node_modules"], &[".gitignore", "git", "modules"]);
    }

    #[test]
    fn environments_and_credentials_are_secret_but_not_samples_of_them() {
        check(
            is_secret_file,
            &[
                ".env",
                ".ENV",
                ".env.local",
                ".env.production",
                "prod.env",
                ".envrc",
                ".netrc",
                ".npmrc",
                ".htpasswd",
                "credentials",
                "credentials.json",
                "gcp-credentials.json",
                "secrets.yaml",
                "secrets.prod.yaml",
                "client_secret_1.json",
                "service-account.json",
                "kubeconfig",
            ],
            &[
                ".env.example",
                ".env.sample",
                "example.env",
                "secrets.example.yaml",
                "credentials.md",
                "secrets.py",
                "secret.md",
                "environment.md",
                "my-secret-plan.txt",
                "env",
                "nosecrets.txt",
                "package.json",
            ],
        );
    }

    #[test]
    fn private_keys_are_secret_but_not_public_ones() {
        check(
            is_secret_file,
            &[
                "id_rsa",
                "id_ed25519",
                "deploy_ed25519",
                "server.key",
                "SERVER.KEY",
                "privkey.pem",
                "ca-private.key",
                "a.p12",
                "a.pfx",
                "release.keystore",
                "ssh_host_rsa_key",
                "terraform.tfstate",
                "terraform.tfstate.backup",
                "vpn.ovpn",
            ],
            &[
                "id_rsa.pub",
                "cert.pem",
                "fullchain.pem",
                "ca-bundle.pem",
                "public.key",
                "keys.md",
                "keyboard",
                "key",
                "pem",
                "primary_key",
                "a.pub",
                "a.crt",
                "config.backup",
            ],
        );
    }

    #[test]
    fn a_resolved_path_is_judged_by_all_its_directories() {
        let check = |path, is_file, expected| assert_eq!(judge(Path::new(path), is_file), expected, "{path}");
        check("a/.git/config", true, Some(Withheld::Never));
        check("a/node_modules", false, Some(Withheld::Never));
        check("home/.ssh/config", true, Some(Withheld::Secret));
        check("home/.aws", false, Some(Withheld::Secret));
        check("a/.env", true, Some(Withheld::Secret));
        check("a/.env", false, None);
        check("..data/..2024/a.md", true, None);
        check("", false, None);
    }
}
