//! What is known of the person whose conversation it is.

use std::fmt;

use zeroize::Zeroizing;

/// One of the person's own secrets, known literally. Wiped when dropped; never printed.
pub struct OwnSecret {
    source: String,
    name: String,
    value: Zeroizing<String>,
}

impl OwnSecret {
    /// `source` is where it was found (a file, the environment), `name` what it is called there. Neither holds the value.
    #[must_use]
    pub fn new(source: impl Into<String>, name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { source: source.into(), name: name.into(), value: Zeroizing::new(value.into()) }
    }

    /// Where it was found.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What it is called there.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn value(&self) -> &str {
        &self.value
    }
}

impl fmt::Debug for OwnSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnSecret").field("source", &self.source).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Who the person is, as far as this machine knows: personal data that is found literally.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Person {
    /// The name they log in with.
    pub user_names: Vec<String>,
    /// Their name as their version control has it.
    pub full_names: Vec<String>,
    /// Their e-mail addresses.
    pub emails: Vec<String>,
    /// The machine's name.
    pub host_names: Vec<String>,
    /// Their home folder, as an absolute path.
    pub homes: Vec<String>,
}
