// The timeline of this process in the archive beside its traces: what the page and the command tell from who had the event loop. With SPANLINE_ARCHIVE
// `spanline/register` does this; the demo opens its archive by itself.

import type { Archive } from '@spanline/archive';
import type { ReportBatch, Reporter } from 'spanline';
import { monitorEventLoop } from 'spanline/flight-recorder';

const SECOND_MS = 1000;

/** A reporter that keeps the timeline, second by second: it is that of whoever made the spans. */
export class TimelineWriter implements Reporter {
  readonly name = 'timeline';
  readonly #archive: Archive;
  readonly #timeline = monitorEventLoop();
  readonly #timer = setInterval(() => this.#keep(), SECOND_MS).unref();
  #properties: Record<string, unknown> | undefined;
  #fromUs = Date.now() * 1000;

  constructor(archive: Archive) {
    this.#archive = archive;
  }

  report({ resource: { serviceName, attributes } }: ReportBatch): void {
    this.#properties ??= { 'service.name': serviceName, ...attributes };
  }

  /** Before the archive is closed. */
  stop(): void {
    clearInterval(this.#timer);
    this.#keep();
    this.#timeline.stop();
  }

  #keep(): void {
    if (this.#properties === undefined) return;
    const toUs = Date.now() * 1000;
    const rows = this.#timeline.rows(this.#fromUs).filter(({ endUs }) => endUs <= toUs);
    this.#archive.appendTimeline(rows, { properties: this.#properties as Record<string, string> }, this.#fromUs, toUs);
    this.#fromUs = toUs;
  }
}
