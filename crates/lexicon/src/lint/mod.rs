//! What is wrong with a lexicon document, and what could be better: against the language, against what experience
//! warns of, and against the style guide.
//!
//! Sources: the lexicon and permission specifications, the lexicon style guide, and the rules of `goat lex lint`.

mod rule;
mod style;
#[cfg(test)]
mod tests;
mod walk;

use crate::{Json, error::Problem, json::JsonError, schema::parts, view::Data};

pub use rule::{Level, LintRule};

/// All that can be said about `document`: first what matters most, and of that in the document's order.
///
/// References into other documents are not followed.
pub fn lint<'v, D: Data<'v>>(document: D) -> Vec<Problem> {
    let (parts, found) = parts(document);
    let mut all = found.problems;
    all.extend(found.notes);
    walk::walk(&parts, &mut all);
    sorted(all)
}

/// As [`lint`], of a document's text: also keys that stand twice in an object.
///
/// # Errors
/// If it is not JSON.
pub fn lint_json(document: &[u8]) -> Result<Vec<Problem>, JsonError> {
    let json = Json::parse(document)?;
    let twice = json.duplicates().into_iter().map(|path| Problem {
        rule: LintRule::DuplicateKey,
        path,
        message: "this key stands in its object more than once".to_owned(),
    });
    let mut all: Vec<Problem> = twice.collect();
    all.extend(lint(json.root()));
    Ok(sorted(all))
}

fn sorted(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.rule.level()));
    problems
}
