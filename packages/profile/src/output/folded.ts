// Folded stacks, one a line: `[query=q1];outer (file:1:2);inner 1200`, the weight in nanoseconds or samples; written, and read back: ours, with their
// labels, and those of other tools as plain stacks. What a name holds of the separators is escaped, so that every line reads back as it was; numbers
// of labels come back as text.
import { escapeCharacter, getOrMake, UNSAFE } from 'spanline/internal/base';
import { type Frame, frameAt, stackOf } from '../call-tree.js';
import { type LabelledProfile, type LabelRecord, recordFrom } from '../labelled-profile.js';
import { notReadable, ProfileDraft } from './profile-draft.js';
import { stackWeights } from './select-labels.js';

export interface FoldedOptions {
  /** What a line's number counts. Default `ns`: CPU time in nanoseconds. */
  readonly weight?: 'ns' | 'samples';
}

const escaped = (text: string, unsafe: RegExp): string =>
  text.replace(unsafe, (found) => (found === '\\' ? '\\\\' : escapeCharacter(found)));

// Between frames stands a semicolon, between stacks a line break; a frame that begins with a bracket is a label.
const ANYWHERE = new RegExp(`[\\\\;${UNSAFE}]`, 'gu');
const IN_NAME = new RegExp(`[\\\\;${UNSAFE}]|^\\[|(?<= )\\(`, 'gu');
const IN_KEY = new RegExp(`[\\\\;=${UNSAFE}]`, 'gu');

const foldedFrame = ({ functionName, url, line, column }: Frame): string => {
  const name = functionName === '' ? '(anonymous)' : escaped(functionName, IN_NAME);
  return url === '' && line <= 0 ? name : `${name} (${escaped(url, ANYWHERE)}:${line}:${column})`;
};

const foldedLabels = (record: LabelRecord): string[] =>
  Object.entries(record).map(([key, value]) => `[${escaped(key, IN_KEY)}=${escaped(String(value), ANYWHERE)}]`);

/**
 * The profile as folded stacks: a line a stack, outermost frame first, label keys before it, then the weight.
 *
 * For flame graph scripts, `grep` and `sort`. Idle time is left out.
 *
 * @example
 * ```ts
 * import { profile, toFolded } from '@spanline/profile';
 * process.stdout.write(toFolded(await profile({ durationMs: 20 })));
 * ```
 */
export const toFolded = (profile: LabelledProfile, { weight = 'ns' }: FoldedOptions = {}): string => {
  const { nodes, labels } = profile;
  const frames = new Map<number, string>();
  const frameText = (row: number): string => getOrMake(frames, row, () => foldedFrame(frameAt(nodes, row)));
  const lines = stackWeights(profile).map(({ node, label, samples, cpuNs }) => {
    const stack = [...foldedLabels(labels[label]), ...stackOf(nodes, node).map(frameText)].join(';');
    return `${stack} ${weight === 'ns' ? Math.round(cpuNs) : samples}\n`;
  });
  return lines.join('');
};

const INTERVAL_NS = 1_000_000;

const ESCAPE = /\\(?:\\|x([0-9a-f]{2})|u([0-9a-f]{4})|u\{((?:10|[1-9a-f])[0-9a-f]{4})\})/g;

const unescaped = (text: string): string =>
  text.replace(ESCAPE, (_, ...digits: (string | undefined)[]) => {
    const code = digits[0] ?? digits[1] ?? digits[2];
    return code === undefined ? '\\' : String.fromCodePoint(Number.parseInt(code, 16));
  });

// No name holds ` (` but before the place of the function.
const PLACED = /^((?:(?! \().)*) \((.*):(\d+):(\d+)\)$/su;

const frameOf = (text: string): Frame => {
  const [, name, url, line, column] = PLACED.exec(text) ?? [undefined, text, '', 0, 0];
  const functionName = name === '(anonymous)' ? '' : unescaped(name);
  return { functionName, url: unescaped(url), line: Number(line), column: Number(column) };
};

const LABEL = /^\[([^=]*)=(.*)\]$/s;

const LINE = /^(.*) (\d+)$/s;

/** Text of folded stacks; each line is a sample of its weight in nanoseconds. */
export const readFolded = (text: string): LabelledProfile => {
  const draft = new ProfileDraft();
  let totalNs = 0;
  text.split('\n').forEach((line, i) => {
    if (line.trim() === '') return;
    const [, stack, weight] = LINE.exec(line.replace(/\r$/, '')) ?? [];
    if (stack === undefined) throw notReadable(`line ${i + 1} does not end in a number, as folded stacks do`);
    const parts = stack.split(';');
    const labels: (readonly [string, string])[] = [];
    let first = 0;
    for (let label = LABEL.exec(parts[0]); label !== null; label = LABEL.exec(parts[++first] ?? '')) {
      labels.push([unescaped(label[1]), unescaped(label[2])]);
    }
    const place = draft.place(parts.slice(first).map(frameOf));
    const ns = Number(weight);
    if (!Number.isSafeInteger(ns)) throw notReadable(`line ${i + 1} has the weight ${weight}, larger than 2^53`);
    const times = Math.max(1, Math.round(ns / INTERVAL_NS));
    draft.add(place, draft.labelRow(recordFrom(labels)), 0, ns / times, times);
    totalNs += ns;
  });
  return draft.finishUntimed({
    startNs: 0,
    endNs: totalNs,
    startUnixNs: 0n,
    unit: 'cpu',
    intervalNs: INTERVAL_NS,
    carrier: 'trampoline',
    threadId: 0,
  });
};
