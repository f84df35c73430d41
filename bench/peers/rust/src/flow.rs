// The flow of bench/service/shapes.mjs: a root, seven spans over awaits, twelve local spans in ones and twos, a property on half of them, sixteen
// requests at once. Untraced it does the same work without a span.

use std::cell::Cell;
use std::fmt::Write;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use fastrace::prelude::*;

use crate::{arrivals, usage};

const AT_ONCE: usize = 16;
const PARTS: usize = 6;
const SPANS: u64 = 20;

#[derive(Clone)]
struct Row {
    id: usize,
    name: String,
    value: f64,
}

#[derive(Clone, Copy, Default)]
struct Totals {
    cpu_us: f64,
    main_us: f64,
}

impl Totals {
    fn now() -> Totals {
        Totals {
            cpu_us: usage::process_us(),
            main_us: usage::thread_us(),
        }
    }
}

pub struct Flow {
    traced: bool,
    rows: Rc<Vec<Row>>,
    before: Totals,
}

fn local<T>(
    traced: bool,
    name: &'static str,
    property: Option<(&'static str, usize)>,
    work: impl FnOnce() -> T,
) -> T {
    if !traced {
        return work();
    }
    let span = LocalSpan::enter_with_local_parent(name);
    let _span = match property {
        Some((key, value)) => span.with_property(|| (key, value.to_string())),
        None => span,
    };
    work()
}

async fn over<T>(
    traced: bool,
    name: &'static str,
    property: Option<(&'static str, &'static str)>,
    work: impl Future<Output = T>,
) -> T {
    if !traced {
        return work.await;
    }
    let span = Span::enter_with_local_parent(name);
    let span = match property {
        Some(property) => span.with_property(|| property),
        None => span,
    };
    work.in_span(span).await
}

async fn read(traced: bool, rows: &[Row], part: usize) -> Vec<Row> {
    over(
        traced,
        "db.read",
        Some(("db.statement", "select * from rows where part = ?")),
        async {
            tokio::task::yield_now().await;
            local(traced, "decode", Some(("part", part)), || {
                rows.iter()
                    .filter(|row| row.id % 10 == part)
                    .cloned()
                    .collect()
            })
        },
    )
    .await
}

async fn serve(traced: bool, rows: &[Row]) -> String {
    let mut parts = Vec::new();
    for part in 0..PARTS {
        parts.push(read(traced, rows, part).await);
    }
    let mut joined: Vec<Row> = local(traced, "join", Some(("parts", PARTS)), || parts.concat());
    local(traced, "sort", None, || {
        joined.sort_by(|a, b| a.value.total_cmp(&b.value))
    });
    let count = joined.len();
    let sum: f64 = local(traced, "aggregate", Some(("rows", count)), || {
        joined.iter().map(|row| row.value).sum()
    });
    let more = over(traced, "cache.get", None, async {
        tokio::task::yield_now().await;
        sum
    })
    .await;
    let filtered: Vec<&Row> = local(traced, "filter", None, || {
        joined.iter().filter(|row| row.value > 0.0).collect()
    });
    let mapped: Vec<(&Row, f64)> = local(traced, "map", None, || {
        filtered.iter().map(|&row| (row, more)).collect()
    });
    local(traced, "serialize", Some(("n", mapped.len())), || {
        let mut json = String::from("[");
        for (row, sum) in &mapped {
            let comma = if json.len() > 1 { "," } else { "" };
            let Row { id, name, value } = row;
            let _ = write!(
                json,
                "{comma}{{\"id\":{id},\"name\":\"{name}\",\"value\":{value},\"sum\":{sum}}}"
            );
        }
        json.push(']');
        json
    })
}

async fn request(traced: bool, rows: &[Row]) -> String {
    if !traced {
        return serve(false, rows).await;
    }
    let root = Span::root("GET /api", SpanContext::random())
        .with_properties(|| [("http.method", "GET"), ("http.target", "/api")]);
    serve(true, rows).in_span(root).await
}

impl Flow {
    pub fn new(traced: bool) -> Flow {
        let row = |id: usize| Row {
            id,
            name: format!("row {id}"),
            value: (id as f64).sin() * 1000.0,
        };
        Flow {
            traced,
            rows: Rc::new((0..20).map(row).collect()),
            before: Totals::now(),
        }
    }

    pub fn round(
        &mut self,
        runtime: &tokio::runtime::Runtime,
        requests: u64,
        settle_ms: u64,
    ) -> String {
        let left = Rc::new(Cell::new(requests));
        let mut rss = usage::rss_mb();
        tokio::task::LocalSet::new().block_on(runtime, async {
            let worker = || {
                let (traced, rows, left) = (self.traced, self.rows.clone(), left.clone());
                tokio::task::spawn_local(async move {
                    while left.get() > 0 {
                        left.set(left.get() - 1);
                        std::hint::black_box(request(traced, &rows).await);
                    }
                })
            };
            for task in (0..AT_ONCE).map(|_| worker()).collect::<Vec<_>>() {
                task.await.expect("a request panicked");
            }
        });
        rss = rss.max(usage::rss_mb());
        if self.traced {
            arrivals::made(requests * SPANS);
        }
        let lost = arrivals::settle();
        std::thread::sleep(Duration::from_millis(settle_ms));
        rss = rss.max(usage::rss_mb());
        let (now, before) = (Totals::now(), self.before);
        self.before = now;
        format!(
            "{{\"requests\":{requests},\"spans\":{},\"lost\":{lost},\"cpuUs\":{:.0},\"mainUs\":{:.1},\"rssMb\":{rss:.3}}}",
            requests * SPANS,
            now.cpu_us - before.cpu_us,
            now.main_us - before.main_us,
        )
    }
}
