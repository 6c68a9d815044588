//! What the buttons of the page decide.

use onrecord_lexicon::AtUri;
use onrecord_record::about;
use onrecord_redact::{Decision, Field, Finding, Fingerprint, HomeStyle};
use onrecord_web::review::Form;

use super::desk::Desk;
use crate::{
    error::{Error, Result},
    output::counted,
};

/// What was decided, in words: what stands in the list of what can be undone, and what is said.
pub struct Done {
    pub what: String,
    pub say: String,
    /// It is kept already: one that was undone.
    pub is_kept: bool,
}

impl Done {
    fn new(what: impl Into<String>, say: impl Into<String>) -> Self {
        Self { what: what.into(), say: say.into(), is_kept: false }
    }
}

/// Decides what a button says: a verb, and what it is about.
pub fn act(desk: &mut Desk, form: &Form) -> Result<Done> {
    let act = form.text("act");
    let (verb, rest) = act.split_once(' ').unwrap_or((act, ""));
    let rest = if rest.is_empty() { form.text("turns") } else { rest };
    match verb {
        "withhold" | "publish" | "before" | "after" => switch(desk, verb, rest),
        "cover" | "allow" | "reopen" | "hold" => finding(desk, verb, rest, form),
        "home" => home(desk, rest),
        "here" | "everywhere" => passage(desk, verb, form),
        "word" => word(desk, form.text("word")),
        "uncover" => uncover(desk, rest),
        "undo" | "redo" => {
            let is_redo = verb == "redo";
            let history = desk.opened.workspace.history(desk.opened.id)?;
            let what = if is_redo { history.redo } else { history.undo }.unwrap_or_default();
            let gone = desk.opened.go_back(is_redo)?;
            let say = match (gone, is_redo) {
                (true, false) => format!("Undone: {what}"),
                (true, true) => format!("Done again: {what}"),
                (false, false) => "There is nothing to undo".to_owned(),
                (false, true) => "There is nothing to do again".to_owned(),
            };
            Ok(Done { what, say, is_kept: true })
        }
        "title" => {
            let words: Vec<&str> = form.text("title").split_whitespace().collect();
            desk.opened.decisions.set_title(Some(words.join(" ")));
            Ok(Done::new("change the title", "The title is kept"))
        }
        "untitle" => {
            desk.opened.decisions.set_title(None);
            Ok(Done::new("change the title", "The title is the transcript's own"))
        }
        "description" => {
            let text = form.text("description").trim().replace("\r\n", "\n");
            desk.opened.decisions.set_description(Some(text).filter(|text| !text.is_empty()));
            Ok(Done::new("change the description", "The description is kept"))
        }
        "discussion" => discussion(desk, form.text("discussion").trim()),
        "summary" | "unsummary" => summary(desk, rest, (verb == "summary").then(|| form.text("text").trim())),
        "refs" => {
            desk.opened.decisions.set_pointers(rest == "all");
            let say = if rest == "all" { "Turns refer to what they name" } else { "Turns refer to nothing" };
            Ok(Done::new("change what turns refer to", say))
        }
        "drop" | "keep" => pointer(desk, verb, rest),
        _ => Err(unknown(act)),
    }
}

fn unknown(act: &str) -> Error {
    Error::Usage(format!("the page asked for something unknown: {:?}", act.chars().take(40).collect::<String>()))
}

/// Turns as a person writes them: `all`, `3`, `3,7-9`, `5-` for all from there on.
fn turns(text: &str, of: usize) -> Result<Vec<usize>> {
    let wrong = || Error::Usage(format!("{text:?} are no turns; write e.g. 3, 7-9"));
    if text == "all" {
        return Ok((1..=of).collect());
    }
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|n| (1..=of).contains(n));
        let (from, to) = match part.split_once('-') {
            Some((from, "")) => (number(from), Some(of)),
            Some((from, to)) => (number(from), number(to)),
            None => (number(part), number(part)),
        };
        let (Some(from), Some(to)) = (from, to) else { return Err(wrong()) };
        if from > to {
            return Err(wrong());
        }
        all.extend(from..=to);
    }
    Ok(all)
}

fn switch(desk: &mut Desk, verb: &str, text: &str) -> Result<Done> {
    let of = desk.turns();
    let numbers = match verb {
        "before" => (1..turns(text, of)?.first().copied().unwrap_or(1)).collect(),
        "after" => (turns(text, of)?.first().copied().unwrap_or(of) + 1..=of).collect(),
        _ => turns(text, of)?,
    };
    let is_publish = verb == "publish";
    let mut changed = 0;
    for number in &numbers {
        let Some(turn) = number.checked_sub(1).and_then(|n| desk.opened.conversation.turns.get(n)) else { continue };
        let decisions = &mut desk.opened.decisions;
        changed += usize::from(decisions.is_withheld(&turn.id) == is_publish);
        if is_publish { decisions.publish(&turn.id) } else { decisions.withhold(&turn.id) }
    }
    let what = match numbers.as_slice() {
        [one] => format!("turn {one}"),
        _ => counted(changed, "turn"),
    };
    Ok(if is_publish {
        Done::new(format!("put {what} on record"), format!("{} on record", capital(&what)))
    } else {
        Done::new(format!("hold back {what}"), format!("{} held back", capital(&what)))
    })
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn finding(desk: &mut Desk, verb: &str, id: &str, form: &Form) -> Result<Done> {
    let scan = desk.opened.look(&mut desk.seen, |_| false)?.scan;
    let number: u32 = id.trim().parse().map_err(|_| unknown(id))?;
    let of = scan.get(number).ok_or(Error::NoSuchFinding { id: number, count: scan.findings.len() })?;
    let same: Vec<&Finding> =
        scan.findings.iter().filter(|f| f.rule == of.rule && f.fingerprint == of.fingerprint).collect();
    let (name, places) = (of.name.as_str(), counted(same.len(), "place"));
    let decisions = &mut desk.opened.decisions;
    Ok(match verb {
        "cover" => {
            decisions.decide(of, Decision::Cover, None)?;
            Done::new(format!("cover: {name}"), format!("{name}: covered in {places}, and in every other form"))
        }
        "allow" => {
            let reason = form.text(&format!("reason-{number}"));
            let reason = if reason.is_empty() { form.text("reason") } else { reason };
            decisions.decide(of, Decision::Allow, Some(reason))?;
            Done::new(format!("allow: {name}"), format!("{name}: it may stand in {places}"))
        }
        "hold" => {
            let mut held = 0;
            for turn in same.iter().filter_map(|f| f.turn_id.as_deref()) {
                held += usize::from(!decisions.is_withheld(turn));
                decisions.withhold(turn);
            }
            let turns = counted(held, "turn");
            Done::new(format!("hold back {turns}"), format!("{} held back", capital(&turns)))
        }
        _ => {
            decisions.reopen(of);
            Done::new(format!("decide again: {name}"), format!("{name}: to be decided again"))
        }
    })
}

fn home(desk: &mut Desk, style: &str) -> Result<Done> {
    let (style, say) = match style {
        "tilde" => (Some(HomeStyle::Tilde), "Home folders read ~"),
        "bar" => (Some(HomeStyle::Bar), "Home folders are covered"),
        "none" => (None, "Home folders are to be decided again"),
        _ => return Err(unknown(style)),
    };
    desk.opened.decisions.set_home(style);
    Ok(Done::new("decide what stands for home folders", say))
}

/// A passage that was chosen on the page, in bytes of the text as it was shown there.
fn passage(desk: &mut Desk, verb: &str, form: &Form) -> Result<Done> {
    let wrong = || unknown("a passage");
    let turn: usize = form.text("turn").parse().map_err(|_| wrong())?;
    let field: Field = form.text("field").parse().map_err(|_| wrong())?;
    let number = |name: &str| form.text(name).parse::<usize>().map_err(|_| wrong());
    let (start, end) = (number("start")?, number("end")?);
    let turn = Some(turn).filter(|turn| *turn > 0);
    let look = desk.opened.look(&mut desk.seen, |n| Some(n) == turn)?;
    let shown = look.texts.iter().find(|s| s.turn == turn && s.field == field).ok_or_else(wrong)?;
    if end > shown.text.len() || start >= end {
        return Err(wrong());
    }
    let (from, to) = shown.span_before(start, end);
    if verb == "here" {
        let turn = turn.ok_or(onrecord_redact::Error::NoSuchPassage)?;
        desk.opened.cover_passage(turn, field, (from, to))?;
        return Ok(Done::new(format!("cover a passage of turn {turn}"), "Covered here"));
    }
    let text = desk.text(turn, field).ok_or_else(wrong)?;
    let (from, to) = (text.floor_char_boundary(from), text.ceil_char_boundary(to));
    let chosen = text.get(from..to).unwrap_or_default().trim();
    // What an agent marks up is read without the marks, and may stand elsewhere without them.
    let read = form.text("words").trim();
    let is_marked_up = read != chosen && read.chars().count() >= LEAST_READ && !read.contains('█');
    if is_marked_up && desk.opened.mentions(read) {
        desk.opened.decisions.cover_word(&desk.opened.key, read)?;
    }
    word(desk, chosen)
}

/// Of fewer characters, what is read without its marks is covered only as it was chosen.
const LEAST_READ: usize = 4;

/// Covers a word wherever it stands, in every form.
fn word(desk: &mut Desk, word: &str) -> Result<Done> {
    let word = word.trim();
    if !word.is_empty() && !word.contains('█') && !desk.opened.mentions(word) {
        return Err(Error::NothingToCover);
    }
    desk.opened.decisions.cover_word(&desk.opened.key, word)?;
    let places = desk.opened.word_places().last().map_or(0, |(_, places)| *places);
    Ok(Done::new("cover a word", format!("Covered in {}", counted(places, "place"))))
}

fn uncover(desk: &mut Desk, name: &str) -> Result<Done> {
    let (kind, id) = name.split_once(':').ok_or_else(|| unknown(name))?;
    let id: Fingerprint = id.parse().map_err(|_| unknown(name))?;
    let decisions = &mut desk.opened.decisions;
    let was_covered = if kind == "p" { decisions.uncover_passage(&id) } else { decisions.uncover(&id) };
    if !was_covered {
        return Err(Error::NoSuchWord(id.short()));
    }
    Ok(if kind == "p" {
        Done::new("uncover a passage", "The passage is uncovered")
    } else {
        Done::new("uncover a word", "The word is uncovered")
    })
}

fn discussion(desk: &mut Desk, text: &str) -> Result<Done> {
    if text.is_empty() {
        desk.opened.decisions.set_discussion(None);
        return Ok(Done::new("change where it is discussed", "No discussion is linked"));
    }
    let named = about::named(text).filter(|uri: &AtUri| uri.rkey().is_some());
    let Some(uri) = named else {
        let why = "a link to a post, or its at-uri, is wanted as the place where it is being discussed";
        return Err(Error::UnknownLink { name: text.chars().take(200).collect(), why: why.to_owned() });
    };
    desk.opened.decisions.set_discussion(Some(uri.to_string()));
    Ok(Done::new("change where it is discussed", "The discussion is linked"))
}

fn summary(desk: &mut Desk, place: &str, text: Option<&str>) -> Result<Done> {
    let (turn, _) = set_summary(desk, place, text)?;
    Ok(Done::new(format!("change a step of turn {turn}"), "The step is kept as you wrote it"))
}

/// Sets what is said of the step at `TURN STEP`, and gives both numbers.
pub fn set_summary(desk: &mut Desk, place: &str, text: Option<&str>) -> Result<(usize, usize)> {
    let numbers = place.split_once(' ').and_then(|(turn, step)| Some((turn.parse().ok()?, step.parse().ok()?)));
    let (turn, step): (usize, usize) = numbers.ok_or_else(|| unknown(place))?;
    let found = turn.checked_sub(1).and_then(|n| desk.opened.conversation.turns.get(n));
    let id = found.map(|turn| turn.id.clone()).ok_or_else(|| unknown(place))?;
    if !desk.opened.set_summary(&id, step, text.map(str::to_owned)) {
        return Err(unknown(place));
    }
    Ok((turn, step))
}

fn pointer(desk: &mut Desk, verb: &str, rest: &str) -> Result<Done> {
    let decisions = &mut desk.opened.decisions;
    if verb == "keep" {
        if !decisions.keep_pointer(&desk.opened.key, rest) {
            return Err(Error::NotDropped(rest.to_owned()));
        }
        return Ok(Done::new("change what a turn refers to", "It is referred to"));
    }
    let (turn, name) = rest.split_once(' ').ok_or_else(|| unknown(rest))?;
    let number: usize = turn.parse().map_err(|_| unknown(rest))?;
    let turn =
        number.checked_sub(1).and_then(|n| desk.opened.conversation.turns.get(n)).ok_or_else(|| unknown(rest))?;
    if !about::find(&turn.text).iter().any(|found| found.pointer.as_str() == name) {
        return Err(Error::NoSuchPointer(name.to_owned()));
    }
    decisions.drop_pointer(&desk.opened.key, Some(&turn.id), name);
    Ok(Done::new("change what a turn refers to", "It is not referred to"))
}

#[cfg(test)]
mod tests {
    use super::turns;

    #[test]
    fn turns_are_numbers_ranges_all_and_from_there_on() {
        assert_eq!(turns("all", 3).unwrap(), [1, 2, 3]);
        assert_eq!(turns("2", 3).unwrap(), [2]);
        assert_eq!(turns("1, 3-4", 5).unwrap(), [1, 3, 4]);
        assert_eq!(turns("4-", 5).unwrap(), [4, 5]);
        for wrong in ["", "0", "6", "4-2", "x", "1,,2", "-2", "2-9"] {
            assert!(turns(wrong, 5).is_err(), "{wrong:?}");
        }
    }
}
