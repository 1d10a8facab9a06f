//! Files that are too large for one message of some clients.

use crate::finding::{Code, Elsewhere, Host, Loss};

use super::{Fault, Held};

/// The largest message, in bytes, that the TypeScript client and MCP Inspector take over stdio: 10 MiB.
const TYPESCRIPT_MAX_BYTES: u64 = 10 * 1024 * 1024;
/// The largest message, in bytes, that the Rust client takes: 16 MiB.
const RMCP_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Files whose answer is larger than that.
pub(super) fn too_large(held: &[Held]) -> Vec<Fault> {
    let files = held.iter().filter_map(|held| Some((held, held.file?.1)));
    let large = files.filter(|(_, wire_bytes)| *wire_bytes > TYPESCRIPT_MAX_BYTES);
    large
        .map(|(held, wire_bytes)| {
            let hosts: &[Host] = if wire_bytes > RMCP_MAX_BYTES {
                &[Host::TypeScript, Host::Inspector, Host::Rmcp]
            } else {
                &[Host::TypeScript, Host::Inspector]
            };
            let message = format!("the message that carries the file has more than {wire_bytes} bytes");
            Fault {
                path: held.path.clone(),
                code: Code::MessageTooLarge,
                message,
                help: "make the file smaller, or split it".to_owned(),
                elsewhere: Elsewhere::each(Loss::File, hosts),
            }
        })
        .collect()
}
