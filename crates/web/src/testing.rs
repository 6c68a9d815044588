//! What every test of written HTML asks.

#![allow(clippy::string_slice, reason = "tests fail loudly")]

use crate::math;

/// Fails unless every tag in `html` is one we write, with attributes we write, and every address has a scheme that may
/// be linked.
pub(crate) fn assert_safe(html: &str) {
    const TAGS: [&str; 34] = [
        "button",
        "p",
        "h3",
        "h4",
        "h5",
        "h6",
        "pre",
        "code",
        "blockquote",
        "ul",
        "ol",
        "li",
        "em",
        "strong",
        "del",
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "a",
        "span",
        "br",
        "hr",
        "b",
        "time",
        "details",
        "summary",
        "article",
        "h1",
        "h2",
        "nav",
    ];
    const ATTRIBUTES: [&str; 9] = ["dir", "class", "tabindex", "href", "rel", "title", "role", "aria-label", "start"];
    let mut rest = html;
    while let Some(at) = rest.find(['<', '>']) {
        assert!(rest[at..].starts_with('<'), "a foreign > in {html}");
        let tag = &rest[at + 1..];
        let end = tag.find('>').unwrap_or_else(|| panic!("a foreign < in {html}"));
        let (tag, after) = (&tag[..end], &tag[end + 1..]);
        // Only MathML's elements may close themselves.
        let open = tag.strip_suffix('/').unwrap_or(tag);
        let (name, mut attributes) = open.split_once(' ').unwrap_or((open, ""));
        let name = name.trim_start_matches('/');
        let of_math = math::ELEMENTS.contains(&name);
        assert!(of_math || (TAGS.contains(&name) && open == tag), "<{tag}> in {html}");
        while !attributes.is_empty() {
            let (attribute, value) = attributes.split_once("=\"").unwrap_or_else(|| panic!("<{tag}> in {html}"));
            let known = if of_math { &math::ATTRIBUTES[..] } else { &ATTRIBUTES };
            assert!(known.contains(&attribute), "{attribute} in {html}");
            let (value, others) = value.split_once('"').unwrap_or_else(|| panic!("<{tag}> in {html}"));
            if attribute == "href" {
                let value = value.to_ascii_lowercase();
                let schemes = ["https://", "http://", "mailto:", "at://"];
                assert!(schemes.iter().any(|s| value.starts_with(s)), "href {value} in {html}");
            }
            attributes = others.trim_start();
        }
        rest = after;
    }
}
