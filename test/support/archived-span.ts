// A record of the collector as a finished span with objects of its own.

import { OWN_SCOPE } from '../../src/formats/library.js';
import type { ArchivedResource, ArchivedSpan } from '../../src/record/archived-span.js';
import { archivedView } from '../../src/record/archived-view.js';
import type { SpanRecord } from '../../src/record/record.js';
import { RecordView } from '../../src/record/record-view.js';

export const archivedSpan = (record: SpanRecord, resource: ArchivedResource): ArchivedSpan =>
  archivedView(new RecordView(resource, OWN_SCOPE).of(record));
