//! A page that has nothing else to say than why it is empty, and where to go on.

use askama::Template;
use serde_json::json;

use super::{frame::Frame, rendered::Rendered};
use crate::{Error, Host};

/// Why there is no page.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    /// For programs, e.g. `gone`.
    pub(crate) code: &'static str,
    /// The condition in a few words.
    pub(crate) title: &'static str,
    /// The condition in a sentence or two.
    pub(crate) text: String,
}

#[derive(Template)]
#[template(path = "notice.html")]
struct NoticePage<'a> {
    frame: Frame<'a>,
    notice: &'a Notice,
}

impl serde::Serialize for Notice {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        json!({ "error": self.code, "message": self.text }).serialize(s)
    }
}

impl Rendered for Notice {
    fn html(&self, host: &Host) -> Result<String, Error> {
        Ok(NoticePage { frame: Frame::of_site(host), notice: self }.render()?)
    }

    fn markdown(&self) -> Result<String, Error> {
        self.text()
    }

    fn text(&self) -> Result<String, Error> {
        Ok(format!("{}. {}\n", self.title, self.text))
    }
}
