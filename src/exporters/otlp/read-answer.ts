// What an OTLP server says in the body of its answer: a partial success, or the message of a failure; in protobuf or in JSON. A body that cannot be
// read is not an error, because the HTTP status already decides what became of the spans.
import { ByteReader } from '../../base/bytes/byte-reader.js';
import { BYTES, FIXED32, FIXED64, VARINT } from '../../base/bytes/byte-writer.js';
import { attempt } from '../../base/calls/attempt.js';

/** A success with a reservation. */
interface PartialSuccess {
  readonly rejectedSpans: number;
  /** With 0 rejected spans it is a warning. */
  readonly message: string;
}

/** Field number, and the number or bytes it holds; other wire types are passed over. */
const readFields = function* (body: Buffer): Generator<[field: number, value: number | Buffer]> {
  const reader = new ByteReader(body, (reason) => new Error(`the answer ${reason}`));
  while (reader.left > 0) {
    const tag = reader.varint();
    const wireType = tag & 7;
    if (wireType === VARINT) yield [tag >>> 3, reader.varint()];
    else if (wireType === BYTES) yield [tag >>> 3, Buffer.from(reader.raw(reader.varint()))];
    else if (wireType === FIXED64) reader.raw(8);
    else if (wireType === FIXED32) reader.raw(4);
    else throw reader.corrupt(`has a field of the wire type ${wireType}`);
  }
};

const partialFromProtobuf = (body: Buffer): PartialSuccess => {
  let rejectedSpans = 0;
  let message = '';
  for (const [field, partial] of readFields(body)) {
    if (field !== 1 || typeof partial === 'number') continue;
    for (const [inner, value] of readFields(partial)) {
      if (inner === 1 && typeof value === 'number') rejectedSpans = value;
      if (inner === 2 && typeof value !== 'number') message = value.toString('utf8');
    }
  }
  return { rejectedSpans, message };
};

const partialFromJson = (body: Buffer): PartialSuccess => {
  const partial = JSON.parse(body.toString('utf8'))?.partialSuccess ?? {};
  // An int64 is a string in OTLP/JSON; not every server writes it so.
  const rejectedSpans = Number(partial.rejectedSpans ?? 0);
  return {
    rejectedSpans: Number.isFinite(rejectedSpans) ? rejectedSpans : 0,
    message: String(partial.errorMessage ?? ''),
  };
};

/** Of the body of a success; undefined when all is well or it cannot be read. */
export const readPartialSuccess = (body: Buffer, contentType: string): PartialSuccess | undefined => {
  const partial = attempt(() => (contentType.includes('json') ? partialFromJson(body) : partialFromProtobuf(body)));
  return partial !== undefined && (partial.rejectedSpans > 0 || partial.message !== '') ? partial : undefined;
};

/** The message of a failure: google.rpc.Status in protobuf or JSON, or plain text; empty when there is none. */
export const readFailure = (body: Buffer, contentType: string): string => {
  try {
    if (contentType.startsWith('text/')) return contentType.startsWith('text/html') ? '' : body.toString('utf8');
    if (contentType.includes('json')) return String(JSON.parse(body.toString('utf8'))?.message ?? '');
    if (!contentType.includes('protobuf')) return '';
    for (const [field, value] of readFields(body)) {
      if (field === 2 && typeof value !== 'number') return value.toString('utf8');
    }
  } catch {
    // Not what its content-type says: there are no words to pass on.
  }
  return '';
};
