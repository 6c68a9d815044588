//! Decisions that need all of the conversation.

use std::collections::BTreeSet;

use regex::RegexBuilder;

use super::Decisions;
use crate::{
    Decision, Draft, Engine, Error, Field, Fingerprint, FingerprintKey, Seen,
    cover::{Covers, Whose},
    scan::{Survey, Text, covered_spans, texts},
    text::{self, BLOCK},
};

/// More different words than this are a pattern gone wrong.
const MAX_MATCHES: usize = 1000;

impl Decisions {
    /// Covers, as words, everything in `draft` that a regular expression matches, and says how many different words that is.
    /// The expression is not kept: it may hold the very words, and what is kept here holds none. What comes later is not
    /// covered by it; a pattern that should stop it belongs into a rules file.
    ///
    /// # Errors
    /// The expression cannot be used, or matches more than a thousand different words.
    pub fn cover_pattern(&mut self, key: &FingerprintKey, draft: &Draft, pattern: &str) -> Result<usize, Error> {
        let refused = |reason: String| Error::Pattern(reason);
        let regex = RegexBuilder::new(pattern).build().map_err(|e| refused(e.to_string()))?;
        let mut words = BTreeSet::new();
        for text in texts(draft, self, key) {
            let found = regex.find_iter(text.text).flat_map(|m| m.as_str().split(BLOCK)).map(str::trim);
            words.extend(found.filter(|w| !w.is_empty()));
            if words.len() > MAX_MATCHES {
                return Err(refused(format!("it matches more than {MAX_MATCHES} different words")));
            }
        }
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        for word in &words {
            self.cover_word(key, word)?;
        }
        Ok(words.len())
    }

    /// The covered words, in the order in which they were added, each with the number of places in `draft` where it stands in
    /// any form, those of turns held back too.
    #[must_use]
    pub fn word_places(&self, key: &FingerprintKey, draft: &Draft) -> Vec<(Fingerprint, usize)> {
        let mut counts: Vec<_> = self.covered_words().map(|word| (*word, 0)).collect();
        if counts.is_empty() {
            return counts;
        }
        let Ok(covers) = Covers::new(key, &[], self.words()) else { return counts };
        for text in texts(draft, self, key) {
            let bytes = text.text.as_bytes();
            let mut spans = Vec::new();
            covers.each_place(bytes, |place| {
                if let Whose::Word(word) = place.whose {
                    spans.push((word, place.start, place.end));
                }
            });
            spans.sort_unstable();
            let mut last = (usize::MAX, 0);
            for (word, start, end) in spans {
                if last.0 != word || last.1 <= start {
                    if let Some((_, count)) = counts.get_mut(word) {
                        *count += 1;
                    }
                    last = (word, end);
                } else {
                    last.1 = last.1.max(end);
                }
            }
        }
        counts
    }

    /// Makes the author's own title, description and summaries fit to be kept: what is covered in them gets its bars at once. One that
    /// the conversation has itself is none of the author's.
    ///
    /// # Errors
    /// [`Error::InOwnText`]: something was found in it that is not covered and nowhere allowed. Then these decisions must
    /// not be kept.
    pub fn cover_own_texts(&mut self, draft: &Draft, engine: &Engine, key: &FingerprintKey) -> Result<(), Error> {
        self.cover_own_texts_with(draft, engine, key, None)
    }

    /// The same, with what was found before.
    ///
    /// # Errors
    /// Those of [`Decisions::cover_own_texts`].
    pub fn cover_own_texts_again(
        &mut self,
        draft: &Draft,
        engine: &Engine,
        key: &FingerprintKey,
        seen: &mut Seen,
    ) -> Result<(), Error> {
        self.cover_own_texts_with(draft, engine, key, Some(seen))
    }

    fn cover_own_texts_with(
        &mut self,
        draft: &Draft,
        engine: &Engine,
        key: &FingerprintKey,
        seen: Option<&mut Seen>,
    ) -> Result<(), Error> {
        if self.title.is_none() && self.description.is_none() && self.summaries.is_empty() {
            return Ok(());
        }
        let survey = Survey::new(draft, engine, self, key, seen)?;
        let kept = |place: Option<usize>, field: Field| -> Result<Option<String>, Error> {
            let is_it = |t: &Text<'_>| t.turn == place && t.field == field;
            let Some((index, text)) = survey.texts.iter().enumerate().find(|(_, t)| is_it(t)) else {
                return Ok(None);
            };
            let mut spans = Vec::new();
            for found in survey.findings.iter().filter(|f| f.text == index).map(|f| &f.finding) {
                match found.decision {
                    Some(Decision::Cover) => spans.push((found.start, found.end)),
                    None if found.blocking && !self.allows_value(found) => {
                        return Err(Error::InOwnText {
                            field,
                            rule: found.rule.to_string(),
                            name: found.name.to_string(),
                        });
                    }
                    _ => {}
                }
            }
            let spans = covered_spans(&survey.covers, text.text, spans);
            Ok(Some(text::bar(text.text, &spans)))
        };
        let title = if self.title.is_some() { kept(None, Field::Title)? } else { None };
        let description = if self.description.is_some() { kept(None, Field::Description)? } else { None };
        let mut summaries = Vec::new();
        for ((turn, step), own) in self.own_summaries(key, draft) {
            if let Some(text) = kept(Some(turn), Field::StepSummary(step))? {
                summaries.push((own.clone(), text));
            }
        }
        drop(survey);
        (self.title, self.description) = (title, description);
        for (own, text) in summaries {
            self.set_own_summary_text(&own, text);
        }
        Ok(())
    }
}
