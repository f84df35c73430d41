// `expectTraceShape`: a test fails when a trace does other work than the trace that was accepted. Works under any test runner: it throws an
// AssertionError, which vitest and node:test show as a difference of two trees. It must never write anything when it fails.
//
// Where `expectTraceShape` keeps shapes that people triage: what it asks of a Gold store, which is the trace database's.
//
// Shapes that were accepted, as a text file beside the tests that people read in reviews: a line `== name`, then the tree, indented. A name that
// is not asked for stays as it is. Writing must leave the old file or the new one, never a part.

import { AssertionError } from 'node:assert';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SpanlineError } from '../base/errors.js';
import { runSync } from '../base/files/fs-steps.js';
import { isGone, writeWhole } from '../base/files/whole-file.js';
import { escapeText } from '../base/text/escape-text.js';
import { drawShape, type ShapedSpan, type ShapeOptions, traceShape } from './trace-shape.js';

/** A shape at a commit, to be kept under the name of a test. */
export interface KeptShape {
  readonly name: string;
  /** Of the whole tree. */
  readonly digest: string;
  /** The tree as text. */
  readonly drawn: string;
  /** Number of the commit, 0 for the first of the store. */
  readonly commit: number;
  readonly commitInfo?: { readonly hash: string; readonly timestampMs?: number };
}

/** A store of shapes, such as `GoldStore`. */
export interface ShapeStore {
  /** Puts the shape. Undefined when it was accepted, or is with `accepts`; else the message for the developer. */
  checkShape(shape: KeptShape, accepts: boolean): Promise<string | undefined>;
}

/** Where shapes go. */
export interface GoldShapes {
  readonly store: ShapeStore;
  /** Number of the commit that is tested, 0 for the first of the store. */
  readonly commit: number;
  /** Its hash, and when it was made: Unix milliseconds. */
  readonly commitInfo?: KeptShape['commitInfo'];
}

const HEAD = `# Shapes of traces, kept by expectTraceShape of spanline/testing. To accept changes, run the tests with SPANLINE_UPDATE_SHAPES=1.
`;
const MARK = '== ';
const INDENT = '  ';

const parse = (text: string, file: string): Map<string, string> => {
  const shapes = new Map<string, string>();
  let lines: string[] | undefined;
  let name = '';
  const end = (): void => {
    if (lines !== undefined) shapes.set(name, lines.join('\n'));
  };
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.startsWith(MARK)) {
      end();
      [name, lines] = [line.slice(MARK.length), []];
    } else if (lines !== undefined && line.startsWith(INDENT)) {
      lines.push(line.slice(INDENT.length));
    } else if (line.trim() !== '' && !line.startsWith('#')) {
      throw new SpanlineError(
        'ERR_SPANLINE_SHAPES_FILE',
        `${file}, line ${i + 1}: neither "${MARK}name" nor an indented line of a shape; mend it or delete the file and run the tests with SPANLINE_UPDATE_SHAPES=1`,
      );
    }
  }
  end();
  return shapes;
};

/** The shapes in a file by their names; none when there is no file. Throws `ERR_SPANLINE_SHAPES_FILE` for one that is no such file. */
export const readShapes = (file: string): Map<string, string> => {
  try {
    return parse(readFileSync(file, 'utf8'), file);
  } catch (error) {
    if (isGone(error)) return new Map();
    throw error;
  }
};

/** Keep a shape under a name. Reads the file anew: tests of one process may take turns. */
export const keepShape = (file: string, name: string, drawn: string): void => {
  const shapes = readShapes(file).set(name, drawn);
  const parts = [...shapes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([each, text]) => `\n${MARK}${each}\n${text.replace(/^/gm, INDENT)}\n`);
  runSync(writeWhole(file, [Buffer.from(HEAD + parts.join(''))], { makesDirectory: true }));
};

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
