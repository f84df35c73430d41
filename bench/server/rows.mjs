// Makes the rows of the server suite. A loss, and what is above the untraced service, is the median of paired differences: a round of the subject
// and the untraced round beside it. It must never be surer than that.
import { rowOf } from '../lib/rows.mjs';

/** What metrics take of the throughput of the same subject without them. */
const metricsLoss = (measured, { subject, mode, rounds }, head) => {
  if (mode !== 'metrics') return [];
  const { rounds: without } = measured.find((one) => one.subject === subject && one.mode === 'unsampled');
  const loss = rounds.map(({ perSecond }, i) => 100 * (1 - perSecond / without[i].perSecond));
  return [rowOf(head('metrics-loss', '%'), loss)];
};

/** All rows of an app. The first of `measured` is the untraced service. */
export function rowsOf(app, measured) {
  const [{ rounds: untraced, startUs: bareStartUs }] = measured;
  return measured.flatMap((one) => {
    const { subject, mode, rounds, startUs } = one;
    const head = (name, unit) => ({ subject, name, n: `${app}/${mode}`, unit });
    const figures = (field) => rounds.map((round) => round[field]);
    const note = `at ${rounds[0].rate} requests/s`;
    const rows = [
      rowOf(head('throughput', 'requests/s'), figures('perSecond')),
      { ...rowOf(head('p50', 'ms'), figures('p50')), note },
      { ...rowOf(head('p99', 'ms'), figures('p99')), note },
      { ...rowOf(head('cpu', 'us'), figures('cpuUs')), note },
    ];
    if (mode === 'none') return rows;
    const loss = rounds.map(({ perSecond }, i) => 100 * (1 - perSecond / untraced[i].perSecond));
    const rss = rounds.map(({ rssMb }, i) => rssMb - untraced[i].rssMb);
    const added = rounds.map(({ cpuUs }, i) => cpuUs - untraced[i].cpuUs);
    return [
      rowOf(head('throughput-loss', '%'), loss),
      ...metricsLoss(measured, one, head),
      rowOf(head('added-cpu', 'us'), added),
      rowOf(head('rss', 'MB'), rss),
      rowOf(head('start-up', 'ms'), [(startUs - bareStartUs) / 1000]),
      ...rows,
    ];
  });
}
