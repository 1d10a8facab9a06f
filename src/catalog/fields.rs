//! The fields of a served frontmatter, held as the JSON text that goes out: a map of them takes several times the room.

use std::sync::Arc;

use serde_json::{Map, Value};

/// All that a frontmatter says (E2). Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields(Arc<str>);

impl Fields {
    /// Writes the fields down in their order.
    pub(super) fn new(fields: &Map<String, Value>) -> Self {
        // A map whose keys are texts can always be written.
        Self(serde_json::to_string(fields).unwrap_or_default().into())
    }

    /// The JSON object, in one line.
    pub fn json(&self) -> &str {
        &self.0
    }

    /// The fields, in their order. Parses the whole text.
    pub fn to_map(&self) -> Map<String, Value> {
        // Frontmatters are not nested as deep as texts that are refused.
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_as_they_were() {
        let text = r#"{"name":"a","description":"é \u0001","n":[-0,1e+400,123456789012345678901234567890,0.10],"b":{"z":null,"a":true}}"#;
        let fields: Map<String, Value> = serde_json::from_str(text).unwrap();
        assert_eq!((Fields::new(&fields).json(), Fields::new(&fields).to_map()), (text, fields));
        let deepest = (0..crate::yaml::DEPTH_MAX).fold(Value::Null, |value, _| Value::Array(vec![value]));
        let fields = Map::from_iter([("deep".to_owned(), deepest)]);
        assert_eq!(Fields::new(&fields).to_map(), fields);
    }
}
