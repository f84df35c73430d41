// The readers of examples/, which import nothing of src/, and what they give in the form of src/ to be compared.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ArchivedDouble, type ArchivedSpan } from '../../../src/archive/index.js';

/** A graph file as the example reads it. */
export interface ExampleGraph {
  readonly notes: Readonly<Record<string, string>>;
  readonly graphs: readonly {
    readonly nodes: readonly {
      readonly key: Buffer;
      readonly value?: Buffer;
      readonly references: readonly (readonly Buffer[])[];
    }[];
    readonly ghosts: readonly Buffer[];
  }[];
}

const EXAMPLES = join(import.meta.dirname, '../../../examples');
const { readFormat } = (await import(pathToFileURL(join(EXAMPLES, 'read-formats.mjs')).href)) as {
  readFormat(bytes: Buffer): unknown;
};

/** The example has no class for a double that is a whole number. */
const isDouble = (value: object): value is { double: number } =>
  Object.keys(value).length === 1 && typeof (value as { double?: unknown }).double === 'number';

const inOurForm = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(inOurForm);
  if (isDouble(value)) return new ArchivedDouble(value.double);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inOurForm(item)]));
};

/** The spans of a segment or a write-ahead file. */
export const exampleSpans = (bytes: Buffer): ArchivedSpan[] => inOurForm(readFormat(bytes)) as ArchivedSpan[];

export const exampleGraph = (bytes: Buffer): ExampleGraph => readFormat(bytes) as ExampleGraph;
