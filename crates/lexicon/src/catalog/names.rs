//! Finds a property by its name without comparing it with more than one.

/// The most multipliers tried when looking for one without collisions.
const TRIES: u32 = 4096;

/// A fixed list of names, each found in constant time.
#[derive(Debug)]
pub(crate) struct Names {
    names: Box<[Box<str>]>,
    lookup: Lookup,
}

#[derive(Debug)]
enum Lookup {
    /// A perfect hash: no two names share a slot. 0 is an empty slot, else the name's index and one.
    Hashed { slots: Box<[u16]>, multiplier: u32, shift: u32 },
    /// Where there is none, or there are too many names: indices in the order of the names.
    Sorted(Box<[usize]>),
}

/// Length and three bytes of a name: enough to tell the properties of nearly every schema apart.
#[inline]
pub(crate) fn fingerprint(name: &str) -> u32 {
    let bytes = name.as_bytes();
    let at = |i: usize| u32::from(bytes.get(i).copied().unwrap_or_default());
    let len = bytes.len();
    #[expect(clippy::cast_possible_truncation, reason = "a hash keeps what it has room for")]
    let low = len as u32;
    at(0) | at(len.wrapping_sub(1)) << 8 | at(len / 2) << 16 | low << 24
}

/// `a == b`, without a call for names of the usual lengths.
#[inline]
fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    a.len() == b.len()
        && match a.len() {
            // Two overlapping halves cover all of it.
            8..=16 => a.first_chunk::<8>() == b.first_chunk() && a.last_chunk::<8>() == b.last_chunk(),
            4..8 => a.first_chunk::<4>() == b.first_chunk() && a.last_chunk::<4>() == b.last_chunk(),
            _ => a == b,
        }
}

impl Names {
    /// Of two equal names the first is found.
    pub(crate) fn new(names: impl IntoIterator<Item = Box<str>>) -> Self {
        let names: Box<[Box<str>]> = names.into_iter().collect();
        let lookup = hash(&names).unwrap_or_else(|| {
            let mut order: Vec<(usize, &Box<str>)> = names.iter().enumerate().collect();
            order.sort_by(|(i, a), (j, b)| a.cmp(b).then(i.cmp(j)));
            order.dedup_by(|(_, b), (_, a)| a == b);
            Lookup::Sorted(order.into_iter().map(|(i, _)| i).collect())
        });
        Self { names, lookup }
    }

    pub(crate) fn name(&self, index: usize) -> &str {
        self.names.get(index).map(AsRef::as_ref).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        match &self.lookup {
            Lookup::Hashed { slots, multiplier, shift } => {
                let slot = fingerprint(name).wrapping_mul(*multiplier) >> shift;
                let index = usize::from(*slots.get(slot as usize)?).checked_sub(1)?;
                is_same(self.name(index), name).then_some(index)
            }
            Lookup::Sorted(order) => {
                let place = order.binary_search_by(|&i| self.name(i).cmp(name)).ok()?;
                order.get(place).copied()
            }
        }
    }
}

fn hash(names: &[Box<str>]) -> Option<Lookup> {
    // Twice as many slots as names: a multiplier is found in a few dozen tries up to some twenty names; four
    // times as many for more.
    let size = (names.len() * if names.len() > 12 { 4 } else { 2 }).next_power_of_two().max(4);
    let shift = u32::BITS - size.trailing_zeros();
    if names.len() >= 256 {
        return None;
    }
    let mut slots = vec![0_u16; size];
    let mut multiplier = 0x9e37_79b1_u32;
    'tries: for _ in 0..TRIES {
        slots.fill(0);
        multiplier = multiplier.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f) | 1;
        for (number, name) in (1_u16..).zip(names) {
            let slot = slots.get_mut((fingerprint(name).wrapping_mul(multiplier) >> shift) as usize)?;
            if *slot != 0 {
                continue 'tries;
            }
            *slot = number;
        }
        return Some(Lookup::Hashed { slots: slots.into(), multiplier, shift });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(list: &[&str]) -> Names {
        Names::new(list.iter().map(|&s| s.into()))
    }

    #[test]
    fn no_names_find_nothing() {
        assert_eq!(names(&[]).find(""), None);
        assert_eq!(names(&[]).find("a"), None);
    }

    #[test]
    fn names_with_the_same_fingerprint_are_told_apart_by_sorting() {
        let twins = names(&["abxcd", "aaxbd", "abxdd"]);
        assert!(matches!(twins.lookup, Lookup::Sorted(_)));
        assert_eq!(twins.find("aaxbd"), Some(1));
        assert_eq!(twins.find("abxdd"), Some(2));
        assert_eq!(twins.find("acxbd"), None);
    }

    #[test]
    fn property_names_of_a_usual_schema_are_hashed() {
        let usual = names(&["session", "role", "withheld", "text", "model", "steps", "refs", "mentions", "createdAt"]);
        assert!(matches!(usual.lookup, Lookup::Hashed { .. }));
    }

    proptest! {
        #[test]
        fn names_are_the_same_where_their_bytes_are(a in "[ab]{0,20}", at in any::<prop::sample::Index>()) {
            prop_assert!(is_same(&a, &a.clone()));
            let mut b = a.clone().into_bytes();
            if !b.is_empty() {
                b[at.index(a.len())] = b'c';
                prop_assert!(!is_same(&a, std::str::from_utf8(&b).unwrap()));
                prop_assert!(!is_same(&a, a.get(1..).unwrap()));
            }
        }

        #[test]
        fn finds_what_a_linear_search_finds(list in prop::collection::vec("[a-c]{0,4}", 0..40), wanted in "[a-c]{0,4}") {
            let found = Names::new(list.iter().map(|s| s.as_str().into()));
            for name in list.iter().chain([&wanted]) {
                prop_assert_eq!(found.find(name), list.iter().position(|s| s == name));
            }
        }
    }
}
