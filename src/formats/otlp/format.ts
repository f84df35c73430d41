// What a request is made of, whichever of OTLP's two forms it has. An interface only.

import type { ByteWriter } from '../../base/bytes/byte-writer.js';
import type { ArchivedResource, ArchivedScope } from '../../record/archived-span.js';
import type { FinishedSpan } from '../../record/finished-span.js';

/** The spans of a request that were recorded by one library, as they were written. */
export interface ScopedSpans {
  readonly scope: ArchivedScope;
  readonly spans: readonly Uint8Array[];
}

/** One form of OTLP's ExportTraceServiceRequest: one resource, spans by scope. */
export interface OtlpFormat {
  readonly contentType: string;
  /** Bytes that {@link OtlpFormat.end} may add. */
  readonly endBytes: number;
  /** Write what comes before the spans, into an empty writer. */
  begin(writer: ByteWriter, resource: ArchivedResource, scope: ArchivedScope): void;
  span(writer: ByteWriter, span: FinishedSpan, isFirst: boolean): void;
  /** Bytes between two spans. */
  readonly separatorBytes: number;
  /** A whole request for the resource of the last `begin`, of spans that were written after it. */
  grouped(writer: ByteWriter, groups: readonly ScopedSpans[]): void;
  /** Complete the request of one scope; gives the position where it begins. */
  end(writer: ByteWriter): number;
}
