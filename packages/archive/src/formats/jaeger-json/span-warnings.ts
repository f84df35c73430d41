// What Jaeger remarks on the spans of a trace when it shows them: parents that are not there, and times of children that do not fit into
// their parents', which it would move if it was told to. Only words: no time is ever changed here.
import { getOrMake } from 'spanline/internal/base';
import { jaegerKeys } from 'spanline/internal/formats';
import { type ArchivedProperties, type ArchivedSpan, propertyOf } from 'spanline/internal/record';
import { shownParent } from './references.js';

/** Remarks that came with a span. */
export const keptWarnings = (properties: ArchivedProperties): readonly string[] =>
  jaegerKeys.warningsIn(propertyOf(properties, jaegerKeys.WARNINGS));

interface Skew {
  readonly host: string;
  readonly deltaNs: bigint;
}

/** Where a span ran: the tag "ip" of its process. */
const hostOf = ({ resource }: ArchivedSpan): string => {
  const ip = propertyOf(resource.properties, 'ip');
  return typeof ip === 'string' || typeof ip === 'number' ? String(ip) : '';
};

/** How far a child would have to be moved to lie in its parent, as long before its end as behind its start. */
const skewOf = (child: ArchivedSpan, parent: ArchivedSpan): bigint => {
  const childNs = child.endUnixNs - child.startUnixNs;
  const parentNs = parent.endUnixNs - parent.startUnixNs;
  // It went on by itself: all that is sure is which came first.
  if (childNs > parentNs) return child.startUnixNs < parent.startUnixNs ? parent.startUnixNs - child.startUnixNs : 0n;
  if (child.startUnixNs >= parent.startUnixNs && child.endUnixNs <= parent.endUnixNs) return 0n;
  return parent.startUnixNs + (parentNs - childNs) / 2n - child.startUnixNs;
};

const fraction = (value: bigint, digits: number): string => {
  const unit = 10n ** BigInt(digits);
  const rest = String(value % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return `${value / unit}${rest === '' ? '' : `.${rest}`}`;
};

const positive = (ns: bigint): string => {
  if (ns < 1000n) return `${ns}ns`;
  if (ns < 1_000_000n) return `${fraction(ns, 3)}µs`;
  if (ns < 1_000_000_000n) return `${fraction(ns, 6)}ms`;
  const minutes = ns / 60_000_000_000n;
  const seconds = `${fraction(ns % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
};

/** As Go prints it: "1h2m3.5s", "-1.5ms", "250ns". */
const goDuration = (ns: bigint): string => {
  if (ns === 0n) return '0s';
  return ns < 0n ? `-${positive(-ns)}` : positive(ns);
};

/** Remarks by span; a span without any is left out. */
export const warningsOf = (spans: readonly ArchivedSpan[]): ReadonlyMap<ArchivedSpan, readonly string[]> => {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const children = new Map<ArchivedSpan, ArchivedSpan[]>();
  const warnings = new Map<ArchivedSpan, readonly string[]>();
  const add = (span: ArchivedSpan, text: string): void => {
    const known = warnings.get(span) ?? keptWarnings(span.properties);
    warnings.set(span, known.includes(text) ? known : [...known, text]);
  };
  const waiting: (readonly [span: ArchivedSpan, skew: Skew])[] = [];
  for (const span of spans) {
    if (keptWarnings(span.properties).length > 0) warnings.set(span, keptWarnings(span.properties));
    const parentSpanId = shownParent(span);
    const parent = byId.get(parentSpanId);
    if (parent === undefined) {
      waiting.push([span, { host: hostOf(span), deltaNs: 0n }]);
      if (parentSpanId !== '') add(span, `invalid parent span IDs=${parentSpanId}; skipping clock skew adjustment`);
      continue;
    }
    getOrMake(children, parent, () => []).push(span);
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [parent, skew] = next;
    for (const span of children.get(parent) ?? []) {
      const host = hostOf(span);
      // On the host of its parent a span has the same clock.
      const own: Skew = host !== skew.host || host === '' ? { host, deltaNs: skewOf(span, parent) } : skew;
      if (own.deltaNs !== 0n)
        add(span, `clock skew adjustment disabled; not applying calculated delta of ${goDuration(own.deltaNs)}`);
      waiting.push([span, own]);
    }
  }
  return warnings;
};
