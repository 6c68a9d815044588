//! As much of HTML as exports are written in.

/// The rest of a tag within whose first value `text` begins, and what comes behind the tag. Quoted values may hold `>`.
pub(crate) fn end_of_tag(text: &str) -> Option<(&str, &str)> {
    let mut is_quoted = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'>' if !is_quoted => return Some((text.get(..at)?, text.get(at + 1..)?)),
            _ => {}
        }
    }
    None
}

/// Text with its entities as the characters they stand for.
pub(crate) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let found = after.split_once(';').filter(|(name, _)| name.len() <= 8).and_then(|(name, after)| {
            let character = match name {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "apos" => '\'',
                "nbsp" => '\u{a0}',
                name => {
                    let number = name.strip_prefix('#')?;
                    let code = match number.strip_prefix(['x', 'X']) {
                        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                        None => number.parse().ok()?,
                    };
                    char::from_u32(code)?
                }
            };
            Some((character, after))
        });
        match found {
            Some((character, after)) => {
                out.push(character);
                rest = after;
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// What a reader sees of a piece of HTML: blocks on lines of their own, items with a dash, no tags.
pub(crate) fn to_text(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        push(&mut out, before);
        let Some((tag, after)) = after.split_once('>') else {
            rest = "";
            break;
        };
        let closes = tag.starts_with('/');
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap_or_default().to_ascii_lowercase();
        match name.as_str() {
            "br" => out.push('\n'),
            "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "pre" | "blockquote" | "table" | "ul" | "ol" => {
                blank_line(&mut out);
            }
            "li" if !closes => {
                new_line(&mut out);
                out.push_str("- ");
            }
            "tr" | "div" => new_line(&mut out),
            "td" | "th" if closes => out.push('\t'),
            _ => {}
        }
        rest = after;
    }
    push(&mut out, rest);
    out.trim().to_owned()
}

fn push(out: &mut String, text: &str) {
    // Breaks in the source mean nothing.
    if !text.trim().is_empty() {
        out.push_str(&unescape(text));
    } else if text.contains(' ') && !out.ends_with(['\n', ' ']) {
        out.push(' ');
    }
}

fn new_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

fn blank_line(out: &mut String) {
    new_line(out);
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_is_what_is_left() {
        let html = "<p>One &amp; <b>two</b></p><ul><li>a</li><li>b&nbsp;c</li></ul><pre><code>x &lt; 1</code></pre>";
        assert_eq!(to_text(html), "One & two\n\n- a\n- b\u{a0}c\n\nx < 1");
        assert_eq!(unescape("&#39;&#x41;&unknown; &"), "'A&unknown; &");
        assert_eq!(
            end_of_tag("reasoning\" done=\"true\" x=\"a>b\">rest"),
            Some(("reasoning\" done=\"true\" x=\"a>b\"", "rest"))
        );
        assert_eq!(to_text("a <b"), "a");
    }
}
