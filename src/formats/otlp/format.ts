// What a request is made of, whichever of OTLP's two forms it has. An interface only.

import type { ByteWriter } from '../../base/bytes/byte-writer.js';
import type { ArchivedResource, ArchivedScope } from '../../trace/archived-span.js';
import type { FinishedSpan } from '../../trace/finished-span.js';

/** One form of OTLP's ExportTraceServiceRequest: one resource, one scope, spans. */
export interface OtlpFormat {
  readonly contentType: string;
  /** Bytes that {@link OtlpFormat.end} may add. */
  readonly endBytes: number;
  /** Write what comes before the spans, into an empty writer. */
  begin(writer: ByteWriter, resource: ArchivedResource, scope: ArchivedScope): void;
  span(writer: ByteWriter, span: FinishedSpan, isFirst: boolean): void;
  /** Complete the request; gives the position where it begins. */
  end(writer: ByteWriter): number;
}
