//! Every rule, with how much it matters and what to do about what breaks it.

use serde::{Serialize, Serializer};

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The style guide would have it otherwise.
    Advice,
    /// It works, and somebody will regret it.
    Warning,
    /// It is not what the language allows.
    Error,
}

impl Level {
    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Advice => "advice",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

macro_rules! rules {
    ($($rule:ident $level:ident $name:literal $advice:literal)*) => {
        /// A rule that a lexicon document can break. Its name is stable.
        ///
        /// The first twenty have the names that the field's linter (`goat lex lint`) gives them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "what each asks for is its advice")]
        pub enum LintRule { $($rule,)* }

        impl LintRule {
            /// Every rule.
            pub const ALL: &[Self] = &[$(Self::$rule),*];

            /// The rule's name, e.g. `unlimited-string`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$rule => $name,)* }
            }

            /// How much it matters.
            #[must_use]
            pub const fn level(self) -> Level {
                match self { $(Self::$rule => Level::$level,)* }
            }

            /// What to do about what breaks it.
            #[must_use]
            pub const fn advice(self) -> &'static str {
                match self { $(Self::$rule => $advice,)* }
            }
        }
    };
}

rules! {
    InvalidNsid Error "invalid-nsid"
        "name the document as a domain of yours in reverse and a name after it, e.g. com.example.note"
    LexiconVersion Error "lexicon-version"
        "write \"lexicon\": 1"
    MissingPrimaryDescription Warning "missing-primary-description"
        "say in a sentence or two what this is for"
    LexiconSchema Error "lexicon-schema"
        "see https://atproto.com/specs/lexicon for what can stand here"
    DefNameSyntax Warning "def-name-syntax"
        "use letters and digits alone, a letter first, 255 at most"
    DefsMainDefinition Warning "defs-main-definition"
        "give the definition a name, or a document of its own"
    NonMainPrimary Error "non-main-primary"
        "give it a document of its own, as its `main`"
    EndpointOutputUndefined Warning "endpoint-output-undefined"
        "define an output, be it an object of application/json without properties"
    SubscriptionNoMessages Warning "subscription-no-messages"
        "name the messages in the union's `refs`"
    PermissionsetNoTitle Warning "permissionset-no-title"
        "add a title: people read it when they are asked to agree"
    PermissionsetNoPermissions Warning "permissionset-no-permissions"
        "list at least one permission"
    LargeString Warning "large-string"
        "put what may be so long into a blob"
    UnlimitedString Warning "unlimited-string"
        "set `maxLength`, or a `format`"
    KnownStringLocalRef Warning "known-string-local-ref"
        "write tokens in full, with their NSID: a value has no document that `#` could refer to"
    UnlimitedBytes Warning "unlimited-bytes"
        "set `maxLength`"
    LargeBytes Warning "large-bytes"
        "put what may be so large into a blob"
    FieldNameSyntax Warning "field-name-syntax"
        "use letters and digits alone, a letter first, 255 at most"
    NullableAndOptional Warning "nullable-and-optional"
        "make it required, or not nullable: readers have to tell null from nothing otherwise"
    UndescribedToken Warning "undescribed-token"
        "say what it stands for: a token has nothing else"
    UnspecifiedEncoding Error "unspecified-encoding"
        "write \"encoding\": \"application/json\", or the MIME type that it is"

    UnknownType Error "unknown-type"
        "use a type of the language; until it has this one, validators let anything through here, or refuse the document"
    UnknownFormat Error "unknown-format"
        "use a format of the language, or none; validators check nothing here, or refuse the document"
    UnknownKeyRule Error "unknown-key-rule"
        "write `tid`, `nsid`, `any`, or `literal:` and the key"
    UnknownAttribute Warning "unknown-attribute"
        "take it out, or write what is meant: validators pass it over"
    UnknownPermission Warning "unknown-permission"
        "take it out: servers pass over permissions that a set cannot grant"
    ConstAndDefault Error "const-and-default"
        "take one of them out"
    UnresolvedLocalRef Error "unresolved-local-ref"
        "define it in this document, or refer to it with its NSID"
    RefTarget Error "ref-target"
        "refer to an object, or to a type that values can be of"
    DuplicateKey Error "duplicate-key"
        "take one out: readers disagree on which of them counts"
    ValueNotAllowed Warning "value-not-allowed"
        "make the value and the limits agree"
    PermissionNamespace Warning "permission-namespace"
        "a set grants what is named under its own group; servers pass over the rest"
    PermissionWildcard Warning "permission-wildcard"
        "name the endpoints: `*` is not granted by a set"

    NameCase Advice "name-case"
        "write names in lowerCamelCase"
    ErrorNameCase Advice "error-name-case"
        "write names of errors in UpperCamelCase"
    KnownValueCase Advice "known-value-case"
        "write fixed values in kebab-case"
    EndpointName Advice "endpoint-name"
        "begin with what it does: get, list, search, query; create, update, delete, put, upsert; subscribe"
    RecordNamePlural Advice "record-name-plural"
        "name a record for one of its kind"
    ReservedName Advice "reserved-name"
        "take a name that is no word of programming languages"
    UndescribedField Advice "undescribed-field"
        "say of what it is: the name alone does not"
    MissingFormat Advice "missing-format"
        "set the `format` that the name promises"
    FormatAndLength Advice "format-and-length"
        "leave the limits out: the format has its own"
    GraphemesWithoutLength Advice "graphemes-without-length"
        "set `maxLength` too, at 10 to 20 bytes for each grapheme"
    LengthRatio Advice "length-ratio"
        "allow 10 to 20 bytes for each grapheme, so that every script has the same room"
    ClosedEnum Advice "closed-enum"
        "use `knownValues`: an `enum` can never be added to"
    ClosedUnion Advice "closed-union"
        "leave it open: a closed union can never be added to"
    HandleInRecord Advice "handle-in-record"
        "refer to accounts by DID: handles change hands"
    AccountParameter Advice "account-parameter"
        "use the format `at-identifier`, which takes handles and DIDs"
    DefaultTrue Advice "default-true"
        "turn the phrase around, so that leaving it out means false"
    CidLinkInRecord Advice "cid-link-in-record"
        "use a string of format `cid`"
    UnknownInRecord Advice "unknown-in-record"
        "use an open union: its `$type` says what it is"
    PlainItems Advice "plain-items"
        "make the elements objects, which can be added to"
    Pagination Advice "pagination"
        "take an optional `limit` (an integer) and `cursor` (a string), and answer with an optional `cursor`"
    SubscriptionCursor Advice "subscription-cursor"
        "make the `cursor` an optional integer"
}

impl Serialize for LintRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl std::fmt::Display for LintRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
