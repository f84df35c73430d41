// A profile as pprof, the format of Go's tools, Pyroscope and most others: labels are labels of samples there, so that stacks are
// the same with labels and without. Must not lose CPU time to rounding: only sums are rounded. Users' declarations must not refer to
// this file: they may not have the package it names.

import { gzipSync } from 'node:zlib';
import { getOrMake } from 'spanline/internal/base';
import { frameAt, stackOf } from '../call-tree.js';
import type { LabelledProfile } from '../labelled-profile.js';
import { stackWeights } from './label-text.js';
import type { PprofOptions } from './pprof-options.js';

/** The package `pprof-format`, loaded. */
export type PprofPackage = Pick<typeof import('pprof-format'), 'Profile' | 'StringTable'>;

interface PprofLine {
  readonly functionId: number;
  readonly line: number;
  readonly column: number;
}

interface PprofLabel {
  readonly key: number;
  readonly str?: number;
  readonly num?: number;
  readonly numUnit?: number;
}

const UNIT_OF_SUFFIX: readonly (readonly [RegExp, string])[] = [
  [/(?:[._-]|^)bytes$|Bytes$/, 'bytes'],
  [/(?:[._-]|^)ns$|Ns$/, 'nanoseconds'],
  [/(?:[._-]|^)us$|Us$/, 'microseconds'],
  [/(?:[._-]|^)ms$|Ms$/, 'milliseconds'],
];

const unitOf = (key: string, units: Readonly<Record<string, string>>): string =>
  Object.hasOwn(units, key) ? units[key] : (UNIT_OF_SUFFIX.find(([suffix]) => suffix.test(key))?.[1] ?? '');

/** Begins the comment that says of the profile what the format has no fields for. */
export const COMMENT_PREFIX = 'spanline ';

const commentOf = ({ carrier, unit, threadId, counts }: LabelledProfile): string =>
  COMMENT_PREFIX +
  Object.entries({ carrier, unit, threadId, ...counts })
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');

/** Locations and functions of the frames that are used, each once. */
class FrameTable {
  readonly location: { id: number; mappingId: number; line: PprofLine[] }[] = [];
  readonly function: { id: number; name: number; systemName: number; filename: number; startLine: number }[] = [];
  readonly #ids = new Map<string, number>();

  readonly #nodes: LabelledProfile['nodes'];
  readonly #text: (text: string) => number;

  constructor(nodes: LabelledProfile['nodes'], text: (text: string) => number) {
    this.#nodes = nodes;
    this.#text = text;
  }

  idOf(row: number): number {
    const { functionName, url, line, column } = frameAt(this.#nodes, row);
    const name = this.#text(functionName === '' ? '(anonymous)' : functionName);
    const filename = this.#text(url);
    return getOrMake(this.#ids, `${name}:${filename}:${line}:${column}`, () => {
      const id = this.#ids.size + 1;
      this.function.push({ id, name, systemName: name, filename, startLine: line });
      this.location.push({ id, mappingId: 1, line: [{ functionId: id, line, column }] });
      return id;
    });
  }
}

/** As `toPprof`, with the package at hand: for places where nothing can be awaited. */
export const encodePprof = (
  { Profile, StringTable }: PprofPackage,
  profile: LabelledProfile,
  { units = {}, program = 'node' }: PprofOptions = {},
): Uint8Array => {
  const { nodes, labels } = profile;
  const stringTable = new StringTable();
  const text = (value: string): number => stringTable.dedup(value);
  const frames = new FrameTable(nodes, text);
  const stacks = new Map<number, number[]>();
  const locationsOf = (node: number): number[] =>
    getOrMake(stacks, node, () =>
      stackOf(nodes, node)
        .map((row) => frames.idOf(row))
        .reverse(),
    );
  const labelOf = (key: string, value: string | number): PprofLabel[] => {
    // The format cannot tell empty text from the number 0; no label says the same.
    if (value === '') return [];
    if (typeof value === 'number' && Number.isSafeInteger(value)) {
      const unit = unitOf(key, units);
      return [{ key: text(key), num: value, ...(unit === '' ? {} : { numUnit: text(unit) }) }];
    }
    return [{ key: text(key), str: text(String(value)) }];
  };
  const labelRows = new Map<number, PprofLabel[]>();
  const labelsOf = (row: number): PprofLabel[] =>
    getOrMake(labelRows, row, () => Object.entries(labels[row]).flatMap(([key, value]) => labelOf(key, value)));
  const cpu = { type: text(profile.measure ?? 'cpu'), unit: text('nanoseconds') };
  const sample = stackWeights(profile).map(({ node, label, samples, cpuNs }) => ({
    locationId: locationsOf(node),
    value: [samples, Math.round(cpuNs)],
    label: labelsOf(label),
  }));
  const encoded = new Profile({
    sampleType: [{ type: text('samples'), unit: text('count') }, cpu],
    sample,
    // Says that there is nothing to look up: pprof would search for the binary.
    mapping: [
      {
        id: 1,
        filename: text(program),
        hasFunctions: true,
        hasFilenames: true,
        hasLineNumbers: true,
        hasInlineFrames: true,
      },
    ],
    location: frames.location,
    function: frames.function,
    timeNanos: profile.startUnixNs,
    durationNanos: Math.round(profile.endNs - profile.startNs),
    periodType: cpu,
    period: Math.round(profile.intervalNs),
    defaultSampleType: cpu.type,
    comment: [text(commentOf(profile))],
    stringTable,
  }).encode();
  return gzipSync(encoded);
};
