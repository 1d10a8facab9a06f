//! Fields whose type or length some hosts refuse, and with them the whole listing.

use serde_json::Value;

use crate::finding::{Elsewhere, Host, Loss};

/// Who lists nothing because of an optional field that breaks the format (N4).
pub(crate) fn elsewhere(field: &str, value: &Value) -> Vec<Elsewhere> {
    let hosts: &[Host] = match (field, value) {
        ("metadata", Value::Object(_)) => &[Host::TypeScript],
        ("metadata" | "compatibility", _) => &[Host::TypeScript, Host::FastMcp],
        ("allowed-tools", Value::Array(tools)) if tools.iter().all(Value::is_string) => &[],
        ("license" | "allowed-tools", _) => &[Host::FastMcp],
        _ => &[],
    };
    Elsewhere::each(Loss::Listing, hosts)
}
