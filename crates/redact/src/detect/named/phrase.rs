//! The words a wallet is restored from, where nothing says that they are: twelve and more of one list in a row.

use crate::text::{is_word, part};

/// A phrase has as many words at least; at most twice as many, and a few of the sentence around it.
const FEWEST: usize = 12;
const MOST: usize = 27;
/// Twelve words of three letters, and what stands between them.
const SHORTEST: usize = FEWEST * 4 - 1;

/// Calls `each` with the bounds of every phrase in `text`.
///
/// A sentence of twelve words has an article or a preposition, which the list has not. Words in the order of the alphabet
/// are a list of words, and those that repeat are an example.
pub(super) fn each(text: &[u8], mut each: impl FnMut(usize, usize)) {
    let mut start = 0;
    // A byte that no phrase has rules out every phrase across it: most text is passed in great steps.
    while let Some(window) = text.get(start..start + SHORTEST) {
        if let Some(other) = window.iter().rposition(|b| !stands_in_phrase(*b)) {
            start += other + 1;
            continue;
        }
        let rest = text.get(start + SHORTEST..).unwrap_or_default();
        let end = start + SHORTEST + rest.iter().take_while(|b| stands_in_phrase(**b)).count();
        in_run(text, start, end, &mut each);
        start = end + 1;
    }
}

fn stands_in_phrase(byte: u8) -> bool {
    byte.is_ascii_lowercase() || matches!(byte, b' ' | b'\n')
}

/// The phrases in a run of small letters, spaces and line ends.
fn in_run(text: &[u8], start: usize, end: usize, each: &mut impl FnMut(usize, usize)) {
    let joins = |at: Option<usize>| at.and_then(|i| text.get(i)).is_some_and(|b| is_word(*b));
    let (cut_before, cut_after) = (joins(start.checked_sub(1)), joins(Some(end)));
    let mut words: Vec<&[u8]> = Vec::new();
    let mut from = start;
    let mut at = start;
    for word in part(text, start, end).split(|b| !b.is_ascii_lowercase()) {
        let last = at + word.len();
        let whole = !(cut_before && at == start || cut_after && last == end);
        if whole && is_listed(word) {
            if words.is_empty() {
                from = at;
            }
            words.push(word);
        } else {
            if is_phrase(&words) {
                each(from, at - 1);
            }
            words.clear();
        }
        at = last + 1;
    }
    if is_phrase(&words) {
        each(from, end);
    }
}

fn is_phrase(words: &[&[u8]]) -> bool {
    if !(FEWEST..=MOST).contains(&words.len()) || words.is_sorted() {
        return false;
    }
    let mut distinct = words.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct.len() * 3 >= words.len() * 2
}

/// Whether the list may have `word`: one of eight others has the same hash as one that it has.
fn is_listed(word: &[u8]) -> bool {
    let hash = hash(word);
    (3..=8).contains(&word.len()) && LISTED.get(hash / 64).is_some_and(|bits| bits >> (hash % 64) & 1 == 1)
}

/// Of the first four letters, by which the list is made to be told apart.
fn hash(word: &[u8]) -> usize {
    let letter = |at| word.get(at).map_or(0, |b| u32::from(b & 0x1f));
    let letters = (0..4).fold(0_u32, |n, at| n << 5 | letter(at));
    usize::try_from(letters.wrapping_mul(0x9e37_79b1) >> 18).unwrap_or_default()
}

/// A bit for each hash that a word of the English list of BIP 39 has (2,048 words, licence MIT): the words cannot be read out
/// of it.
const LISTED: [u64; 256] = [
    0x0008_0000_a0c0_0148,
    0x4001_0400_0091_0900,
    0x0022_0004_8000_0000,
    0x0200_0a00_8000_1000,
    0x8104_08a0_8020_00a1,
    0x010b_1004_0500_0004,
    0x4000_2201_0800_3a00,
    0x0010_0010_2180_1002,
    0x0026_018c_4104_2401,
    0x08a0_8024_00a0_40c0,
    0x0800_2036_8018_0004,
    0x0004_8042_0000_0820,
    0x0402_2022_0000_8000,
    0x0000_0800_2000_1408,
    0x0000_0800_8000_a008,
    0x024a_0000_0442_0002,
    0x0102_0010_0020_0000,
    0x4000_0080_2109_8001,
    0x0006_0400_2400_0008,
    0x1040_0000_0020_1201,
    0x0414_1000_0000_0842,
    0x4065_0200_0400_0000,
    0x0800_0d00_c000_1300,
    0x0000_0000_0180_0020,
    0x0144_8822_0007_1000,
    0x0800_0208_0800_0828,
    0x0180_0020_f020_8081,
    0x0000_0000_0100_2002,
    0x0104_0008_2000_0008,
    0x4000_0000_00c0_0000,
    0x0900_0181_020c_a0a0,
    0xa000_0181_d200_0001,
    0x4020_0901_4008_8002,
    0x4405_00c0_0088_0004,
    0x0021_8038_2002_0001,
    0x0840_4404_0008_0040,
    0x0074_0020_0004_0806,
    0x0012_0000_0420_0224,
    0x0100_0a00_8400_8001,
    0x0440_0000_4000_6000,
    0x0000_0804_1010_3005,
    0x0460_0000_0400_00c0,
    0x0004_0024_1000_0080,
    0x0000_0101_0402_9010,
    0x5000_0400_010a_0008,
    0x0210_0201_0008_0401,
    0x2004_0000_0240_1200,
    0x0009_6080_0001_1000,
    0x0000_0080_0100_0040,
    0x4900_0004_2001_0409,
    0x2000_0008_2841_00b8,
    0x0064_0020_2200_046c,
    0x0000_0802_0000_1014,
    0x0010_0040_0000_4000,
    0x220c_2001_2000_0008,
    0x0000_0018_0400_0002,
    0x1028_0040_0040_0210,
    0x0020_0800_4020_120a,
    0x0802_0104_0950_0000,
    0x0402_0000_4888_8900,
    0x0228_0100_8000_0020,
    0x9000_0010_0062_0402,
    0x1800_4290_0c00_00c0,
    0x0610_8000_0000_0200,
    0x0910_0048_0620_0016,
    0x0040_0800_0011_0010,
    0x0008_2000_0000_4000,
    0x5000_0000_0009_2430,
    0x4040_0800_0080_0030,
    0x0400_0420_2004_8114,
    0x2019_2200_c008_0000,
    0x2001_0000_0390_2c01,
    0x0800_0180_c000_0480,
    0x0180_0800_0000_300a,
    0x6000_0080_0000_0000,
    0x0204_0000_2818_0808,
    0x8030_0a00_0182_2000,
    0x8000_3080_0080_8000,
    0x8010_0004_7000_2120,
    0x0841_0020_0064_0000,
    0x0800_8082_0000_3400,
    0x0420_0220_2861_0110,
    0x0000_1000_0040_0006,
    0x0162_0108_8010_1000,
    0x0201_6010_0c00_0068,
    0x4050_1410_0000_0042,
    0x0000_0048_0440_002e,
    0x208a_0084_040c_0200,
    0x1108_0600_2000_00a0,
    0x8052_4000_0400_0800,
    0x2080_0000_4009_0022,
    0x0480_0000_0c00_002c,
    0x4000_0418_0208_8000,
    0x0000_a200_2080_1001,
    0x0200_0000_1000_0008,
    0x0005_0084_0204_0040,
    0x0080_0180_0004_0000,
    0x0000_0000_0204_800a,
    0x6000_0084_0080_0000,
    0x0000_0000_01a4_0000,
    0x300a_0600_1001_0000,
    0x0440_5088_0004_0001,
    0x0081_3000_0401_0200,
    0x1090_2408_3000_0420,
    0xd800_0008_0004_0201,
    0x0100_1000_0023_0001,
    0x4308_0000_0010_8000,
    0x0400_8600_8862_0002,
    0x0000_0200_0004_1240,
    0x8008_0420_1810_1814,
    0xc014_9008_0181_0000,
    0x0420_8001_a001_8000,
    0x0004_0204_20c0_c020,
    0x1404_3008_0102_5000,
    0x1080_2000_0140_0082,
    0x0142_0080_8020_1000,
    0xc010_5388_4810_0200,
    0x5000_0020_2500_8840,
    0x2102_0090_0c02_0091,
    0x0808_0070_0000_0890,
    0x0010_0002_0000_0000,
    0x000e_0000_0002_0400,
    0x1090_0100_4830_0028,
    0x0000_0000_0102_0000,
    0x2041_0110_0040_2030,
    0x0204_0203_1082_0000,
    0x0001_8044_8030_0001,
    0x0200_0044_8001_4010,
    0x0010_0000_0c00_4008,
    0x2108_0200_c008_8000,
    0x0000_0010_1100_2060,
    0x0000_2060_0030_4018,
    0x2010_0040_a044_9011,
    0x1020_0101_2001_0000,
    0x8002_0000_0008_0100,
    0x0800_0004_6400_0800,
    0x0200_0900_0338_0000,
    0x0000_2244_4000_2008,
    0x0820_0008_3410_0080,
    0x0002_0022_0204_1702,
    0x0520_0202_4080_0a00,
    0x2040_0900_0504_0012,
    0x8001_0001_4004_5540,
    0x0100_8000_0040_8008,
    0x0080_0b10_0100_8800,
    0x0000_0082_0000_0201,
    0x0000_8000_a000_0011,
    0x0000_a000_0400_a400,
    0x4208_0208_1000_0100,
    0x6040_4000_8100_0200,
    0x9a00_00a0_4000_2410,
    0x2080_0004_0086_0800,
    0x4300_d080_0008_1000,
    0x0204_0010_0000_8200,
    0x1100_0000_0020_0000,
    0x4800_0080_0022_0000,
    0x0880_004a_2000_0458,
    0x0000_0040_4100_4000,
    0x0000_0404_0008_1100,
    0x3810_0081_0200_1100,
    0x0001_0001_0000_1010,
    0xac00_2004_4280_0010,
    0x0040_2400_0030_6010,
    0x0000_8240_0008_1200,
    0x0900_8020_4000_0140,
    0x0201_4200_0003_064c,
    0xc001_1100_2000_0000,
    0x0800_0001_0031_0000,
    0x0c04_0034_0000_0028,
    0x0210_0020_9020_0200,
    0x0008_0000_0480_0000,
    0x0100_0002_240e_4000,
    0x2000_8004_0012_4460,
    0x4100_4001_8005_3850,
    0x8000_0002_0000_2a00,
    0x0001_0200_2000_200c,
    0x6c10_2020_0021_4280,
    0x0408_2c22_0200_2000,
    0x0242_1004_03a0_0202,
    0x0000_0000_0082_0002,
    0x1002_0204_4000_0020,
    0x0002_0421_a022_80b0,
    0x5080_0000_4000_6001,
    0x0008_0000_0082_2000,
    0x0040_0020_0010_0041,
    0x0800_0464_8a80_0000,
    0x0020_4040_0000_0001,
    0x0010_2008_0800_1963,
    0x1028_4000_8200_0380,
    0x0a00_6040_2002_1c00,
    0x1200_0204_0620_000c,
    0x0000_0000_4023_0804,
    0x9050_2000_0222_4081,
    0x0000_3000_0001_0c24,
    0x0000_0420_0a00_2400,
    0x40c0_2088_0004_0040,
    0x0100_4180_0200_4002,
    0x0004_0314_0808_4010,
    0x02c0_8404_0000_0012,
    0x0004_0001_02c0_0400,
    0x8400_c005_0002_0310,
    0x1808_8201_2c90_0040,
    0x0000_0056_1020_0000,
    0x8000_0010_0000_0080,
    0x0004_2040_0080_0000,
    0x2112_1a22_1000_2c00,
    0x0a44_8800_8063_0000,
    0x0001_1043_0008_0000,
    0x000c_0404_1000_0602,
    0x0000_0402_1000_80a0,
    0x0820_9001_8001_0141,
    0x2000_1000_0230_1008,
    0x0800_4800_0280_8008,
    0x0800_0400_0400_1500,
    0x0200_0042_0071_2000,
    0xa000_3200_0080_1008,
    0x8c00_0268_2000_0218,
    0x0000_0100_8420_0002,
    0x9410_0100_1200_6384,
    0x0004_0000_1001_0490,
    0x2201_0003_0008_8002,
    0x4200_4000_1000_0800,
    0x0052_8108_0040_0100,
    0x0000_60a0_1000_41a4,
    0x0046_44b5_0440_1500,
    0x0021_8651_0000_8400,
    0x5000_0402_8000_2408,
    0x0030_0100_0000_5010,
    0x0044_0140_0000_0000,
    0x40c0_4000_1000_1120,
    0x08b0_1090_0158_8800,
    0x0001_4110_8004_0000,
    0x00c1_0000_0000_5008,
    0x0000_d400_0020_8800,
    0x0000_0600_0c20_0488,
    0x0000_1000_0010_4001,
    0x4100_0290_4420_0800,
    0x0000_180a_8000_0002,
    0x0040_00a0_0022_0200,
    0x0220_0840_2806_0700,
    0x0002_0850_2c00_8180,
    0x0100_2a00_1216_0000,
    0x8404_0000_4080_5052,
    0x0000_0108_0002_8000,
    0x1080_4020_0048_9006,
    0x80c0_100b_9200_0198,
    0x2002_0c82_022c_0106,
    0x0006_0003_0180_8400,
    0x0022_a030_0000_0000,
    0x0801_8120_1009_0488,
    0x4000_0000_0000_1060,
    0x0040_0400_2000_0082,
    0x4060_4042_0000_8129,
    0x2420_3000_0000_8026,
    0x0808_2100_2000_0000,
    0x4000_4005_0000_0230,
];

#[cfg(test)]
mod tests {
    use super::{each, is_listed};

    fn found(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        each(text.as_bytes(), |start, end| found.push(&text[start..end]));
        found
    }

    /// Entropy of the specification's own vectors.
    const TWELVE: &str = "scheme spot photo card baby mountain device kick cradle pact join borrow";
    const TWENTY_FOUR: &str = "void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing \
                               screen patrol group space point ten exist slush involve unfold";

    #[test]
    fn words_of_the_list_in_a_row_are_a_phrase() {
        for phrase in [TWELVE, TWENTY_FOUR] {
            assert!(phrase.split(' ').all(|word| is_listed(word.as_bytes())));
            for text in [phrase.to_owned(), format!("❯ {phrase}\nDone"), format!("«{phrase}» of `{phrase}`")] {
                assert!(!found(&text).is_empty() && found(&text).iter().all(|f| *f == phrase), "{text}");
            }
            let wrapped = phrase.replacen(" heavy", "\nheavy", 1);
            assert_eq!(found(&wrapped), [wrapped.as_str()]);
        }
    }

    #[test]
    fn sentences_lists_and_examples_are_none() {
        let mut sorted: Vec<_> = TWELVE.split(' ').collect();
        sorted.sort_unstable();
        let long = [TWENTY_FOUR; 3].join(" ");
        for text in [
            sorted.join(" "),
            long,
            "test test test test test test test test test test test junk".to_owned(),
            "we looked at the scheme and the spot where a photo of the card was taken by a baby on the mountain"
                .to_owned(),
            TWELVE.replace(" pact", ""),
            TWELVE.replace("scheme", "Xscheme"),
            format!("{TWELVE}er_"),
        ] {
            assert!(found(&text).is_empty(), "{text}");
        }
    }
}
