// The cases of the metrics suite, for every subject the same: durations of requests by the attributes of HTTP, in turn to four routes, a third of which fails.
// A subject says what it does with one.

export const BOUNDARIES = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

const ROUTES = ['/', '/items', '/items/:id', '/orders/:id'];

/** Of each request what there is to record: seconds, route, status, and what has failed. */
const REQUESTS = Array.from({ length: 96 }, (_, i) => {
  const status = i % 3 === 0 ? 500 : 200;
  return { seconds: 0.001 * 1.07 ** i, route: ROUTES[i % 4], status, error: status === 500 ? '500' : undefined };
});

/**
 * @param {string} name
 * @param {string} n
 * @param {(request: typeof REQUESTS[number], i: number) => void} one
 */
export const perRequest = (name, n, one) => ({
  name,
  n,
  opsPerRun: REQUESTS.length,
  run(repeats) {
    for (let turn = 0; turn < repeats; turn++)
      for (let i = 0; i < REQUESTS.length; i++) one(REQUESTS[i], turn * REQUESTS.length + i);
  },
});
