// Makes the rows of the server suite. A loss, and what is above the untraced service, is the median of paired differences: of what a subject did and what
// an untraced service did right beside it, or at the same time. It must never be surer than that.
import { rowOf } from '../lib/rows.mjs';

/** What is left of the throughput, pair by pair: 1 is all. */
const shares = (rounds) => rounds.flatMap(({ pairs }) => pairs.map(({ own, beside }) => own / beside));

/** Percent lost of `without`, which is the untraced service where it is left out. */
const lossOf = (own, without) => own.map((share, i) => 100 * (1 - share / (without?.[i] ?? 1)));

/** What metrics take of the throughput of the same subject without them. */
const metricsLoss = (measured, { subject, mode, rounds }, head) => {
  if (mode !== 'metrics') return [];
  const { rounds: without } = measured.find((one) => one.subject === subject && one.mode === 'unsampled');
  return [rowOf(head('metrics-loss', '%'), lossOf(shares(rounds), shares(without)))];
};

/** All rows of an app. The first of `measured` is untraced too: its losses say how sure the others are. */
export function rowsOf(app, measured) {
  const [{ startUs: bareStartUs }] = measured;
  return measured.flatMap((one) => {
    const { subject, mode, rounds, startUs } = one;
    const head = (name, unit) => ({ subject, name, n: `${app}/${mode}`, unit });
    const figures = (field) => rounds.map((round) => round[field]);
    const note = `at ${rounds[0].rate} requests/s`;
    const throughput = rounds.flatMap(({ pairs }) => pairs.map(({ own }) => own));
    const added = rounds.map(({ cpuUs, besideCpuUs }) => cpuUs - besideCpuUs);
    const metrics = metricsLoss(measured, one, head);
    const startUp = [(startUs - bareStartUs) / 1000];
    return [
      rowOf(head('throughput-loss', '%'), lossOf(shares(rounds))),
      ...metrics,
      rowOf(head('added-cpu', 'us'), added),
      rowOf(head('rss', 'MB'), figures('rssMb')),
      ...(mode === 'none' ? [] : [rowOf(head('start-up', 'ms'), startUp)]),
      rowOf(head('throughput', 'requests/s'), throughput),
      { ...rowOf(head('p50', 'ms'), figures('p50')), note },
      { ...rowOf(head('p99', 'ms'), figures('p99')), note },
      { ...rowOf(head('cpu', 'us'), figures('cpuUs')), note },
    ];
  });
}
