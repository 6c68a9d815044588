//! The rules of the record that a verification holds records to, besides those of repositories.

macro_rules! rules {
    ($($rule:ident = $name:literal, $meaning:literal;)*) => {
        /// A rule of the record. Its name is stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Rule { $(#[doc = $meaning] $rule,)* }

        impl Rule {
            /// Every rule.
            pub const ALL: &[Self] = &[$(Self::$rule),*];

            /// The rule's name, e.g. `bar-width`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$rule => $name,)* }
            }

            /// What it means when the rule is broken, in a sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$rule => $meaning,)* }
            }
        }
    };
}

rules! {
    NotOnRecord = "not-on-record", "The repository holds no record there: it was deleted, or never written.";
    NotProven = "not-proven", "The server's answer does not prove that this is what the author signed.";
    MessageHidden = "message-hidden", "The signed tree holds a message that the server does not list or hand out: readers are not shown all of the conversation.";
    MessageUnsigned = "message-unsigned", "The server lists a message that is not in the signed tree: it is not the author's.";
    Lexicon = "lexicon", "The record is not what its lexicon says, so readers may show it wrongly or not at all.";
    SessionMissing = "session-missing", "Messages name a conversation that the repository does not hold.";
    MessageSession = "message-session", "The message names no conversation of its own repository, so it belongs to none.";
    MessageOrder = "message-order", "A message is filed before the time at which it says it happened, and a later message says it happened earlier: they were put into another order.";
    MessageTime = "message-time", "A message says it happened before the one that it follows. Reading order is that of the keys.";
    KeyFuture = "key-future", "The record's key is of a time that has not come yet.";
    WithheldNotBare = "withheld-not-bare", "The turn is said to be withheld, and its record holds more than its role and its time.";
    BarWidth = "bar-width", "What covers a passage is not three full blocks: its width tells how long the covered words are, or it was not written as a bar.";
    PinChanged = "pin-changed", "A record that the turn is about has been changed since: readers see another version than the author did.";
    PinDeleted = "pin-deleted", "A record that the turn is about is gone: readers cannot see what the author saw.";
    PinUnreachable = "pin-unreachable", "A record that the turn is about could not be looked up, so nothing is known of it.";
    PinUnchecked = "pin-unchecked", "Records that turns are about were not looked up.";
    Handle = "handle", "The handle that the account claims does not lead back to it.";
    SignatureUnchecked = "signature-unchecked", "No key was given, so nothing says whose repository this is.";
}
