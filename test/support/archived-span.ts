// A record of the collector as a finished span with objects of its own.

import { OWN_SCOPE } from '../../src/formats/library.js';
import { archivedView } from '../../src/trace/archived-copy.js';
import type { ArchivedResource, ArchivedSpan } from '../../src/trace/archived-span.js';
import type { SpanRecord } from '../../src/trace/record.js';
import { RecordView } from '../../src/trace/record-view.js';

export const archivedSpan = (record: SpanRecord, resource: ArchivedResource): ArchivedSpan =>
  archivedView(new RecordView(resource, OWN_SCOPE).of(record));
