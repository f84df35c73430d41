// Counts spans that reach the reporter, and those that never do.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fastrace::collector::{Config, Reporter, SpanRecord};
use fastrace::prelude::*;

static MADE: AtomicU64 = AtomicU64::new(0);
static ARRIVED: AtomicU64 = AtomicU64::new(0);

/// What has not arrived by then is lost.
const PATIENCE: Duration = Duration::from_secs(10);

struct Counting;

impl Reporter for Counting {
    fn report(&mut self, spans: Vec<SpanRecord>) {
        ARRIVED.fetch_add(spans.len() as u64, Ordering::Relaxed);
    }
}

pub fn start() {
    fastrace::set_reporter(Counting, Config::default());
}

pub fn made(spans: u64) {
    MADE.fetch_add(spans, Ordering::Relaxed);
}

/// Waits for all that was made; how many spans are lost. What found the queue to the collector full waits on its own thread until that thread sends
/// again, as it would in a service that goes on: so a trace of one span is made now and then.
pub fn settle() -> u64 {
    let end = Instant::now() + PATIENCE;
    let missing = || MADE.load(Ordering::Relaxed) - ARRIVED.load(Ordering::Relaxed);
    while missing() > 0 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
        if missing() > 0 {
            made(1);
            drop(Span::root("more", SpanContext::random()));
        }
    }
    let lost = missing();
    MADE.fetch_sub(lost, Ordering::Relaxed);
    lost
}
