// `expectTraceShape`: a test fails when a trace does other work than the trace that was accepted. Works under any test runner: it throws an
// AssertionError, which vitest and node:test show as a difference of two trees. It must never write anything when it fails.
import { AssertionError } from 'node:assert';
import { fileURLToPath } from 'node:url';
import { SpanlineError } from '../base/errors.js';
import { escapeText } from '../base/text/escape-text.js';
import { drawShape, type ShapedSpan, type ShapeOptions, traceShape } from '../record/trace-shape.js';
import type { GoldShapes } from './shape-store.js';
import { keepShape, readShapes } from './shapes-file.js';

/** Options of {@link expectTraceShape}: `file` or `gold`, not both. */
export interface TraceShapeOptions extends ShapeOptions {
  /** What the trace is kept under, such as the operation that is tested. One line, at most 1,000 characters. */
  readonly name: string;
  /** A text file in the repository, made when it is missing. */
  readonly file?: string | URL;
  readonly gold?: GoldShapes;
  /** Accept what the trace is now. Default: whether the environment has `SPANLINE_UPDATE_SHAPES` set to anything but 0. */
  readonly update?: boolean;
}

/** The spans of one trace: finished spans, records, or what an archive gives; or what holds them. */
export type ShapedTrace = readonly ShapedSpan[] | { readonly spans: readonly ShapedSpan[] };

const MAX_NAME_LENGTH = 1000;

const bad = (message: string): SpanlineError =>
  new SpanlineError('ERR_SPANLINE_BAD_OPTIONS', `expectTraceShape: ${message}`);

const check = ({ name, file, gold, counts }: TraceShapeOptions): void => {
  const isName = typeof name === 'string' && name.trim() === name && name !== '' && name.length <= MAX_NAME_LENGTH;
  if (!isName || escapeText(name) !== name) throw bad(`name must be one line of 1 to ${MAX_NAME_LENGTH} characters`);
  if ((file === undefined) === (gold === undefined)) throw bad('give it a file or a Gold store to keep shapes in');
  if (counts !== undefined && counts !== 'exact' && counts !== 'ignore')
    throw bad(`counts must be exact or ignore, not ${escapeText(String(counts))}`);
};

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '' && value !== '0';

const isCI = (): boolean => isSet(process.env.CI) && process.env.CI !== 'false';

const fail = (message: string, actual: string, expected: string): never => {
  throw new AssertionError({
    message: `${message}\n\n${sideBySide(expected, actual)}`,
    actual,
    expected,
    operator: 'expectTraceShape',
  });
};

/** Both trees under each other, lines that only one has marked as in a patch: runners that draw no difference show at least this. */
const sideBySide = (expected: string, actual: string): string => {
  const count = (text: string): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const line of text.split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1);
    return counts;
  };
  const marked = (text: string, others: Map<string, number>, mark: string): string[] =>
    text.split('\n').map((line) => {
      const left = others.get(line) ?? 0;
      others.set(line, left - 1);
      return `${left > 0 ? ' ' : mark} ${line}`;
    });
  return ['accepted:', ...marked(expected, count(actual), '-'), 'now:', ...marked(actual, count(expected), '+')].join(
    '\n',
  );
};

const checkInFile = (file: string, name: string, drawn: string, update: boolean): void => {
  const accepted = readShapes(file).get(name);
  if (accepted === drawn) return;
  // A first run at somebody's desk accepts; a machine that tests must not accept for people.
  if (update || (accepted === undefined && !isCI())) {
    keepShape(file, name, drawn);
    return;
  }
  const remedy = 'If that is right, run the test with SPANLINE_UPDATE_SHAPES=1 and commit the file.';
  if (accepted === undefined) fail(`no shape of ${name} is kept in ${file}. ${remedy}`, drawn, '');
  else fail(`the trace ${name} has another shape than the one in ${file}. ${remedy}`, drawn, accepted);
};

/**
 * Expect a trace to have the shape that was accepted: the same names under the same parents, as many times; order and times do not count. Use it
 * in a test of an operation, under any runner, to notice a query that a loop now makes a hundred times (N+1) or a span that got lost. Shapes
 * are kept in a text `file` in the repository, whose first run at a desk accepts and whose first run with `CI` set fails, or as digests in a
 * `gold` store, where a new one is untriaged and fails until `spanline gold triage` or the page accepts it.
 *
 * Rejects with an `AssertionError` that holds both trees; with `ERR_SPANLINE_BAD_OPTIONS` for wrong options, `ERR_SPANLINE_SHAPES_FILE` for a
 * file that holds something else.
 *
 * @example
 * ```ts
 * import { mkdtemp } from 'node:fs/promises';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { flush, Span, setReporter } from 'spanline';
 * import { MemoryReporter } from 'spanline/exporters/memory';
 * import { expectTraceShape } from 'spanline/testing';
 *
 * const reporter = new MemoryReporter();
 * setReporter(reporter);
 * Span.root('GET /orders').end();
 * await flush();
 * const file = join(await mkdtemp(join(tmpdir(), 'shapes-')), 'orders.shapes');
 * await expectTraceShape(reporter.spans, { name: 'GET /orders', file, update: true });
 * await expectTraceShape(reporter.spans, { name: 'GET /orders', file });
 * ```
 */
export const expectTraceShape = async (trace: ShapedTrace, options: TraceShapeOptions): Promise<void> => {
  check(options);
  const { name, file, gold, counts, update = isSet(process.env.SPANLINE_UPDATE_SHAPES) } = options;
  const shape = traceShape('spans' in trace ? trace.spans : trace, { counts });
  const drawn = drawShape(shape, { counts });
  if (file !== undefined) {
    checkInFile(file instanceof URL ? fileURLToPath(file) : file, name, drawn, update);
    return;
  }
  const { store, commit, commitInfo } = gold as GoldShapes;
  const wrong = await store.checkShape({ name, digest: shape.digest, drawn, commit, commitInfo }, update);
  if (wrong !== undefined) throw new AssertionError({ message: wrong, actual: drawn, operator: 'expectTraceShape' });
};
