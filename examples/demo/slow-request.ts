// One slow request, planted: a small query comes together with a report that keeps the event loop busy. The flight recorder tells afterwards whom
// the small one waited for.
import { configure, flush } from 'spanline';
import { breakdownIndexOf, formatBreakdown, snapshot, timeBreakdown } from 'spanline/flight-recorder';
import { runQueries } from './client.js';

/** What the recorder says of the small query. */
export interface SlowRequest {
  readonly name: string;
  /** Where its time went, as a line. */
  readonly text: string;
  /** Whoever had the event loop longest meanwhile. */
  readonly waitedFor: string;
}

/** Ask for both, and look at the last seconds. */
export const plantSlowRequest = async (port: number, test: string): Promise<SlowRequest> => {
  // What ended before is not part of it.
  await flush();
  configure({ flightRecorder: {} });
  const wanted = encodeURIComponent(test);
  await runQueries(port, ['/report', `/statistics?test=${wanted}`]);
  const taken = snapshot('one request was slow');
  configure({ flightRecorder: false });
  const index = breakdownIndexOf(taken);
  const name = 'query statistics';
  for (const { traceId, spans } of taken.traces()) {
    const [{ record: root }] = spans;
    const breakdown = root.name === name ? timeBreakdown(index, { traceId, spanId: root.spanId }) : undefined;
    if (breakdown === undefined) continue;
    const [first] = breakdown.others;
    return { name, text: formatBreakdown(breakdown), waitedFor: first?.name ?? 'nobody' };
  }
  throw new Error('the slow request is not in the snapshot');
};
