// A line on standard input is a round, a line on standard output is what it gave, in JSON:
//   flow REQUESTS SETTLE_MS             totals of the process, and how many spans never arrived
//   loop NAME N WARM_UP_MS ROUND_MS     times of samples, CPU and lost spans of a round
// The first argument is "record" or "none": without a reporter and without spans. Everything runs on one thread of tokio, as in Node; fastrace's
// collector has a thread of its own, whose CPU counts.

mod arrivals;
mod flow;
mod loops;
mod usage;

use std::io::BufRead;

fn main() {
    let traced = std::env::args().nth(1).as_deref() != Some("none");
    if traced {
        arrivals::start();
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("no runtime");
    let mut flow = flow::Flow::new(traced);
    let mut loops = loops::Loops::default();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("standard input cannot be read");
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| {
            words
                .get(at)
                .and_then(|word| word.parse::<u64>().ok())
                .unwrap_or_else(|| panic!("not a round: {line}"))
        };
        let answer = match words.first() {
            Some(&"flow") => flow.round(&runtime, number(1), number(2)),
            Some(&"loop") => loops.round(&runtime, words[1], number(2), number(3), number(4)),
            _ => panic!("not a round: {line}"),
        };
        println!("{answer}");
    }
}
