//! Which other lexicons a document refers to.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::Nsid;

/// The lexicons that `document` refers to by `ref` and `union`, without itself. It need not be valid: what is no reference is
/// passed over. Names in descriptions and known values are not followed.
#[must_use]
pub fn references(document: &Value) -> BTreeSet<Nsid> {
    let own = document.get("id").and_then(Value::as_str).unwrap_or_default();
    let mut found = BTreeSet::new();
    collect(document.get("defs").unwrap_or(&Value::Null), own, &mut found);
    found
}

/// Documents are as deep as their JSON, which is bounded where it is parsed.
fn collect(value: &Value, own: &str, found: &mut BTreeSet<Nsid>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, own, found)),
        Value::Object(fields) => {
            let refs = match fields.get("type").and_then(Value::as_str) {
                Some("ref") => fields.get("ref").map(std::slice::from_ref),
                Some("union") => fields.get("refs").and_then(Value::as_array).map(Vec::as_slice),
                _ => None,
            };
            for target in refs.unwrap_or_default().iter().filter_map(Value::as_str) {
                let nsid = target.split('#').next().unwrap_or_default();
                if nsid != own {
                    found.extend(Nsid::parse(nsid));
                }
            }
            fields.values().for_each(|field| collect(field, own, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_those_of_all_types_of_all_definitions() {
        let document = json!({
            "id": "com.example.note",
            "description": "See com.example.other.",
            "defs": {
                "main": {"type": "record", "record": {"type": "object", "properties": {
                    "subject": {"type": "ref", "ref": "com.atproto.repo.strongRef"},
                    "own": {"type": "ref", "ref": "com.example.note#part"},
                    "local": {"type": "ref", "ref": "#part"},
                    "of": {"type": "array", "items": {"type": "union", "refs": ["com.example.a#main", "com.example.b#c", 3, "no"]}},
                    // A property may have any name.
                    "ref": {"type": "string", "knownValues": ["com.example.token#x"]},
                }}},
                "part": {"type": "object", "properties": {"x": {"type": "ref", "ref": "com.example.c"}}},
            },
        });
        let found: Vec<_> = references(&document).into_iter().map(|nsid| nsid.to_string()).collect();
        assert_eq!(found, ["com.atproto.repo.strongRef", "com.example.a", "com.example.b", "com.example.c"]);
        assert!(references(&json!({"id": "com.example.note"})).is_empty());
    }
}
