// Reads what `autocannon --json` prints. The port must never become part of a name: it is another one every time.
import { number, object, text } from '../../ingest/shape.js';
import { badOutput } from '../bench-error.js';
import { figureOf } from '../figure.js';
import type { BenchFormat } from './format.js';

const RESULT = object(
  {
    requests: object({ average: number() }, {}),
    latency: object({ p50: number(), p99: number() }, {}),
    errors: number(),
    timeouts: number(),
    non2xx: number(),
  },
  { url: text(), title: text() },
);

interface Result {
  readonly title?: string;
  readonly url?: string;
  readonly requests: { readonly average: number };
  readonly latency: { readonly p50: number; readonly p99: number };
  readonly errors: number;
  readonly timeouts: number;
  readonly non2xx: number;
}

const pathOf = (url: string): string => {
  if (!URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname + search;
};

export const AUTOCANNON: BenchFormat = {
  name: 'autocannon',
  figures(document) {
    if (RESULT(document, false).length > 0) return undefined;
    const { title, url = '', requests, latency, errors, timeouts, non2xx } = document as Result;
    const bench = title || pathOf(url) || '/';
    // A service that refuses is quick.
    if (errors + timeouts + non2xx > 0) {
      throw badOutput(
        `autocannon: ${bench} had ${errors} errors, ${timeouts} timeouts and ${non2xx} answers other than 2xx`,
      );
    }
    return [
      figureOf({ bench, metric: 'throughput', unit: 'req/s' }, requests.average),
      figureOf({ bench, metric: 'latency-p50', unit: 'ms' }, latency.p50),
      figureOf({ bench, metric: 'latency-p99', unit: 'ms' }, latency.p99),
    ];
  },
};
