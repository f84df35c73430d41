// The one helper that renders any set of spans as an indented text tree, for tests and for people.
// It shows names and parentage only: nothing that differs from run to run may get in.

import { shortText } from '../../base/text/escape-text.js';
import type { SpanRecord } from '../../record/record.js';
import { spanForest, walkTree } from '../../record/tree.js';

/** Deeper levels are not indented further but numbered, so that a 20,000-deep tree stays readable and small. */
const MAX_INDENT = 100;

/**
 * Renders spans as a tree of names, two spaces a level, siblings sorted by start. Use it to compare a whole result in a
 * test. A span whose parent is not among `spans` is a root marked `(parent missing)`; below level 100 a line shows its
 * level in brackets instead of more spaces.
 *
 * @example
 * ```ts
 * const [root, collector] = Span.rootWithCollector('GET /query');
 * root.run(() => trace('parse', () => {}));
 * root.end();
 * console.assert(spanTree(await collector.collect()) === 'GET /query\n  parse');
 * ```
 */
export const spanTree = (spans: readonly SpanRecord[]): string => {
  const lines: string[] = [];
  walkTree(spanForest(spans), ({ span, isOrphan }, depth) => {
    const indent = depth <= MAX_INDENT ? '  '.repeat(depth) : `${'  '.repeat(MAX_INDENT)}[${depth}] `;
    lines.push(indent + shortText(span.name) + (isOrphan && !span.hasRemoteParent ? ' (parent missing)' : ''));
    return true;
  });
  return lines.join('\n');
};
