//! The one shape every identifier type has: text behind a `parse` that checks it.

/// Makes a newtype over checked text. `$check` is `fn(&str) -> Result<(), &'static str>`, the error
/// being the rule that is broken.
macro_rules! identifier {
    ($(#[$meta:meta])* $name:ident, $what:literal, $check:path) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name(Box<str>);

        impl $name {
            /// Checks `s` against the specification.
            ///
            /// # Errors
            /// [`SyntaxError`](crate::syntax::SyntaxError), naming the rule `s` breaks.
            pub fn parse(s: &str) -> Result<Self, crate::syntax::SyntaxError> {
                match $check(s) {
                    Ok(()) => Ok(Self(s.into())),
                    Err(why) => Err(crate::syntax::SyntaxError { what: $what, why }),
                }
            }

            /// The identifier as text, exactly as it was given.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::syntax::SyntaxError;

            fn from_str(s: &str) -> Result<Self, Self::Err> {
                Self::parse(s)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct Text;

                impl serde::de::Visitor<'_> for Text {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("a ", $what))
                    }

                    fn visit_str<E: serde::de::Error>(self, s: &str) -> Result<$name, E> {
                        $name::parse(s).map_err(E::custom)
                    }
                }

                d.deserialize_str(Text)
            }
        }
    };
}
