// Follows the archive while somebody watches, and sends once a second what the last minute was to all who do, as server-sent events. However many
// watch, the archive is read once; a page that reads too slowly misses events, it never makes them pile up.
import { existsSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Archive } from '@spanline/archive';
import { type Arrivals, HttpError, type Route } from '@spanline/archive/internal';
import { timers } from 'spanline/internal/base';
import type { LiveEvent } from './answers.js';
import { MinuteCounts, SECONDS } from './minute-counts.js';

const MAX_LISTENERS = 16;
const EVERY_MS = 1000;
/** Looks with nobody watching before the archive is followed no more: a page that is loaded again comes back at once. */
const IDLE_LOOKS = 10;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // A connection that this used is of no use for anything else.
  connection: 'close',
};

interface Following {
  readonly arrivals: Arrivals;
  readonly counts: MinuteCounts;
}

/** The stream of one archive. */
class LiveFeed {
  readonly #archive: Archive;
  readonly #listeners = new Set<ServerResponse>();
  /** There is never more than one timer. */
  #following: Following | undefined;
  #idleLooks = 0;

  constructor(archive: Archive) {
    this.#archive = archive;
  }

  /** Send events until the response is closed, by either side. Throws `HttpError` 503 when too many listen. */
  listen(response: ServerResponse): void {
    if (this.#listeners.size >= MAX_LISTENERS)
      throw new HttpError(503, `${MAX_LISTENERS} pages watch already: close one of them`);
    if (this.#following === undefined) {
      this.#following = { arrivals: this.#archive.arrivals(), counts: new MinuteCounts() };
      void this.#look(this.#following);
    }
    response.writeHead(200, HEADERS).flushHeaders();
    this.#listeners.add(response);
    response.once('close', () => this.#listeners.delete(response));
  }

  async #look(following: Following): Promise<void> {
    const text = `data: ${JSON.stringify(await this.#event(following))}\n\n`;
    for (const response of this.#listeners) {
      if (!response.writableNeedDrain && !response.writableEnded) response.write(text);
    }
    this.#idleLooks = this.#listeners.size > 0 ? 0 : this.#idleLooks + 1;
    timers
      .setTimeout(() => {
        if (this.#idleLooks < IDLE_LOOKS || this.#listeners.size > 0) return void this.#look(following);
        following.arrivals.close();
        this.#following = undefined;
      }, EVERY_MS)
      .unref();
  }

  async #event({ arrivals, counts }: Following): Promise<LiveEvent> {
    const { directory } = this.#archive;
    try {
      await arrivals.look(timers.wallMs() - SECONDS * 1000, (request) => counts.add(request, timers.wallMs()));
      const minute = counts.minute(timers.wallMs(), arrivals.sinceMs);
      if (minute.newest.length === 0 && !existsSync(directory)) return { waitsFor: directory };
      return { ...minute, damagedFiles: arrivals.damagedFiles };
    } catch (error) {
      return { error: (error as Error).message };
    }
  }
}

/** The routes of the view. */
export const liveRoutes = (archive: Archive): Route[] => {
  const feed = new LiveFeed(archive);
  return [
    {
      method: 'GET',
      path: ['ui', 'api', 'live'],
      isQuery: false,
      isEndless: true,
      handle: ({ response }) => feed.listen(response),
    },
  ];
};
