//! What has become of the records that turns are about, as their own servers say.

use std::collections::BTreeMap;

use onrecord_lexicon::AtUri;
use onrecord_record::verify::{Pin as Pinned, PinStatus, Report};

use crate::{Client, Pin};

/// Most records that are looked up; the pins of others are counted as not looked up.
const MAX_LOOKED_UP: usize = 1_000;

impl Client {
    /// Looks up every pin, each record once, and reports.
    pub(super) async fn look_up_pins(&self, report: &mut Report, pins: Vec<Pinned>) {
        let mut records: BTreeMap<AtUri, Vec<Pinned>> = BTreeMap::new();
        let mut left = Vec::new();
        for pin in pins {
            if records.len() < MAX_LOOKED_UP || records.contains_key(&pin.uri) {
                records.entry(pin.uri.clone()).or_default().push(pin);
            } else {
                left.push(pin);
            }
        }
        let places: Vec<AtUri> = records.keys().cloned().collect();
        let found = self.pin(&places).await;
        for (pins, found) in records.values().zip(found) {
            for pin in pins {
                let status = match &found {
                    Pin::Record { cid, .. } if *cid == pin.cid => PinStatus::Same,
                    Pin::Record { cid, .. } => PinStatus::Changed { now: cid.clone() },
                    Pin::Absent(why) => PinStatus::Deleted { why: why.clone() },
                    Pin::Account(_) => PinStatus::Unreachable { why: "it is an account, and no record".into() },
                    Pin::Failed(why) => PinStatus::Unreachable { why: why.clone() },
                };
                report.add_pin(pin, &status);
            }
        }
        report.leave_pins(&left);
    }
}
