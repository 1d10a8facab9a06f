//! The fields of a served frontmatter, held as the JSON text that goes out: a map of them takes several times the room.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serializer as _};
use serde_json::{Map, Value};

/// The fields that come first.
const FIRST: [&str; 2] = ["name", "description"];

/// All that a frontmatter says (E2). Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields(Arc<str>);

impl Fields {
    /// Writes the fields down: the two that every skill has (N2, N3) first, as they stand in rmcp's type, the others in the
    /// order of their author.
    pub(super) fn new(fields: &Map<String, Value>) -> Self {
        let rank = |key: &str| FIRST.iter().position(|first| *first == key).unwrap_or(FIRST.len());
        let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
        fields.sort_by_key(|(key, _)| rank(key));
        let mut json = Vec::new();
        // Neither texts as keys nor a buffer in memory can fail.
        let _ = serde_json::Serializer::new(&mut json).collect_map(fields);
        Self(String::from_utf8(json).unwrap_or_default().into())
    }

    /// The JSON object, in one line.
    pub fn json(&self) -> &str {
        &self.0
    }

    /// What the skill is for (N3).
    pub fn description(&self) -> Cow<'_, str> {
        serde_json::from_str::<Described<'_>>(&self.0).unwrap_or_default().description
    }

    /// The fields, in their order. Parses the whole text.
    pub fn to_map(&self) -> Map<String, Value> {
        // Frontmatters are not nested as deep as texts that are refused.
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

/// The one field that listings of resources need. It is borrowed where no character of it is escaped.
#[derive(Default, Deserialize)]
struct Described<'a> {
    #[serde(borrow)]
    description: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_as_they_were() {
        let text = r#"{"name":"a","description":"é \u0001","n":[-0,1e+400,123456789012345678901234567890,0.10],"b":{"z":null,"a":true}}"#;
        let fields: Map<String, Value> = serde_json::from_str(text).unwrap();
        assert_eq!((Fields::new(&fields).json(), Fields::new(&fields).to_map()), (text, fields));
        let fields: Map<String, Value> = serde_json::from_str(text).unwrap();
        assert_eq!(Fields::new(&fields).description(), "é \u{1}");
        let late: Map<String, Value> =
            serde_json::from_str(r#"{"b":1,"description":"d","a":2,"name":"n"}"#).unwrap();
        assert_eq!(Fields::new(&late).json(), r#"{"name":"n","description":"d","b":1,"a":2}"#);
        let deepest = (0..crate::yaml::DEPTH_MAX).fold(Value::Null, |value, _| Value::Array(vec![value]));
        let fields = Map::from_iter([("deep".to_owned(), deepest)]);
        assert_eq!(Fields::new(&fields).to_map(), fields);
    }
}
