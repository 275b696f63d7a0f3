//! Counts events between begin and end, with the wall-clock and CPU time between the two.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::Answer;

pub struct Meter {
    pub events: u64,
    checksum: u64,
    started: Instant,
    cpu: Duration,
    elapsed: Duration,
}

impl Meter {
    pub fn new() -> Self {
        let (events, checksum, elapsed) = (0, 0, Duration::ZERO);
        Self { events, checksum, started: Instant::now(), cpu: cpu_time(), elapsed }
    }

    pub fn begin(&mut self) {
        self.started = Instant::now();
        self.cpu = cpu_time();
    }

    pub fn add(&mut self, key_length: usize) {
        self.events += 1;
        self.checksum += key_length as u64;
    }

    pub fn end(&mut self) {
        self.elapsed = self.started.elapsed();
        self.cpu = cpu_time().saturating_sub(self.cpu);
    }

    pub fn answer(&self) -> Answer {
        Answer {
            events: self.events,
            checksum: self.checksum,
            elapsed_ms: milliseconds(self.elapsed),
            cpu_ms: milliseconds(self.cpu),
            rss_bytes: usage().ru_maxrss as u64 * 1024,
            ..Answer::default()
        }
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

/// User and system time of this process.
fn cpu_time() -> Duration {
    let usage = usage();
    let time = |value: libc::timeval| Duration::new(value.tv_sec as u64, value.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

fn usage() -> libc::rusage {
    // SAFETY: getrusage only writes to the structure, for which all zeros are a value.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    }
}

/// Returns 0 on systems without /proc.
pub fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    // SAFETY: sysconf has no preconditions.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages * page_bytes.max(0) as u64
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Latency {
    p50_us: u64,
    p90_us: u64,
    p99_us: u64,
    p999_us: u64,
    max_us: u64,
}

/// Returns None without a recorded value.
pub fn quantiles(histogram: &Histogram<u64>) -> Option<Latency> {
    let at = |quantile| histogram.value_at_quantile(quantile);
    (!histogram.is_empty()).then(|| Latency {
        p50_us: at(0.5),
        p90_us: at(0.9),
        p99_us: at(0.99),
        p999_us: at(0.999),
        max_us: histogram.max(),
    })
}
