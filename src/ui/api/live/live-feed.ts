// Looks at the archive once a second while somebody watches, and sends what it saw to all who do. However many watch, the archive is asked once;
// a page that reads too slowly misses events, it never makes them pile up.
import type { ServerResponse } from 'node:http';
import type { Archive } from '../../../archive/archive.js';
import { HttpError } from '../../../archive/server/http-error.js';
import type { LiveEvent } from './answers.js';
import { liveMinute, MAX_TRACES, SECONDS } from './live-minute.js';

const MAX_LISTENERS = 16;
const EVERY_MS = 1000;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // A connection that this used is of no use for anything else.
  connection: 'close',
};

/** The stream of one archive. */
export class LiveFeed {
  readonly #archive: Archive;
  readonly #listeners = new Set<ServerResponse>();
  /** Also between two looks: there is never more than one timer. */
  #isLooking = false;

  constructor(archive: Archive) {
    this.#archive = archive;
  }

  /** Send events until the response is closed, by either side. Throws `HttpError` 503 when too many listen. */
  listen(response: ServerResponse): void {
    if (this.#listeners.size >= MAX_LISTENERS)
      throw new HttpError(503, `${MAX_LISTENERS} pages watch already: close one of them`);
    response.writeHead(200, HEADERS).flushHeaders();
    this.#listeners.add(response);
    response.once('close', () => this.#listeners.delete(response));
    if (!this.#isLooking) void this.#look();
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    const text = `data: ${JSON.stringify(await this.#event())}\n\n`;
    for (const response of this.#listeners) {
      if (!response.writableNeedDrain && !response.writableEnded) response.write(text);
    }
    setTimeout(() => {
      this.#isLooking = false;
      if (this.#listeners.size > 0) void this.#look();
    }, EVERY_MS).unref();
  }

  async #event(): Promise<LiveEvent> {
    try {
      const nowUnixNs = BigInt(Date.now()) * 1_000_000n;
      const fromUnixNs = nowUnixNs - BigInt(SECONDS) * 1_000_000_000n;
      return liveMinute(await this.#archive.search({ fromUnixNs, limit: MAX_TRACES }), nowUnixNs);
    } catch (error) {
      return { error: (error as Error).message };
    }
  }
}
