// The messages an OTLP server answers with, in protobuf: ExportTraceServiceResponse and google.rpc.Status. They are small and few.

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
};

/** A field of bytes, text or a message. */
const field = (number: number, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2]), varint(content.length), content]);

/** A success with a reservation: spans that were not kept, and why. */
export interface PartialSuccess {
  readonly rejectedSpans: number;
  readonly errorMessage: string;
}

/** ExportTraceServiceResponse; without a reservation it is empty. */
export const encodeSuccess = (partial: PartialSuccess | undefined): Buffer => {
  if (partial === undefined) return Buffer.alloc(0);
  const rejected = Buffer.concat([Buffer.from([1 << 3]), varint(partial.rejectedSpans)]);
  return field(1, Buffer.concat([rejected, field(2, Buffer.from(partial.errorMessage))]));
};

/** The same in OTLP/JSON, where 64-bit numbers are text. */
export const successJson = (partial: PartialSuccess | undefined): object =>
  partial === undefined
    ? {}
    : { partialSuccess: { rejectedSpans: String(partial.rejectedSpans), errorMessage: partial.errorMessage } };

/** google.rpc.Status with a message only: OTLP does not use its code. */
export const encodeStatus = (message: string): Buffer => field(2, Buffer.from(message));
