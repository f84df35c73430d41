// Loops of bench/recording/spanline.mjs, sized and timed as bench/lib/case.mjs does it: the caller's time of samples of about a millisecond, CPU of
// all threads over the round, a flush after each sample outside the caller's time.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use fastrace::prelude::*;

use crate::{arrivals, usage};

const SAMPLE_NS: f64 = 1e6;
const MIN_OPS: u64 = 100;
const MAX_OPS: u64 = 10_000;

/// By name and n: how many traces a sample has.
#[derive(Default)]
pub struct Loops {
    repeats: HashMap<(String, u64), u64>,
}

fn in_root(body: impl FnOnce()) {
    let root = Span::root("root", SpanContext::random());
    let _guard = root.set_local_parent();
    body();
}

async fn bare(value: u64) -> u64 {
    tokio::task::yield_now().await;
    value
}

/// What a case does so often, and how many spans that is; `None` where there is no such case.
fn run(runtime: &tokio::runtime::Runtime, name: &str, n: u64, repeats: u64) -> Option<u64> {
    let mut per_trace = n + 1;
    for _ in 0..repeats {
        match name {
            "local-span" => {
                in_root(|| (0..n).for_each(|_| drop(LocalSpan::enter_with_local_parent("span"))))
            }
            "local-span-1-property" => in_root(|| {
                for _ in 0..n {
                    drop(
                        LocalSpan::enter_with_local_parent("span")
                            .with_property(|| ("key", "value")),
                    );
                }
            }),
            "event" => {
                per_trace = 2;
                in_root(|| {
                    let _span = LocalSpan::enter_with_local_parent("span");
                    (0..n).for_each(|_| LocalSpan::add_event(Event::new("event")));
                });
            }
            "span" => {
                let root = Span::root("root", SpanContext::random());
                (0..n).for_each(|_| drop(Span::enter_with_parent("span", &root)));
            }
            "async-span" => {
                let root = Span::root("root", SpanContext::random());
                let work = async {
                    for i in 0..n {
                        bare(i).in_span(Span::enter_with_local_parent("span")).await;
                    }
                };
                runtime.block_on(work.in_span(root));
            }
            "root-1" => {
                per_trace = 1;
                drop(Span::root("root", SpanContext::random()));
            }
            _ => return None,
        }
    }
    Some(per_trace * repeats)
}

/// What `async-span` is measured above.
fn baseline(runtime: &tokio::runtime::Runtime, n: u64, repeats: u64) {
    for _ in 0..repeats {
        runtime.block_on(async {
            for i in 0..n {
                std::hint::black_box(bare(i).await);
            }
        });
    }
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

impl Loops {
    pub fn round(
        &mut self,
        runtime: &tokio::runtime::Runtime,
        name: &str,
        n: u64,
        warm_up_ms: u64,
        round_ms: u64,
    ) -> String {
        let key = (name.to_string(), n);
        let mut spans = 0;
        let mut sample = |repeats: u64| {
            let mut made = 0;
            let ns = timed(|| {
                made = run(runtime, name, n, repeats).unwrap_or_else(|| panic!("no case {name}"))
            });
            arrivals::made(made);
            spans += made;
            ns
        };
        let (least, most) = (MIN_OPS.div_ceil(n), (MAX_OPS / n).max(MIN_OPS.div_ceil(n)));
        let repeats = *self.repeats.entry(key).or_insert_with(|| {
            let mut repeats = least;
            let end = Instant::now() + Duration::from_millis(warm_up_ms);
            while Instant::now() < end {
                let ns = sample(repeats).max(1.0);
                fastrace::flush();
                repeats = ((repeats as f64 * SAMPLE_NS / ns).round() as u64).clamp(least, most);
            }
            repeats
        });
        let mut lost = arrivals::settle();
        let cpu_before = usage::process_us();
        let mut baseline_us = 0.0;
        let mut caller = Vec::new();
        let end = Instant::now() + Duration::from_millis(round_ms);
        while caller.is_empty() || Instant::now() < end {
            let mut ns = sample(repeats);
            if name == "async-span" {
                let before = usage::process_us();
                ns -= timed(|| baseline(runtime, n, repeats));
                baseline_us += usage::process_us() - before;
            }
            fastrace::flush();
            caller.push(ns / (repeats * n) as f64);
        }
        // The baseline is in the round twice: as itself, and inside what was run.
        let cpu_us = usage::process_us() - cpu_before - 2.0 * baseline_us;
        let total = cpu_us * 1000.0 / (repeats * n * caller.len() as u64) as f64;
        lost += arrivals::settle();
        let caller: Vec<String> = caller.iter().map(|ns| format!("{ns:.3}")).collect();
        format!(
            "{{\"caller\":[{}],\"total\":{total:.3},\"lost\":{lost},\"spans\":{spans}}}",
            caller.join(",")
        )
    }
}
