// Traces as documents of text: what stands before, between and behind them, and the pieces in which they are written. A piece must never be kept:
// its memory is that of the next.
import { ByteWriter } from '../base/bytes/byte-writer.js';
import type { ArchivedSpan } from '../record/archived-span.js';
import { jaegerTrace } from './jaeger-json/write-traces.js';
import { otlpResourceSpans } from './otlp/write-json.js';

export interface TraceDocument {
  readonly head: string;
  readonly between: string;
  readonly tail: string;
  trace(traceId: string, spans: readonly ArchivedSpan[]): Iterable<string>;
}

/** OTLP/JSON, a document a line for each trace. */
export const OTLP_LINES: TraceDocument = {
  head: '',
  between: '',
  tail: '',
  *trace(_traceId, spans) {
    yield '{"resourceSpans":[';
    yield* otlpResourceSpans(spans);
    yield ']}\n';
  },
};

/** One OTLP/JSON document. */
export const OTLP_DOCUMENT: TraceDocument = {
  head: '{"resourceSpans":[',
  between: ',',
  tail: ']}\n',
  trace: (_traceId, spans) => otlpResourceSpans(spans),
};

/** One document as Jaeger's UI uploads it. */
export const JAEGER_DOCUMENT: TraceDocument = {
  head: '{"data":[',
  between: ',',
  tail: '],"total":0,"limit":0,"offset":0,"errors":null}\n',
  trace: jaegerTrace,
};

/** A trace that is to be written. */
export interface DocumentTrace {
  readonly traceId: string;
  readonly spans: readonly ArchivedSpan[];
}

const PIECE_BYTES = 64 * 1024;

/**
 * The bytes of a document, in pieces of 64 KiB and a little more. A piece is valid until the next one is asked for. `wrote` is told the bytes of
 * each span, and may give a promise to wait for.
 */
export const documentPieces = async function* (
  { head, between, tail, trace }: TraceDocument,
  traces: AsyncIterable<DocumentTrace>,
  wrote: (bytes: number) => Promise<void> | undefined = () => undefined,
): AsyncGenerator<Buffer> {
  const pending = new ByteWriter(2 * PIECE_BYTES);
  const put = (text: string): void => {
    pending.reserveText(text);
    pending.text(text);
  };
  put(head);
  let isFirst = true;
  for await (const { traceId, spans } of traces) {
    if (!isFirst) put(between);
    isFirst = false;
    for (const text of trace(traceId, spans)) {
      put(text);
      if (pending.length >= PIECE_BYTES) {
        yield pending.view();
        pending.clear();
      }
      const pause = wrote(text.length);
      if (pause !== undefined) await pause;
    }
  }
  put(tail);
  yield pending.view();
};
