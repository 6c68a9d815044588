//! What the process uses, where the system says so.

use std::fs;

use jiff::Timestamp;

use super::exposition::{Exposition, Kind};

/// Ticks of a second in `/proc`, on every Linux there is.
const TICKS: f64 = 100.0;

pub(super) fn write(out: &mut Exposition, started: Timestamp) {
    let mut gauge = |name: &str, help: &str, kind: Kind, value: Option<f64>| {
        if let Some(value) = value {
            out.family(name, kind, help);
            out.sample(name, &[], value);
        }
    };
    gauge(
        "process_start_time_seconds",
        "When the process began to serve, in seconds since 1970.",
        Kind::Gauge,
        Some(started.as_duration().as_secs_f64()),
    );
    gauge("process_cpu_seconds_total", "Time on processors.", Kind::Counter, cpu_seconds());
    gauge("process_resident_memory_bytes", "Memory that is in use.", Kind::Gauge, resident_bytes());
    gauge("process_open_fds", "Open files and connections.", Kind::Gauge, open_fds());
}

fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may hold anything.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS)
}

fn resident_bytes() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kb| kb * 1024.0)
}

fn open_fds() -> Option<f64> {
    // One of them is the look itself.
    let count = fs::read_dir("/proc/self/fd").ok()?.count().checked_sub(1)?;
    u32::try_from(count).ok().map(f64::from)
}
