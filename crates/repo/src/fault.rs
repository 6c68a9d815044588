//! What can be wrong with a repository: stable names, and for each what it means.

/// The most faults that are kept; the others are counted.
const MAX_FAULTS: usize = 100;

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The rule that is broken.
    pub rule: Rule,
    /// Where: a record's path, a CID, or an offset in the file.
    pub at: String,
    /// What was found, in a sentence without its full stop.
    pub message: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} ({})", self.at, self.message, self.rule)
    }
}

/// The first hundred faults, and how many there were.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    listed: Vec<Fault>,
    count: u64,
}

impl Faults {
    pub(crate) fn add(&mut self, rule: Rule, at: impl std::fmt::Display, message: impl Into<String>) {
        self.count += 1;
        if self.listed.len() < MAX_FAULTS {
            self.listed.push(Fault { rule, at: at.to_string(), message: message.into() });
        }
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.count += other.count;
        let room = MAX_FAULTS.saturating_sub(self.listed.len());
        other.listed.truncate(room);
        self.listed.append(&mut other.listed);
    }

    /// Those that are kept.
    #[must_use]
    pub fn listed(&self) -> &[Fault] {
        &self.listed
    }

    /// How many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether there were none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

macro_rules! rules {
    ($($rule:ident = $name:literal, $meaning:literal;)*) => {
        /// A rule of repositories. Its name is stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule { $(#[doc = $meaning] $rule,)* }

        impl Rule {
            /// Every rule.
            pub const ALL: &[Self] = &[$(Self::$rule),*];

            /// The rule's name, e.g. `block-hash`.
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
    CarHeader = "car-header", "This is not a CAR file of version 1, so nothing in it can be checked.";
    CarTruncated = "car-truncated", "The file breaks off: it was not copied whole, and what came after is missing.";
    CarSection = "car-section", "The file is damaged: from here on, its blocks cannot be told apart.";
    BlockCid = "block-cid", "A block has a name of a kind that repositories do not use, so it can belong to none.";
    BlockHash = "block-hash", "The bytes are not those that the block's name (CID) stands for: they were changed.";
    BlockDuplicate = "block-duplicate", "The same block stands in the file twice. Harmless, but no careful writer does it.";
    BlockUnreachable = "block-unreachable", "The signed tree does not lead to this block: it is not part of the repository.";
    Root = "root", "The file does not begin with one commit, so it does not say which state of the repository it is.";
    CommitForm = "commit-form", "The commit cannot be understood, so nothing is signed.";
    CommitDid = "commit-did", "The commit is of another account's repository.";
    SignatureForm = "signature-form", "What stands in the place of the signature is not one.";
    SignatureHighS = "signature-high-s", "The signature is in a form that the protocol forbids: anyone can make it from the proper one.";
    Signature = "signature", "The account's key did not sign this: someone else made it, or it was changed afterwards.";
    NodeMissing = "node-missing", "A part of the tree is missing, and all records below it with it.";
    NodeForm = "node-form", "A part of the tree cannot be understood.";
    NodeEmpty = "node-empty", "A part of the tree holds nothing. The same records then have two trees, and a tree proves nothing.";
    NodeTwice = "node-twice", "The same part of the tree is named in two places.";
    NodePrefix = "node-prefix", "A key is not shortened the way the protocol says, so the same records have two trees.";
    TreeRoot = "tree-root", "The tree's root holds no key. The same records then have two trees.";
    TreeLayer = "tree-layer", "A key stands in a layer of the tree where its hash does not put it: who looks for it would not find it.";
    KeyOrder = "key-order", "The keys are out of order: records stand where who looks for them would not find them.";
    KeyDuplicate = "key-duplicate", "One key stands for two records.";
    KeyForm = "key-form", "A record's path is not a collection and a record key.";
    RecordMissing = "record-missing", "The tree names this record, and the file does not hold it.";
    RecordForm = "record-form", "The record's bytes are not in the one encoding that the protocol allows.";
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
