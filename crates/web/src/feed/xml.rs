//! Text in XML: escaped, and without what XML has no place for.

use std::fmt;

/// Shows text as the content of an element or of a quoted attribute.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(is_special) {
            let Some((before, from)) = rest.split_at_checked(at) else { break };
            f.write_str(before)?;
            let mut chars = from.chars();
            match chars.next() {
                Some('&') => f.write_str("&amp;")?,
                Some('<') => f.write_str("&lt;")?,
                Some('>') => f.write_str("&gt;")?,
                Some('"') => f.write_str("&quot;")?,
                // Control characters as their pictures, as on the pages.
                Some('\u{7f}') => f.write_str("\u{2421}")?,
                Some(c @ '\0'..'\u{20}') => {
                    write!(f, "{}", char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'))?;
                }
                Some(_) => f.write_str("\u{fffd}")?,
                None => {}
            }
            rest = chars.as_str();
        }
        f.write_str(rest)
    }
}

/// Marks of XML, and characters that no XML document may hold (XML 1.0, section 2.2) or ought to.
fn is_special(c: char) -> bool {
    matches!(c, '&' | '<' | '>' | '"' | '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Escaped;

    #[test]
    fn marks_are_escaped_and_what_xml_cannot_hold_is_shown_as_what_it_was() {
        assert_eq!(Escaped("a<b>&\"c\"").to_string(), "a&lt;b&gt;&amp;&quot;c&quot;");
        assert_eq!(
            Escaped("\u{1b}[31m\0\u{7f}\u{85}\u{fffe}\u{ffff}\t\n").to_string(),
            "␛[31m␀␡\u{fffd}\u{fffd}\u{fffd}\t\n"
        );
    }

    proptest! {
        #[test]
        fn nothing_is_left_that_xml_cannot_hold(text in any::<String>()) {
            let escaped = Escaped(&text).to_string();
            let is_fine = |c: char| matches!(c, '\t' | '\n' | '\u{20}'..='\u{7e}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
            prop_assert!(escaped.chars().all(is_fine) && !escaped.contains(['<', '>', '"']), "{escaped:?}");
        }
    }
}
