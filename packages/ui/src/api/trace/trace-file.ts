// A trace as a file of others: for Jaeger UI, as OTLP/JSON, for Perfetto. The whole trace, also where the page draws a part of it.
import { type Call, HttpError, required, sendBytes } from '@spanline/archive/internal';
import { documentPieces, JAEGER_DOCUMENT, OTLP_DOCUMENT, type TraceDocument } from 'spanline/internal/formats';
import { tracePerfetto } from './trace-perfetto.js';
import type { ReadTrace } from './trace-reads.js';

interface FileFormat {
  readonly type: string;
  readonly bytes: (trace: ReadTrace, signal: AbortSignal) => Promise<Buffer>;
}

const asDocument = (document: TraceDocument): FileFormat => ({
  type: 'application/json',
  bytes: async ({ spans }) => {
    const one = async function* () {
      yield { traceId: spans[0].traceId, spans };
    };
    const pieces: Buffer[] = [];
    for await (const piece of documentPieces(document, one())) pieces.push(Buffer.from(piece));
    return Buffer.concat(pieces);
  },
});

const FORMATS: Readonly<Record<string, FileFormat>> = {
  jaeger: asDocument(JAEGER_DOCUMENT),
  otlp: asDocument(OTLP_DOCUMENT),
  perfetto: { type: 'application/octet-stream', bytes: tracePerfetto },
};

/** Answers with the trace in the format that the request names. `HttpError` 400 for one that is none. */
export const sendTraceFile = async (trace: ReadTrace, { query, response, signal }: Call): Promise<void> => {
  const name = required(query, 'format');
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  if (format === undefined)
    throw new HttpError(400, `the parameter format must be one of ${Object.keys(FORMATS).join(', ')}`);
  sendBytes(response, 200, format.type, await format.bytes(trace, signal));
};
