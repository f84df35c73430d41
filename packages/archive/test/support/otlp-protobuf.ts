// OTLP trace requests in protobuf, written by protobufjs from OTLP/JSON: independent of the reader under test.
import { otlpMessages } from '../../../../test/support/otlp-messages.js';

const IDS = new Set(['traceId', 'spanId', 'parentSpanId']);

/** Hex ids as bytes; all else protobufjs reads as JSON has it. */
const reviveIds = (key: string, value: unknown): unknown => {
  if (IDS.has(key)) return Buffer.from(value as string, 'hex');
  return key === 'doubleValue' ? Number(value) : value;
};

/** The protobuf form of an OTLP/JSON document. */
export const toProtobuf = (json: string): Buffer => {
  const type = otlpMessages.lookupType('Request');
  return Buffer.from(type.encode(type.fromObject(JSON.parse(json, reviveIds))).finish());
};

/** A message of an answer. */
export const decodeMessage = (name: 'Response' | 'RpcStatus', bytes: Uint8Array): Record<string, unknown> =>
  otlpMessages.lookupType(name).toObject(otlpMessages.lookupType(name).decode(bytes), { longs: String });

/** A field of bytes or of a message, by hand. */
export const message = (field: number, ...content: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(content);
  const length: number[] = [];
  let rest = body.length;
  for (; rest > 0x7f; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([(field << 3) | 2, ...length, rest]), body]);
};
