// Whether a snapshot of the planted service names each cause, and blames nobody who only waited. Takes the functions of breakdowns, so that tests
// ask those of the sources and the proof those of the package.

/** Of each of these something planted is slow. */
export const CAUSES = ['parse', 'regex', 'garbage', 'timer', 'query', 'hashes', 'names', 'innocent'];

/** They only wait. */
const INNOCENT = ['/wait', '/query', '/backend', '/file', '/name'];

/** Every request works a little: its handler, its answer. */
const SHORT_US = 5000;
/** What is shorter is none of the planted ones, on a machine where the slow expression takes a second. */
const LONG_US = 500_000;

const share = (part, whole) => part / Math.max(whole, 1);
const has = (list, traceId) => list.some((one) => one.traceId === traceId && one.us > SHORT_US);

/** A tenth of its time and more. */
const hasMuch = ({ others, durationUs }, traceId) =>
  others.some((one) => one.traceId === traceId && one.us > durationUs / 10);

/** All requests, with their breakdowns, and the stalls. */
export const lookAt = (snapshot, { timeBreakdown, breakdownIndexOf, formatBreakdown, stalls }) => {
  const index = breakdownIndexOf(snapshot);
  const asked = [...snapshot.traces()].flatMap(({ traceId, spans }) =>
    spans
      .filter(({ record }) => record.kind === 'server')
      .map(({ record }) => {
        const breakdown = timeBreakdown(index, record);
        const calls = spans.filter(
          ({ record: { kind, parentSpanId } }) => kind === 'client' && parentSpanId === record.spanId,
        );
        return {
          path: String(record.properties['url.path']),
          traceId,
          text: formatBreakdown(breakdown),
          breakdown,
          // What it called, and for how long.
          calls: calls.map((call) => ({ name: call.record.name, us: call.record.durationNs / 1000 })),
        };
      }),
  );
  return { asked, stalls: stalls(index, 100) };
};

const ofPath = ({ asked }, path) => asked.filter((one) => one.path === path);

// The work is its own, one of those that waited names it, and the stalls do.
const isNamedWork = (seen, path) => {
  const [{ traceId, breakdown }] = ofPath(seen, path);
  const { ownUs, gcUs, durationUs } = breakdown;
  // The end of its answer may be a moment that the next one waits for.
  const waited = ofPath(seen, '/wait').filter((one) => hasMuch(one.breakdown, traceId));
  const held = seen.stalls.filter(({ holders }) => has(holders, traceId));
  return share(ownUs, durationUs - gcUs) > 0.5 && waited.length === 1 && held.length > 0;
};

// Who filled the pool and who then wanted it waited with a full pool, the row says what was in it, and the stalls do.
const isNamedPool = (seen, [filler, victim], requests) => {
  const isOfThem = ({ poolWaits }) => poolWaits.some((one) => requests.test(one.requests));
  const [[{ breakdown: filled }], [{ breakdown: waited }]] = [ofPath(seen, filler), ofPath(seen, victim)];
  const isFull = share(filled.poolUs, filled.waitingUs) > 0.5 && share(waited.poolUs, waited.durationUs) > 0.5;
  const isStall = seen.stalls.some((stall) => stall.kind === 'pool' && isOfThem(stall));
  return isFull && isOfThem(filled) && isOfThem(waited) && isStall;
};

// Who only waited and is named as one that had the loop. A machine that is busy itself takes the processor from anybody for some time, in the middle
// of whatever runs: that is not a tenth of what others waited for.
const blamed = (seen) => {
  // On a slower or busier one all of it lasts longer, what the machine takes from who waits too.
  const longUs = Math.max(LONG_US, ofPath(seen, '/regex')[0].breakdown.durationUs / 2);
  const paths = new Map(INNOCENT.flatMap((path) => ofPath(seen, path).map(({ traceId }) => [traceId, path])));
  const named = [
    ...seen.asked.map(({ breakdown }) => [breakdown.others, breakdown.durationUs]),
    ...seen.stalls.map(({ holders, durationUs }) => [holders, Math.max(durationUs, longUs)]),
  ];
  return named.flatMap(([holders, us]) =>
    holders
      .filter((holder) => paths.has(holder.traceId) && holder.us > Math.max(SHORT_US, us / 10))
      .map((holder) => `${paths.get(holder.traceId)} is blamed for ${holder.us} us of ${us}`),
  );
};

const isNamed = {
  parse: (seen) => isNamedWork(seen, '/parse'),
  regex: (seen) => isNamedWork(seen, '/regex'),
  // Most of what the request took, and what another one waited for most.
  garbage: (seen) => {
    const [{ breakdown }] = ofPath(seen, '/garbage');
    const { breakdown: waiter } = ofPath(seen, '/wait').at(-1);
    return share(breakdown.gcUs, breakdown.durationUs) > 0.5 && waiter.gcUs > Math.max(waiter.othersUs, waiter.ownUs);
  },
  timer: (seen) => {
    const [{ breakdown }] = ofPath(seen, '/wait');
    const frames = breakdown.untracedFrames[0]?.frames.join(' ') ?? '';
    const isStall = seen.stalls.some((one) =>
      one.untracedFrames.some((hot) => hot.frames.join(' ').includes('busyTimer')),
    );
    return breakdown.untracedUs > 30_000 && frames.includes('busyTimer') && isStall;
  },
  // It waited for what it called, which has a name.
  query: (seen) => {
    const [{ breakdown, calls }] = ofPath(seen, '/query');
    const [{ name = '', us = 0 } = {}] = calls;
    return (
      share(breakdown.waitingUs, breakdown.durationUs) > 0.6 && name !== '' && share(us, breakdown.durationUs) > 0.8
    );
  },
  hashes: (seen) => isNamedPool(seen, ['/hashes', '/file'], /crypto\/pbkdf2/),
  // Not planted where the C library cannot be held up.
  names: (seen) => ofPath(seen, '/names').length === 0 || isNamedPool(seen, ['/names', '/name'], /dns\.lookup \d/),
  innocent: (seen) => blamed(seen).length === 0,
};

/** Whether each of the causes is named. */
export const namedCauses = (seen) => Object.fromEntries(CAUSES.map((cause) => [cause, isNamed[cause](seen)]));

/** The requests that tell of it, for who wants to know why it is not. */
export const evidence = (seen) => {
  const requests = seen.asked.filter(({ path }) => path !== '/fast').map(({ path, text }) => `${path} ${text}`);
  return [...requests, ...blamed(seen)].join('\n');
};
