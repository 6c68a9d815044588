//! Files that hold many conversations: which of them is read.

use jiff::Timestamp;

use super::{Error, ParseOptions, Parsed, thread::Head};
use crate::{Conversation, Harness, Parent, Warning};

/// A conversation in a file that holds several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The harness's id.
    pub id: String,
    /// Its title, where it has one of its own.
    pub title: Option<String>,
    /// The folder the agent worked in.
    pub cwd: Option<String>,
    /// When it last changed, where that is known.
    pub modified: Option<Timestamp>,
    /// The conversation in which an agent started it, where no person did.
    pub parent: Option<String>,
}

impl Listed {
    /// What it is to begin with, before anything is read in it.
    pub(crate) fn head(&self) -> Head {
        Head {
            id: Some(self.id.clone()),
            version: None,
            cwd: self.cwd.clone(),
            title: self.title.clone(),
            parent: self.parent.clone().filter(|id| !id.is_empty()).map(|id| Parent { id, call: None }),
        }
    }

    pub(crate) fn new(id: impl Into<String>, title: Option<String>, modified: Option<Timestamp>) -> Self {
        Self { id: id.into(), title, cwd: None, modified, parent: None }
    }
}

/// What is asked of the file, and what was found in it.
#[derive(Debug)]
pub(crate) struct Pick<'o> {
    goal: Goal<'o>,
    listed: Vec<Listed>,
    /// The conversation that is given so far, its id, and when it changed.
    best: Option<(String, Option<Timestamp>, Conversation)>,
    others: u64,
}

#[derive(Debug, Clone, Copy)]
enum Goal<'o> {
    List,
    Newest,
    Named(&'o str),
}

impl<'o> Pick<'o> {
    /// All of them, by name.
    pub(crate) const fn list() -> Self {
        Self { goal: Goal::List, listed: Vec::new(), best: None, others: 0 }
    }

    /// The one that the options name, else the one that changed last.
    pub(crate) fn one(options: &'o ParseOptions) -> Self {
        let goal = options.conversation.as_deref().map_or(Goal::Newest, Goal::Named);
        Self { goal, listed: Vec::new(), best: None, others: 0 }
    }

    /// Whether this one is to be read.
    pub(crate) fn wants(&mut self, found: &Listed) -> bool {
        let is_newer = match &self.best {
            None => true,
            Some((_, best, _)) => found.modified > *best,
        };
        let wanted = match self.goal {
            Goal::List => {
                self.listed.push(found.clone());
                return false;
            }
            Goal::Newest => is_newer && found.parent.is_none(),
            Goal::Named(name) => found.id == name || (found.id.starts_with(name) && !self.is_exact(name)),
        };
        self.others += u64::from(!wanted && matches!(self.goal, Goal::Newest));
        wanted
    }

    fn is_exact(&self, name: &str) -> bool {
        self.best.as_ref().is_some_and(|(id, ..)| id == name)
    }

    /// One that was wanted, if there is anything in it.
    pub(crate) fn offer(&mut self, found: &Listed, conversation: Option<Conversation>) {
        let Some(conversation) = conversation else { return };
        if matches!(self.goal, Goal::Named(name) if self.best.is_some() && found.id != name) {
            self.others += 1;
            return;
        }
        self.others += u64::from(self.best.is_some() && matches!(self.goal, Goal::Newest));
        self.best = Some((found.id.clone(), found.modified, conversation));
    }

    pub(crate) fn into_list(self) -> Vec<Listed> {
        self.listed
    }

    /// The conversation. `recognised` says whether there was anything of the harness's.
    pub(crate) fn finish(
        self,
        harness: Harness,
        options: &ParseOptions,
        recognised: bool,
        mut warnings: Vec<Warning>,
    ) -> Result<Parsed, Error> {
        let wanted = options.conversation.clone().unwrap_or_default();
        let (id, _, mut conversation) = match (self.best, self.goal) {
            (Some(best), _) => best,
            (None, _) if !recognised => return Err(Error::NotThisFormat { harness }),
            (None, Goal::Named(_)) => return Err(Error::NoSuchConversation(wanted)),
            (None, _) => return Err(Error::Empty),
        };
        match self.goal {
            Goal::Named(_) if self.others > 0 && id != wanted => return Err(Error::AmbiguousConversation(wanted)),
            Goal::Newest if self.others > 0 => {
                let warning = Warning {
                    line: None,
                    code: OTHERS,
                    message: format!(
                        "the file holds {} more; the newest is shown, and # with an id behind the file's name asks for another",
                        self.others
                    ),
                };
                warnings.push(warning);
            }
            _ => {}
        }
        conversation.warnings.splice(0..0, warnings.iter().cloned());
        Ok(Parsed { conversations: vec![conversation], warnings })
    }
}

/// The code of the warning that a file holds more conversations than the one that is given.
pub const OTHERS: &str = "other-conversations";
