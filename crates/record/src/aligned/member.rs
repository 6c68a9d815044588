//! `click.aligned.chat.member`: the people whose conversations a group vouches for.

use onrecord_lexicon::{Datetime, Did, Handle, Rkey};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::encode::record;
use crate::{EncodedRecord, Error};

/// Collection of the member records, which stand in the group's repository.
pub const MEMBER: &str = "click.aligned.chat.member";

/// A `click.aligned.chat.member` record, without its `$type`. Its key is the member's DID.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberRecord {
    /// The member.
    pub subject: Did,
    /// The member's handle when this was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<Handle>,
    /// Since when the person is a member.
    pub added_at: Datetime,
    /// Fields of the record we do not know, `$type` among them.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl MemberRecord {
    /// The record as it is to stand in the group's repository.
    ///
    /// # Errors
    /// The member's DID cannot be a record key: one with a `%` in it, which only local tests have.
    pub fn encode(&self) -> Result<EncodedRecord, Error> {
        record(None, 0, 0, MEMBER, Rkey::parse(self.subject.as_str())?, self)
    }
}
