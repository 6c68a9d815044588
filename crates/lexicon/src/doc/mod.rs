//! A lexicon as a page to read: Markdown, HTML and JSON from one view.
//!
//! The documents are of strangers. Their texts are escaped in every form, and can neither become markup nor links.

mod html;
mod markdown;
mod table;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::Value;

use crate::{
    Catalog, Json,
    error::{Error, Problem},
    schema::{Audience, DefKind, Lexicon, full_name},
    similar::Match,
};

pub use table::{Limit, RefView, Row, Table};

/// What the caller knows of a lexicon that its document does not say.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// Who published it.
    pub publisher: Option<Publisher>,
    /// Whether it is the definition that counts, if somebody looked.
    pub standing: Option<Standing>,
    /// When it was taken into the index, as it is to be shown.
    pub indexed: Option<String>,
    /// Where more is to be read.
    pub links: Vec<Link>,
    /// The address of the pages of other lexicons, to which their NSID is appended, e.g. `/lexicon/`. Without one,
    /// references to them are no links.
    pub lexicons_at: Option<String>,
    /// Records of the network, to be shown before those that are made from the schema.
    pub examples: Vec<Example>,
    /// What describes something close to this.
    pub similar: Vec<Match>,
}

/// Who published a lexicon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Publisher {
    /// As people know them: a handle.
    pub name: String,
    /// Their DID.
    pub did: String,
    /// Their page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub href: Option<String>,
}

/// Whether a document is the definition that counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", rename_all = "lowercase")]
pub enum Standing {
    /// DNS, repository and name agree.
    Authoritative,
    /// They do not.
    Other {
        /// Why, as a sentence without its full stop.
        why: String,
    },
}

/// A link to elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    /// What it says.
    pub text: String,
    /// Where it leads. Of the caller, and trusted, except that only `http`, `https` and paths become links.
    pub href: String,
}

/// A value that the schema describes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Example {
    /// Where it is from; `None` if it was made from the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// What it is of, as a full name.
    pub of: String,
    /// It.
    pub value: Value,
}

/// A lexicon as it is shown.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocView {
    /// Its name, the title of the page.
    pub nsid: String,
    /// The domain that decides about it.
    pub authority: String,
    /// What `main` is, e.g. `record`; `definitions` if there is none.
    pub kind: String,
    /// What the keys of its records look like, as the document writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_key: Option<String>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// As [`About`] has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<Publisher>,
    /// As [`About`] has it.
    #[serde(flatten)]
    pub standing: Option<Standing>,
    /// As [`About`] has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed: Option<String>,
    /// As [`About`] has it.
    pub links: Vec<Link>,
    /// In what the document is no valid lexicon. What is let through is shown all the same.
    pub problems: Vec<Problem>,
    /// The definitions in the document's order, `main` first.
    pub definitions: Vec<DefView>,
    /// Values that it describes.
    pub examples: Vec<Example>,
    /// As [`About`] has it.
    pub similar: Vec<Match>,
    /// The document.
    pub schema: Value,
    /// The document in its own order, over several lines.
    #[serde(skip)]
    source: String,
    /// As [`About`] has it.
    #[serde(skip)]
    lexicons_at: Option<String>,
}

/// A definition as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DefView {
    /// Its name in the document, e.g. `main`.
    pub name: String,
    /// Its full name, e.g. `com.example.note#part`.
    pub full: String,
    /// What it is, as the document writes it.
    #[serde(rename = "type")]
    pub ty: String,
    /// What the keys of records look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What it is about; of a record, also what is said of its object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub descriptions: Vec<String>,
    /// What it is made of.
    pub tables: Vec<Table>,
    /// The errors that it answers, and what they mean.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorView>,
    /// What a set permits, a line for each permission.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<String>,
}

/// An error of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorView {
    /// Its name.
    pub name: String,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl DocView {
    /// The view of `document`, which is JSON. `catalog` is what examples are made with: where the lexicon or one it refers to is not in
    /// there, there are none.
    ///
    /// A document that is no valid lexicon is shown as far as it can be read.
    ///
    /// # Errors
    /// [`Error::Json`], and [`Error::InvalidLexicon`] if nothing can be shown: it has no name, or no definition that could be read.
    pub fn new(document: &[u8], catalog: &Catalog, about: About) -> Result<Self, Error> {
        let json = Json::parse(document)?;
        let (lexicon, problems) = Lexicon::inspect(json.root());
        let Some(lexicon) = lexicon else {
            return Err(Error::InvalidLexicon { name: "the document".to_owned(), problems });
        };
        let main = lexicon.def("main");
        let mut definitions: Vec<DefView> =
            lexicon.defs.iter().map(|(name, def)| def_view(&lexicon, name, def)).collect();
        definitions.sort_by_key(|def| def.name != "main");
        let nsid = lexicon.id.as_str();
        let mut examples = about.examples;
        // Of a document that is not the one in the catalog, an example could be of another version.
        if catalog.lexicon(nsid).is_some_and(|known| known.defs == lexicon.defs) {
            examples.extend(definitions.iter().filter_map(|def| {
                let value = catalog.example(nsid, &def.name)?;
                Some(Example { uri: None, of: def.full.clone(), value })
            }));
        }
        Ok(Self {
            nsid: nsid.to_owned(),
            authority: lexicon.id.domain(),
            kind: main.map_or("definitions", |def| def.kind.name()).to_owned(),
            record_key: main.and_then(|def| match &def.kind {
                DefKind::Record(record) => Some(record.key.as_written()),
                _ => None,
            }),
            description: main.and_then(|def| def.description.clone()).or_else(|| lexicon.description.clone()),
            publisher: about.publisher,
            standing: about.standing,
            indexed: about.indexed,
            links: about.links,
            problems,
            definitions,
            examples,
            similar: about.similar,
            schema: json.root().into(),
            source: json.root().to_pretty(),
            lexicons_at: about.lexicons_at,
        })
    }

    /// The page as Markdown (with GitHub's tables).
    #[must_use]
    pub fn to_markdown(&self) -> String {
        markdown::write(self)
    }

    /// The page as HTML: an `article`, to be put into a page. Members of objects are in alphabetical order.
    #[must_use]
    pub fn to_html(&self) -> String {
        html::write(self)
    }

    /// What is said of `def` and does not stand at the head of the page.
    fn descriptions_of<'d>(&'d self, def: &'d DefView) -> impl Iterator<Item = &'d String> {
        let is_main = def.name == "main";
        def.descriptions.iter().filter(move |description| !is_main || self.description.as_ref() != Some(*description))
    }

    /// Where the definition of the full name `full` is to be read, if that is known.
    fn href(&self, full: &str) -> Option<String> {
        let (nsid, name) = crate::schema::split_ref(full);
        if nsid == self.nsid {
            return self.definitions.iter().any(|def| def.name == name).then(|| format!("#{}", anchor(name)));
        }
        let at = self.lexicons_at.as_deref()?;
        crate::syntax::is_valid_nsid(nsid).then(|| match name {
            "main" => format!("{at}{nsid}"),
            name => format!("{at}{nsid}#{}", anchor(name)),
        })
    }
}

/// What a definition is called in addresses: nothing in it has to be escaped.
fn anchor(name: &str) -> String {
    let mut anchor = String::from("def-");
    for b in name.bytes() {
        if b.is_ascii_alphanumeric() { anchor.push(char::from(b)) } else { anchor.push_str(&format!("_{b:02x}")) }
    }
    anchor
}

/// Whether `href` leads to a page, and does nothing else.
fn is_link(href: &str) -> bool {
    let is_plain = !href.contains(|c: char| c.is_control() || c.is_whitespace() || matches!(c, '"' | '<' | '>' | '\\'));
    is_plain
        && (href.starts_with("https://")
            || href.starts_with("http://")
            || href.starts_with('#')
            || (href.starts_with('/') && !href.starts_with("//")))
}

fn def_view(lexicon: &Lexicon, name: &str, def: &crate::schema::Def) -> DefView {
    let nsid = lexicon.id.as_str();
    let mut view = DefView {
        name: name.to_owned(),
        full: full_name(nsid, name),
        ty: def.kind.name().to_owned(),
        key: None,
        descriptions: def.description.iter().cloned().collect(),
        tables: Vec::new(),
        errors: Vec::new(),
        permissions: Vec::new(),
    };
    match &def.kind {
        DefKind::Record(record) => {
            view.key = Some(record.key.as_written());
            view.descriptions.extend(record.description.clone());
            view.tables.push(Table::of_object(nsid, "Properties", &record.object));
        }
        DefKind::Endpoint(endpoint) => {
            if let Some(params) = &endpoint.parameters {
                let table = Table::of_object(nsid, "Parameters", params);
                view.tables.push(Table { description: endpoint.parameters_description.clone(), ..table });
            }
            for (title, body) in [("Input", &endpoint.input), ("Output", &endpoint.output)] {
                if let Some(body) = body {
                    view.tables.push(Table::of_body(nsid, title, body));
                }
            }
            if let Some(message) = &endpoint.message {
                view.tables.push(Table::of_type(nsid, "Messages", &message.ty, message.description.clone()));
            }
            let error = |(name, description): &(String, Option<String>)| ErrorView {
                name: name.clone(),
                description: description.clone(),
            };
            view.errors = endpoint.errors.iter().map(error).collect();
        }
        DefKind::PermissionSet(set) => {
            view.descriptions.splice(0..0, set.title.iter().chain(&set.detail).cloned());
            view.permissions = set.permissions.iter().map(permission).collect();
        }
        DefKind::Type(ty) => view.tables.extend(Table::of_def(nsid, ty)),
        DefKind::Foreign(_) => {}
    }
    view
}

/// A permission in a line.
fn permission(permission: &crate::schema::Permission) -> String {
    let mut line = format!("{}: {}", permission.resource, permission.subjects.join(", "));
    if !permission.actions.is_empty() {
        line.push_str(&format!(" ({})", permission.actions.join(", ")));
    }
    match &permission.audience {
        Some(Audience::Inherited) => line.push_str(", of the service that is named with the set"),
        Some(Audience::Named(name)) if name == "*" => line.push_str(", of any service"),
        Some(Audience::Named(name)) => line.push_str(&format!(", of {name}")),
        None => {}
    }
    line
}

/// The characters of `s` that are seen: without those that change how the text around them is, and with a mark for
/// other controls. Line ends and tabs stay.
fn visible(s: &str) -> impl Iterator<Item = char> {
    s.chars()
        .filter(|c| !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .map(|c| if c.is_control() && !matches!(c, '\n' | '\r' | '\t') { '\u{fffd}' } else { c })
}
