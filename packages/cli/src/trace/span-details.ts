// The lines below a span: why it failed, its events, and in full also its properties and links. Bounded for each span, and what is left out
// is said.

import { shortText } from 'spanline/internal/base';
import {
  type Extent,
  formatDuration,
  formatLink,
  formatPairs,
  type Glyphs,
  type Palette,
  sinceStart,
} from 'spanline/internal/formats';
import type { FinishedSpan } from 'spanline/internal/record';

/** Lines of a span's events, properties or links. */
const SHORT_LINES = 5;
const FULL_LINES = 50;
const PAIRS = 20;

/** A line without colours, and its colour. */
export interface DetailLine {
  readonly text: string;
  readonly style: keyof Palette;
}

/** A line for each of the first, and one that counts the rest. */
const some = (
  count: number,
  limit: number,
  what: string,
  { more }: Glyphs,
  draw: (i: number) => DetailLine,
): DetailLine[] => {
  const lines = Array.from({ length: Math.min(count, limit) }, (_, i) => draw(i));
  const left = count - lines.length;
  return left === 0 ? lines : [...lines, { text: `${more} ${left} more ${what}`, style: 'dim' }];
};

const aboutSpan = ({ spanId, kind, scope, traceState }: FinishedSpan, glyphs: Glyphs): DetailLine => {
  const parts = [
    `span ${spanId}`,
    kind === 'unspecified' ? '' : kind,
    scope.name === '' ? '' : shortText(`${scope.name} ${scope.version}`.trim()),
    traceState === '' ? '' : `tracestate ${shortText(traceState)}`,
  ];
  return { text: parts.filter((part) => part !== '').join(` ${glyphs.dot} `), style: 'dim' };
};

/** The lines below a span, `note` the first; `isFull`: everything there is, else only what went wrong and what happened. */
export const detailsOf = (
  span: FinishedSpan,
  extent: Extent,
  isFull: boolean,
  glyphs: Glyphs,
  note = '',
): DetailLine[] => {
  const { statusCode, statusMessage, properties, eventCount, linkCount } = span;
  const limit = isFull ? FULL_LINES : SHORT_LINES;
  const lines: DetailLine[] = note === '' ? [] : [{ text: shortText(note, 500), style: 'cyan' }];
  if (statusMessage !== '')
    lines.push({
      text: `${glyphs.error} ${shortText(statusMessage, 500)}`,
      style: statusCode === 'error' ? 'red' : 'dim',
    });
  if (isFull) {
    const pairs = formatPairs(properties, limit);
    lines.push(
      aboutSpan(span, glyphs),
      ...some(properties.size, limit, 'properties', glyphs, (i) => ({ text: pairs[i], style: 'dim' })),
    );
  }
  lines.push(
    ...some(eventCount, limit, 'events', glyphs, (i) => {
      const { name, timeUnixNs, properties: own } = span.event(i);
      const at = sinceStart(timeUnixNs, extent);
      const pairs = isFull || name === 'exception' ? formatPairs(own, PAIRS) : [];
      const time = `${at < 0 ? '-' : '+'}${formatDuration(Math.abs(at), glyphs)}`;
      return { text: [glyphs.event, time, shortText(name), ...pairs].join(' '), style: 'yellow' };
    }),
  );
  if (isFull) {
    const draw = (i: number): DetailLine => ({
      text: `${glyphs.link} ${formatLink(span.link(i), PAIRS)}`,
      style: 'dim',
    });
    lines.push(...some(linkCount, limit, 'links', glyphs, draw));
  }
  return lines;
};
