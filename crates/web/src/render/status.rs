//! How the index stands.

use std::fmt::Write as _;

use askama::Template;

use super::{
    document::{Code, Escaped, one_line},
    frame::Frame,
    link::{Grouped, counted},
    rendered::Rendered,
};
use crate::{
    Error, Host,
    view::{CountView, RejectionView, StatusView},
};

#[derive(Template)]
#[template(path = "status.html")]
struct Page<'a> {
    frame: Frame<'a>,
    view: &'a StatusView,
}

impl Page<'_> {
    fn waiting(&self) -> Grouped {
        Grouped(self.view.waiting)
    }

    fn gone(&self) -> Grouped {
        Grouped(self.view.gone)
    }

    fn tally(&self) -> String {
        self.view.tally()
    }

    fn reached(&self, at: &str) -> String {
        let moment = crate::moment::Moment::read(at);
        format!("{}, {} UTC", moment.day(), moment.clock())
    }
}

impl CountView {
    fn grouped(&self) -> Grouped {
        Grouped(self.count)
    }
}

impl RejectionView {
    fn grouped(&self) -> Grouped {
        Grouped(self.count)
    }
}

impl StatusView {
    fn tally(&self) -> String {
        let conversations = counted(self.conversations, "conversation", "conversations");
        format!("{conversations} to read, {} kept", counted(self.records, "record", "records"))
    }
}

impl Rendered for StatusView {
    fn html(&self, host: &Host) -> Result<String, Error> {
        Ok(Page { frame: Frame::of_site(host).with_site_card(Some("/status")), view: self }.render()?)
    }

    fn markdown(&self) -> Result<String, Error> {
        let mut out = String::new();
        writeln!(out, "# Status\n\n{}\n", self.tally())?;
        for source in &self.sources {
            writeln!(out, "- {} of {}: {}", Escaped(&source.kind), Code(&source.server), Escaped(&source.lag))?;
        }
        for (heading, counts) in [("Kept, by collection", &self.collections), ("Accounts", &self.accounts)] {
            writeln!(out, "\n## {heading}\n")?;
            for CountView { name, count } in counts {
                writeln!(out, "- {}: {}", Escaped(name), Grouped(*count))?;
            }
        }
        writeln!(out, "\n## Refused\n")?;
        for refused in &self.rejections {
            write!(out, "- {}", Grouped(refused.count))?;
            if !refused.collection.is_empty() {
                write!(out, " of {}", Code(&refused.collection))?;
            }
            writeln!(out, ": {} ({})", Escaped(&refused.meaning), Code(&refused.reason))?;
        }
        Ok(out)
    }

    fn text(&self) -> Result<String, Error> {
        let mut out = String::new();
        writeln!(out, "Status\n\n{}", self.tally())?;
        for source in &self.sources {
            writeln!(out, "{} of {}: {}", one_line(&source.kind), one_line(&source.server), one_line(&source.lag))?;
        }
        for (heading, counts) in [("Kept, by collection", &self.collections), ("Accounts", &self.accounts)] {
            writeln!(out, "\n{heading}")?;
            for CountView { name, count } in counts {
                writeln!(out, "{:>12}  {}", Grouped(*count).to_string(), one_line(name))?;
            }
        }
        writeln!(out, "\nRefused")?;
        for refused in &self.rejections {
            let count = Grouped(refused.count).to_string();
            writeln!(out, "{count:>12}  {}  {}", one_line(&refused.collection), one_line(&refused.reason))?;
            writeln!(out, "              {}", one_line(&refused.meaning))?;
        }
        Ok(out)
    }
}
