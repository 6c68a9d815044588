//! What is known of an account.

use onrecord_lexicon::{Did, Handle};
use serde::{Deserialize, Serialize};

use crate::change::AccountStatus;

/// Who speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Author {
    /// The account.
    pub did: Did,
    /// Its handle, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<Handle>,
    /// What it says of itself.
    #[serde(flatten)]
    pub profile: Profile,
}

/// An account as the index knows it, shown or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// Who it is.
    #[serde(flatten)]
    pub author: Author,
    /// Whether its records may be shown.
    pub status: AccountStatus,
}

/// What an account says of itself: all of it its own word.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// Its name for people, from `app.bsky.actor.profile`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Labels it put on itself, such as `bot`, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub self_labels: Vec<String>,
    /// How much of it is automated, from `studio.voyager.account.autonomy`: `human`, `assisted`, `collaborative`,
    /// `automated`, or a word this version does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autonomy: Option<String>,
}
