// Reads folded stacks back: ours, with their labels, and those of other tools as plain stacks. Numbers of labels come back as text.

import type { Frame } from '../call-tree.js';
import { recordFrom } from '../label-rows.js';
import type { LabelledProfile } from '../labelled-profile.js';
import { notReadable, ProfileDraft } from './profile-draft.js';

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
