// The messages an OTLP server answers with, in protobuf: ExportTraceServiceResponse and google.rpc.Status. They are small and few.
import { ByteWriter } from 'spanline/internal/base';

/** A field of a number, or of bytes, text or a message. */
const field = (number: number, content: number | Uint8Array): Buffer => {
  const writer = new ByteWriter();
  writer.byte((number << 3) | (typeof content === 'number' ? 0 : 2));
  writer.varint(typeof content === 'number' ? content : content.length);
  if (typeof content !== 'number') writer.raw(content);
  return writer.copy();
};

/** A success with a reservation: spans that were not kept, and why. */
export interface PartialSuccess {
  readonly rejectedSpans: number;
  readonly errorMessage: string;
}

/** ExportTraceServiceResponse; without a reservation it is empty. */
export const encodeSuccess = (partial: PartialSuccess | undefined): Buffer => {
  if (partial === undefined) return Buffer.alloc(0);
  return field(1, Buffer.concat([field(1, partial.rejectedSpans), field(2, Buffer.from(partial.errorMessage))]));
};

/** The same in OTLP/JSON, where 64-bit numbers are text. */
export const successJson = (partial: PartialSuccess | undefined): object =>
  partial === undefined
    ? {}
    : { partialSuccess: { rejectedSpans: String(partial.rejectedSpans), errorMessage: partial.errorMessage } };

/** google.rpc.Status with a message only: OTLP does not use its code. */
export const encodeStatus = (message: string): Buffer => field(2, Buffer.from(message));
