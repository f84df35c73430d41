// The reader of examples/, which imports nothing of src/, and what it shows of spans, told by what the library reads.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ArchivedDouble, type ArchivedSpan } from '../../../packages/archive/src/index.js';

/** A graph as the example reads it. */
export interface ExampleGraph {
  readonly nodes: readonly {
    readonly key: Buffer;
    readonly value?: Buffer;
    readonly references: readonly (readonly Buffer[])[];
  }[];
  readonly ghosts: readonly Buffer[];
}

/** What the example shows of a span; it has no class for a double that is a whole number. */
export interface ExampleSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly start: bigint;
  readonly duration: bigint;
  readonly service: unknown;
  readonly properties: object;
}

const EXAMPLE = join(import.meta.dirname, '../../../examples/read-formats.mjs');
const { readFormat } = (await import(pathToFileURL(EXAMPLE).href)) as { readFormat(bytes: Buffer): unknown };

const withPlainDoubles = (value: unknown): unknown => {
  if (value instanceof ArchivedDouble) return value.value;
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(withPlainDoubles);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withPlainDoubles(item)]));
};

/** What the example must show of spans that the library read. */
export const shownSpans = (spans: readonly ArchivedSpan[]): ExampleSpan[] =>
  spans.map(({ traceId, spanId, parentSpanId, name, startUnixNs, endUnixNs, resource, properties }) => ({
    traceId,
    spanId,
    parentSpanId,
    name,
    start: startUnixNs,
    duration: endUnixNs - startUnixNs,
    service: withPlainDoubles(resource.properties['service.name']),
    properties: withPlainDoubles(properties) as object,
  }));

/** The spans of a segment or a write-ahead file. */
export const exampleSpans = (bytes: Buffer): ExampleSpan[] => readFormat(bytes) as ExampleSpan[];

export const exampleGraphs = (bytes: Buffer): ExampleGraph[] => readFormat(bytes) as ExampleGraph[];
