// The lines below a span: why it failed, its events, and in full also its properties and links. Bounded for each span, and what is left out
// is said.

import { shortText } from '../../../base/text/escape-text.js';
import type { ArchivedSpan } from '../../../trace/archived-span.js';
import type { Palette } from '../palette.js';
import { formatDuration } from '../units.js';
import { type Extent, sinceStart } from './bar.js';
import type { Glyphs } from './glyphs.js';
import { formatPairs } from './values.js';

/** Lines of a span's events, properties or links. */
const SHORT_LINES = 5;
const FULL_LINES = 50;
const PAIRS = 20;

/** A line without colours, and its colour. */
export interface DetailLine {
  readonly text: string;
  readonly style: keyof Palette;
}

const some = <T>(all: readonly T[], limit: number, what: string, glyphs: Glyphs, draw: (one: T) => DetailLine) => {
  const lines = all.slice(0, limit).map(draw);
  const left = all.length - lines.length;
  return left === 0 ? lines : [...lines, { text: `${glyphs.more} ${left} more ${what}`, style: 'dim' } as const];
};

const aboutSpan = ({ spanId, kind, scope, traceState }: ArchivedSpan, glyphs: Glyphs): DetailLine => {
  const parts = [
    `span ${spanId}`,
    kind === 'unspecified' ? '' : kind,
    scope.name === '' ? '' : shortText(`${scope.name} ${scope.version}`.trim()),
    traceState === '' ? '' : `tracestate ${shortText(traceState)}`,
  ];
  return { text: parts.filter((part) => part !== '').join(` ${glyphs.dot} `), style: 'dim' };
};

/** The lines below a span; `isFull`: everything there is, else only what went wrong and what happened. */
export const detailsOf = (span: ArchivedSpan, extent: Extent, isFull: boolean, glyphs: Glyphs): DetailLine[] => {
  const { status, events, links, properties } = span;
  const limit = isFull ? FULL_LINES : SHORT_LINES;
  const lines: DetailLine[] = [];
  if (status.message !== '')
    lines.push({
      text: `${glyphs.error} ${shortText(status.message, 500)}`,
      style: status.code === 'error' ? 'red' : 'dim',
    });
  if (isFull) {
    lines.push(aboutSpan(span, glyphs));
    const pairs = formatPairs(properties, FULL_LINES);
    const left = Object.keys(properties).length - pairs.length;
    for (const text of pairs) lines.push({ text, style: 'dim' });
    if (left > 0) lines.push({ text: `${glyphs.more} ${left} more properties`, style: 'dim' });
  }
  lines.push(
    ...some(events, limit, 'events', glyphs, ({ name, timeUnixNs, properties: own }) => {
      const at = sinceStart(timeUnixNs, extent);
      const pairs = isFull || name === 'exception' ? formatPairs(own, PAIRS) : [];
      const time = `${at < 0 ? '-' : '+'}${formatDuration(Math.abs(at))}`;
      return { text: [glyphs.event, time, shortText(name), ...pairs].join(' '), style: 'yellow' };
    }),
  );
  if (isFull) {
    lines.push(
      ...some(links, limit, 'links', glyphs, ({ traceId, spanId, properties: own }) => ({
        text: [glyphs.link, `${traceId}/${spanId}`, ...formatPairs(own, PAIRS)].join(' '),
        style: 'dim',
      })),
    );
  }
  return lines;
};
