//! Mathematics in an agent's text, as MathML; where that cannot be made, as the source that it is.

use std::{
    fmt::{self, Write},
    sync::LazyLock,
};

use math_core::{LatexToMathML, MathCoreConfig, MathDisplay};

/// What is longer is shown as its source, in bytes.
const MAX_SOURCE: usize = 2_000;
/// Braces nested deeper are shown as their source.
const MAX_DEPTH: usize = 16;

static CONVERTER: LazyLock<Option<LatexToMathML>> =
    LazyLock::new(|| LatexToMathML::new(MathCoreConfig::default()).ok());

/// Elements that may come out, with what may stand in them. What else the converter writes of styles is left out: the
/// page's policy forbids it, and the meaning does not depend on it.
pub(crate) const ELEMENTS: [&str; 26] = [
    "math",
    "mrow",
    "mi",
    "mn",
    "mo",
    "ms",
    "mtext",
    "mspace",
    "mfrac",
    "msqrt",
    "mroot",
    "msub",
    "msup",
    "msubsup",
    "munder",
    "mover",
    "munderover",
    "mmultiscripts",
    "mprescripts",
    "none",
    "mtable",
    "mtr",
    "mtd",
    "mpadded",
    "mphantom",
    "mstyle",
];
pub(crate) const ATTRIBUTES: [&str; 20] = [
    "display",
    "displaystyle",
    "scriptlevel",
    "mathvariant",
    "stretchy",
    "symmetric",
    "fence",
    "separator",
    "form",
    "accent",
    "accentunder",
    "lspace",
    "rspace",
    "width",
    "height",
    "depth",
    "linethickness",
    "minsize",
    "maxsize",
    "largeop",
];

/// MathML for `source`; `None` where it is not understood, or is no mathematics.
pub(crate) fn mathml(source: &str, is_block: bool) -> Option<String> {
    let depth = source.bytes().fold((0_usize, 0_usize), |(depth, most), byte| match byte {
        b'{' => (depth + 1, most.max(depth + 1)),
        b'}' => (depth.saturating_sub(1), most),
        _ => (depth, most),
    });
    if source.len() > MAX_SOURCE
        || depth.1 > MAX_DEPTH
        || source.contains('\u{2588}')
        || source.contains("\\begin{document")
    {
        return None;
    }
    if !is_block && !looks_like_math(source) {
        return None;
    }
    let display = if is_block { MathDisplay::Block } else { MathDisplay::Inline };
    // A fault of the converter costs the formula, not the page.
    let made = std::panic::catch_unwind(|| CONVERTER.as_ref()?.convert_with_local_state(source, display).ok());
    cleaned(&made.ok()??.mathml)
}

/// Whether what stands between two dollar signs is a formula, and not what is between two prices or two variables of a shell.
fn looks_like_math(source: &str) -> bool {
    let mut chars = source.chars();
    let one = chars.next().is_some_and(char::is_alphanumeric) && chars.next().is_none();
    let command =
        source.split('\\').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '{'));
    let script = source.contains('^') || source.contains("_{");
    // Short names and signs, from a name to a name.
    let relation = source.contains(['=', '<', '>', '+', '-', '|', '_'])
        && source.contains(char::is_alphabetic)
        && source.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '|' | ']'))
        && !source.contains(['"', '\'', '`', '/', ';', ':', '{'])
        && source.split(|c: char| !c.is_alphabetic()).all(|word| word.chars().count() <= 2);
    one || command || script || relation
}

/// The elements and attributes that may come out; `None` if anything else is there.
fn cleaned(mathml: &str) -> Option<String> {
    let mut out = String::with_capacity(mathml.len());
    let mut rest = mathml;
    while let Some((text, tag)) = rest.split_once('<') {
        if text.contains('>') {
            return None;
        }
        out.push_str(text);
        let (tag, after) = tag.split_once('>')?;
        rest = after;
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, ""), |tag| (tag, "/"));
        let (slash, tag) = tag.strip_prefix('/').map_or(("", tag), |tag| ("/", tag));
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        if name == "span" {
            continue;
        }
        if !ELEMENTS.contains(&name) {
            return None;
        }
        write!(out, "<{slash}{name}").ok()?;
        while !attributes.trim_start().is_empty() {
            let (attribute, value) = attributes.trim_start().split_once("=\"")?;
            let (value, others) = value.split_once('"')?;
            attributes = others;
            if ATTRIBUTES.contains(&attribute) {
                write!(out, " {attribute}=\"{value}\"").ok()?;
            }
        }
        write!(out, "{closed}>").ok()?;
    }
    if rest.contains('>') {
        return None;
    }
    out.push_str(rest);
    Some(out)
}

/// Writes a formula, or its source between its marks.
pub(crate) fn write(w: &mut impl Write, source: &str, is_block: bool) -> fmt::Result {
    match mathml(source, is_block) {
        Some(mathml) => w.write_str(&mathml),
        None if is_block => {
            w.write_str("<code class=\"tex\" dir=\"ltr\">")?;
            crate::html::with_bars(w, source)?;
            w.write_str("</code>")
        }
        None => {
            w.write_char('$')?;
            crate::html::with_bars_and_links(w, source)?;
            w.write_char('$')
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_are_mathml() {
        for (source, part) in [
            ("x^2", "<msup>"),
            ("\\frac{a}{b}", "<mfrac>"),
            ("\\sum_{i=0}^n i", "∑"),
            ("E = mc^2", "<mo>=</mo>"),
            ("n", "<mi>n</mi>"),
            ("n - 1", "<mn>1</mn>"),
            ("|f_n|", "<msub>"),
            ("\\begin{pmatrix}a & b\\\\c & d\\end{pmatrix}", "<mtable"),
        ] {
            let made = mathml(source, false).unwrap_or_else(|| panic!("{source}"));
            assert!(made.starts_with("<math>") && made.contains(part) && !made.contains(" style="), "{made}");
        }
        assert!(mathml("a", true).unwrap().starts_with("<math display=\"block\">"));
    }

    #[test]
    fn prices_and_variables_are_no_formulas() {
        for source in ["5 and ", "A/", "HOME/bin:", "{x}", "PATH", "1,000 or ", "5-", "A-", "FOO_BAR", "foo = bar; "] {
            assert_eq!(mathml(source, false), None, "{source}");
        }
    }

    #[test]
    fn what_is_not_understood_is_its_source() {
        for source in ["\\unknowncommand{x}", "{{{{{{{{{{{{{{{{{x}}}}}}}}}}}}}}}}}", "\\frac{a", "███^2"] {
            assert_eq!(mathml(source, true), None, "{source}");
        }
        let mut out = String::new();
        write(&mut out, "A/<b>", false).unwrap();
        assert_eq!(out, "$A/&lt;b&gt;$");
    }

    #[test]
    fn text_in_formulas_is_text() {
        for source in
            ["\\text{<script>alert(1)</script>}^2", "\\text{\"><img src=x onerror=y>}^2", "<b>^2", "\\mathrm{<i>}"]
        {
            let made = mathml(source, true).unwrap_or_default();
            assert!(
                !made.contains("<script") && !made.contains("<img") && !made.contains("<b>") && !made.contains("<i>"),
                "{made}"
            );
        }
    }

    proptest! {
        /// Nothing comes out that is not known, and nothing panics. Invariant 12.
        #[test]
        fn only_mathml_comes_out(source in "(\\\\[a-z]{1,8}|[{}^_&<>\"'a-z0-9 =+-]|\\\\\\\\|\\\\begin\\{matrix\\}|\\\\text\\{){0,30}") {
            if let Some(made) = mathml(&source, true) {
                prop_assert_eq!(cleaned(&made), Some(made.clone()));
            }
        }
    }
}
