// Folded stacks, one a line: `[query=q1];outer (file:1:2);inner 1200`, the weight in nanoseconds or samples. What a name holds of the
// separators is escaped, so that every line reads back as it was.
import { escapeCharacter, getOrMake, UNSAFE } from 'spanline/internal/base';
import { type Frame, frameAt, stackOf } from '../call-tree.js';
import type { LabelledProfile, LabelRecord } from '../labelled-profile.js';
import { stackWeights } from './stack-weights.js';

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

export const foldedFrame = ({ functionName, url, line, column }: Frame): string => {
  const name = functionName === '' ? '(anonymous)' : escaped(functionName, IN_NAME);
  return url === '' && line <= 0 ? name : `${name} (${escaped(url, ANYWHERE)}:${line}:${column})`;
};

export const foldedLabels = (record: LabelRecord): string[] =>
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
