// node bench/gate.mjs: the benchmark gate of .ci/run. Recording and sending are compared with an earlier commit (gate/gate-commits.mjs), the rest
// with peers measured in the same run, never with absolute times, because those hold for one machine only. The limits of the rest are generous:
// they catch what became twice as dear, not noise. A rule is judged by the best of three measurements, since other work on the machine can only
// make a figure worse; the second and third are left out where one before meets the limit.
import { gateCommits } from './gate/gate-commits.mjs';
import { isRate } from './lib/stats.mjs';
import { runSuite } from './run.mjs';

/** As it is documented, not as dd-trace uses it. */
const DATADOG = /^datadog-pprof@[\d.]+$/;

/**
 * `times`: spanline must be at least so many times as fast as the peer. `figure`: which field is compared, `median` unless told;
 * `totalMedian`, which is by CPU time, where a run waits for the disk. `atMost`, `atLeast`: for figures that do not depend on the
 * speed of the machine. `ifThere`: a rule whose peer may be missing on a machine.
 */
const RULES = [
  { suite: 'clock', name: 'clock-now', peer: 'process.hrtime.bigint', times: 0.7 },
  // Twice what a busy machine takes. A module more that everybody loads shows first in the memory, which other processes do not change.
  { suite: 'startup', name: 'import', n: 'cpu', atMost: 40 },
  { suite: 'startup', name: 'import', n: 'memory', atMost: 8 },
  { suite: 'startup', name: 'register', n: 'cpu', atMost: 250 },
  { suite: 'startup', name: 'register', n: 'memory', atMost: 30 },
  { suite: 'startup', name: 'help', n: 'cpu', atMost: 300 },
  { suite: 'startup', name: 'help', n: 'memory', atMost: 40 },
  { suite: 'recording', name: 'retained-bytes', n: 100, atMost: 130 },
  { suite: 'exporters', name: 'otlp-protobuf', n: 512, peer: /^opentelemetry/, times: 1.2 },
  { suite: 'exporters', name: 'jaeger-thrift', n: 512, peer: /^opentelemetry/, times: 4 },
  { suite: 'tracedb', name: 'ingest', n: 'new', peer: 'bare-lmdb', figure: 'totalMedian', times: 0.15 },
  { suite: 'tracedb', name: 'ingest', n: 'known', peer: 'bare-lmdb', figure: 'totalMedian', times: 0.17 },
  { suite: 'tracedb', name: 'query-1', n: 100_000, peer: 'bare-lmdb', figure: 'totalMedian', times: 0.3 },
  { suite: 'tracedb', name: 'query-3', n: 100_000, peer: 'bare-lmdb', figure: 'totalMedian', times: 1.2 },
  { suite: 'tracedb', name: 'query-8', n: 100_000, peer: 'bare-lmdb', figure: 'totalMedian', times: 2 },
  { suite: 'tracedb', name: 'query-8', n: 100_000, peer: 'sqlite', figure: 'totalMedian', times: 0.7, ifThere: true },
  { suite: 'tracedb', name: 'query-peak-memory', n: 'union', atMost: 200 },
  { suite: 'tracedb', name: 'query-traced-overhead', n: 'query-1', atMost: 30 },
  { suite: 'tracedb', name: 'bigtable-write-cpu', n: 10_000, peer: 'bare-bigtable', times: 0.77, ifThere: true },
  { suite: 'tracedb', name: 'bigtable-scan-cpu', n: 10_000, peer: 'bare-bigtable', times: 0.77, ifThere: true },
  { suite: 'graph', name: 'file-hash', n: 'commits', atMost: 30 },
  { suite: 'graph', name: 'file-names', n: 'commits', atMost: 23 },
  { suite: 'graph', name: 'file-spans', n: 'spans', atMost: 15 },
  { suite: 'graph', name: 'walk-ordinals', n: 'hash', peer: 'lmdb', times: 1 },
  { suite: 'graph', name: 'walk-names', n: 'hash', peer: 'lmdb', times: 1 },
  { suite: 'graph', name: 'walk-names', n: 'names', peer: 'lmdb', times: 0.7 },
  { suite: 'graph', name: 'walk-requests', n: 'opening', atMost: 4 },
  { suite: 'graph', name: 'walk-read-share', n: 'names', atMost: 100 },
  { suite: 'graph', name: 'lookup-cached', n: 'hash', peer: 'lmdb', times: 0.07 },
  { suite: 'graph', name: 'lookup-uncached', n: 'hash', peer: 'sqlite', times: 0.1, ifThere: true },
  { suite: 'graph', name: 'lookup-cold-reads', n: 'hash', atMost: 3 },
  { suite: 'graph', name: 'build', n: 'hash', peer: 'lmdb', figure: 'totalMedian', times: 0.4 },
  // A tenth of the spans has the tables of a whole segment to carry.
  { suite: 'graph', name: 'archive-bytes', n: 'segment', atMost: 17 },
  { suite: 'graph', name: 'http-cold-lookup', n: 'round-trips', atMost: 3 },
  { suite: 'graph', name: 'http-batch-1000', n: 'round-trips', atMost: 20 },
  { suite: 'profile', name: 'apply-register', n: 'on', peer: DATADOG, times: 3, ifThere: true },
  { suite: 'profile', name: 'apply-trampoline', n: 'on', peer: DATADOG, times: 2, ifThere: true },
  { suite: 'profile', name: 'await-off', n: 'followed', peer: 'bare', times: 0.6 },
  // Where V8 itself carries contexts the peer pays nothing for an await.
  { suite: 'profile', name: 'await-on', n: 'followed', peer: DATADOG, times: 0.3, ifThere: true },
  { suite: 'profile', name: 'labelled-sync', n: 4, atLeast: 95 },
  { suite: 'profile', name: 'labelled-async', n: 4, atLeast: 95 },
  // Of some hundred samples; a label that goes astray is tens of points.
  { suite: 'profile', name: 'error-sync', n: 4, atMost: 8 },
  { suite: 'profile', name: 'error-async', n: 4, atMost: 8 },
];

const MEASUREMENTS = 3;

const matches = (subject, peer) => (peer instanceof RegExp ? peer.test(subject) : subject === peer);

/** What a rule says about results: `{ ok, text }`. */
function judge(rule, results) {
  const fits = (row) =>
    row.name === rule.name && (rule.n === undefined || row.n === rule.n || rule.peer === row.subject);
  // Several clock sources may be there: the best one is what a program uses.
  const own = results.filter((row) => row.subject === 'spanline' && fits(row)).sort((a, b) => a.median - b.median)[0];
  const label = `${rule.suite} ${rule.name}${typeof rule.n === 'string' ? ` ${rule.n}` : ''}`;
  const isThere = results.some((row) => fits(row) && row.subject !== 'spanline' && matches(row.subject, rule.peer));
  if (rule.ifThere && !isThere) return { ok: true, text: `${label}: skipped, ${rule.peer} is not here` };
  if (own === undefined) return { ok: false, text: `${label}: spanline was not measured` };
  if (rule.atMost !== undefined) {
    return { ok: own.median <= rule.atMost, text: `${label}: ${own.median} ${own.unit}, at most ${rule.atMost}` };
  }
  if (rule.atLeast !== undefined) {
    return { ok: own.median >= rule.atLeast, text: `${label}: ${own.median} ${own.unit}, at least ${rule.atLeast}` };
  }
  const peers = results.filter((row) => matches(row.subject, rule.peer) && fits(row));
  const peer = peers.find((row) => row.n === rule.n) ?? peers[0];
  if (peer === undefined) return { ok: false, text: `${label}: the peer ${rule.peer} was not measured` };
  const { figure = 'median' } = rule;
  const times = isRate(own.unit) ? own[figure] / peer[figure] : peer[figure] / own[figure];
  const figures = `${own[figure]} ${own.unit} against ${peer[figure]} of ${peer.subject}`;
  return { ok: times >= rule.times, text: `${label}: ${times.toFixed(1)}x (${figures}), at least ${rule.times}x` };
}

/** Measure only what `rules` need of a suite. */
async function judgeSuite(suite, rules) {
  const cases = ({ name, n }) => new RegExp(`^${name} ${n ?? '.*'}$`);
  const isWanted = (subject, key) =>
    rules.some((rule) => (subject === 'spanline' || matches(subject, rule.peer)) && cases(rule).test(key));
  const only = new RegExp(rules.map((rule) => cases(rule).source).join('|'));
  const { results } = await runSuite(suite, { quick: true, only, isWanted });
  return rules.map((rule) => ({ rule, ...judge(rule, results) }));
}

for (const suite of new Set(RULES.map((rule) => rule.suite))) {
  let left = RULES.filter((rule) => rule.suite === suite);
  for (let measured = 1; left.length > 0 && measured <= MEASUREMENTS; measured++) {
    const failed = [];
    for (const { rule, ok, text } of await judgeSuite(suite, left)) {
      if (!ok) failed.push(rule);
      console.log(`${ok ? 'ok  ' : measured < MEASUREMENTS ? 'over' : 'FAIL'} ${text} (measurement ${measured})`);
    }
    left = failed;
  }
  if (left.length > 0) process.exitCode = 1;
}

if (!gateCommits()) process.exitCode = 1;
