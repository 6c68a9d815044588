//! A soak test's parts: authors who do what comes to their mind, hosts that are killed while they follow, and what the
//! repositories say at the end.

pub mod authors;
pub mod hosts;
pub mod model;

use std::time::{SystemTime, UNIX_EPOCH};

/// Numbers that look random and follow from a seed (splitmix64).
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of 0 to n - 1.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    /// Others, that follow from this and a number.
    pub fn fork(&self, n: u64) -> Self {
        let mut own = Self(self.0 ^ n.wrapping_mul(0xd6e8_feb8_6659_fd93));
        own.next();
        own
    }
}

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub accounts: usize,
    pub kills: usize,
    pub seed: u64,
}

impl Size {
    /// Small enough for every day, or what `SOAK=ACCOUNTSxKILLS` and `SOAK_SEED` say; said, so that it can be done again.
    #[expect(clippy::disallowed_methods, reason = "a test is told by its environment how long it may take")]
    pub fn asked() -> Self {
        let (accounts, kills) = match std::env::var("SOAK") {
            Ok(size) => {
                let (accounts, kills) = size.split_once('x').expect("SOAK=200x50");
                (accounts.parse().unwrap(), kills.parse().unwrap())
            }
            Err(_) => (12, 6),
        };
        let seed = match std::env::var("SOAK_SEED") {
            Ok(seed) => seed.parse().unwrap(),
            Err(_) => u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos()),
        };
        eprintln!("SOAK={accounts}x{kills} SOAK_SEED={seed}");
        Self { accounts, kills, seed }
    }

    /// Whether `host` takes part.
    #[expect(clippy::disallowed_methods, reason = "a test is told by its environment how long it may take")]
    pub fn is_asked(self, host: &str) -> bool {
        std::env::var("SOAK_ONLY").map_or(true, |only| only.split(',').any(|name| name == host))
    }
}
