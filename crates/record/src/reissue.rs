//! Records written again as what they are: with bars over what is covered, and whatever this version does not know.

use onrecord_redact::Reviewed;
use serde_json::Value;

/// Covers what is covered in every text of `value`, but for those under the names in `structural`, which are the protocol's or
/// the family's own words.
pub(crate) fn cover(value: &mut Value, reviewed: &Reviewed, structural: &[&str]) {
    match value {
        Value::String(text) => {
            let covered = cover_text(text, reviewed);
            if covered != *text {
                *text = covered;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| cover(item, reviewed, structural)),
        Value::Object(fields) => {
            for (name, field) in fields {
                if !(structural.contains(&name.as_str()) && field.is_string()) {
                    cover(field, reviewed, structural);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A text that is JSON itself stays JSON: a bar over half an escape would break it.
fn cover_text(text: &str, reviewed: &Reviewed) -> String {
    let covered = reviewed.cover(text);
    if covered != text
        && let Ok(mut inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
    {
        cover(&mut inner, reviewed, &[]);
        return inner.to_string();
    }
    covered
}
