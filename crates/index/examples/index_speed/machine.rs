//! What the work cost: time of processors, memory, load.

use std::{fs, time::Duration};

/// The fields of a process's `stat`, from its state on; none if there is no such process.
fn stat(process: &str) -> Vec<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(')').next().unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

/// The sum of some fields, in hundredths of a second.
fn ticks(stat: &[String], fields: std::ops::Range<usize>) -> u64 {
    stat.get(fields).unwrap_or_default().iter().filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// The time this process was at work, user and system.
pub fn cpu() -> Duration {
    Duration::from_millis(ticks(&stat("self"), 11..13) * 10)
}

/// The time a server was at work: the process that began it, all that it began, and those of them that ended.
pub fn cpu_of_server(postmaster: Option<u32>) -> Duration {
    let Some(postmaster) = postmaster else { return Duration::ZERO };
    let mut sum = ticks(&stat(&postmaster.to_string()), 11..15);
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let stat = stat(&process.file_name().to_string_lossy());
        if stat.get(1).is_some_and(|parent| *parent == postmaster.to_string()) {
            sum += ticks(&stat, 11..13);
        }
    }
    Duration::from_millis(sum * 10)
}

/// The process that began this one.
pub fn parent(process: u32) -> Option<u32> {
    stat(&process.to_string()).get(1)?.parse().ok()
}

/// The most memory this process had, in megabytes.
pub fn memory_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1024
}

/// How many want to run, in the last minute.
pub fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().split(' ').next().unwrap_or_default().to_owned()
}
