//! JSON written to be read, in the order it was read in.

use std::fmt::{self, Write as _};

use super::JsonRef;
use crate::view::{Data as _, View};

/// `value` over several lines, indented by two spaces.
pub(super) fn pretty(value: JsonRef<'_>) -> String {
    let mut out = String::new();
    // A string can be written to without fail.
    let _ = write(&mut out, value, 0);
    out
}

/// Goes as deep as the document, which is at most 127.
fn write(out: &mut String, value: JsonRef<'_>, depth: usize) -> fmt::Result {
    let line = |out: &mut String, depth: usize| write!(out, "\n{:width$}", "", width = 2 * depth);
    match value.view() {
        View::Array(items) => {
            out.push('[');
            let count = items.len();
            for (i, item) in items.enumerate() {
                if i > 0 {
                    out.push(',');
                }
                line(out, depth + 1)?;
                write(out, item, depth + 1)?;
            }
            if count > 0 {
                line(out, depth)?;
            }
            out.push(']');
        }
        View::Object(fields) => {
            out.push('{');
            let mut is_empty = true;
            for (name, member) in fields {
                if !is_empty {
                    out.push(',');
                }
                is_empty = false;
                line(out, depth + 1)?;
                write!(out, "{}: ", serde_json::Value::from(name))?;
                write(out, member, depth + 1)?;
            }
            if !is_empty {
                line(out, depth)?;
            }
            out.push('}');
        }
        _ => write!(out, "{}", serde_json::Value::from(value))?,
    }
    Ok(())
}
