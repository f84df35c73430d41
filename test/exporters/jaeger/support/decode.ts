// Decodes what the Jaeger exporter sent with thriftrw and the agent.thrift and jaeger.thrift that ship in jaeger-client.
// Independent of our encoder: it shares no code with it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compactToBinary } from './compact-to-binary.js';

const require = createRequire(import.meta.url);
const { Thrift } = require('thriftrw');
const clientRoot = join(dirname(require.resolve('jaeger-client/package.json')), 'dist', 'src');

const agent = new Thrift({
  entryPoint: join(clientRoot, 'thriftrw-idl', 'agent.thrift'),
  allowFilesystemAccess: true,
  allowOptionalArguments: true,
});
const jaeger = new Thrift({
  source: readFileSync(join(clientRoot, 'jaeger-idl', 'thrift', 'jaeger.thrift'), 'ascii'),
  allowOptionalArguments: true,
});

export type TagValue = string | number | bigint | boolean;
export type DecodedTag = readonly [key: string, type: string, value: TagValue];

export interface DecodedSpan {
  traceIdHigh: bigint;
  traceIdLow: bigint;
  spanId: bigint;
  parentSpanId: bigint;
  operationName: string;
  flags: number;
  startTime: bigint;
  duration: bigint;
  references: { refType: string; traceIdHigh: bigint; traceIdLow: bigint; spanId: bigint }[];
  tags: DecodedTag[];
  logs: { timestamp: bigint; fields: DecodedTag[] }[];
}

export interface DecodedBatch {
  serviceName: string;
  processTags: DecodedTag[];
  spans: DecodedSpan[];
}

const VALUE_FIELD: Readonly<Record<string, string>> = {
  STRING: 'vStr',
  DOUBLE: 'vDouble',
  BOOL: 'vBool',
  LONG: 'vLong',
};

// biome-ignore lint/suspicious/noExplicitAny: thriftrw makes its classes at run time
type Raw = any;

const int64 = (bytes: Buffer): bigint => bytes.readBigInt64BE();

/** Requires that exactly the value field that the type names is set. */
const toTag = (raw: Raw): DecodedTag => {
  const field = VALUE_FIELD[raw.vType];
  const set = ['vStr', 'vDouble', 'vBool', 'vLong', 'vBinary'].filter((name) => raw[name] != null);
  if (set.length !== 1 || set[0] !== field) throw new Error(`tag ${raw.key} of type ${raw.vType} has ${set}`);
  return [raw.key, raw.vType, field === 'vLong' ? int64(raw.vLong) : raw[field]];
};

const toSpan = (raw: Raw): DecodedSpan => ({
  traceIdHigh: int64(raw.traceIdHigh),
  traceIdLow: int64(raw.traceIdLow),
  spanId: int64(raw.spanId),
  parentSpanId: int64(raw.parentSpanId),
  operationName: raw.operationName,
  flags: raw.flags,
  startTime: int64(raw.startTime),
  duration: int64(raw.duration),
  references: (raw.references ?? []).map((ref: Raw) => ({
    refType: ref.refType,
    traceIdHigh: int64(ref.traceIdHigh),
    traceIdLow: int64(ref.traceIdLow),
    spanId: int64(ref.spanId),
  })),
  tags: (raw.tags ?? []).map(toTag),
  logs: (raw.logs ?? []).map((log: Raw) => ({ timestamp: int64(log.timestamp), fields: log.fields.map(toTag) })),
});

const toBatch = (raw: Raw): DecodedBatch => ({
  serviceName: raw.process.serviceName,
  processTags: (raw.process.tags ?? []).map(toTag),
  spans: raw.spans.map(toSpan),
});

/** Body of a POST to /api/traces: a bare `struct Batch`. */
export const decodeHttpBody = (body: Buffer): DecodedBatch => {
  const { Batch } = jaeger;
  const result = Batch.rw.readFrom(body, 0);
  if (result.err) throw result.err;
  if (result.offset !== body.length) throw new Error(`${body.length - result.offset} bytes behind the batch`);
  return toBatch(result.value);
};

/** A packet to UDP port 6832: the one-way call `Agent.emitBatch`. */
export const decodeBinaryPacket = (packet: Buffer): DecodedBatch => {
  const result = agent.Agent.emitBatch.argumentsMessageRW.readFrom(packet, 0);
  if (result.err) throw result.err;
  const { name, type, version, body } = result.value;
  if (name !== 'emitBatch' || type !== 'ONEWAY' || version !== 1) throw new Error(`wrong call: ${type} ${name}`);
  if (result.offset !== packet.length) throw new Error(`${packet.length - result.offset} bytes behind the call`);
  return toBatch(body.batch);
};

/** A packet to UDP port 6831: the same call in the compact protocol. */
export const decodeCompactPacket = (packet: Buffer): DecodedBatch => decodeBinaryPacket(compactToBinary(packet));
