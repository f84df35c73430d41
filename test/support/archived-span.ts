// A record of the collector as a finished span with objects of its own.

import { OWN_SCOPE } from '../../src/formats/library.js';
import type { ArchivedResource, ArchivedSpan } from '../../src/record/archived-span.js';
import { ObjectView, toArchived } from '../../src/record/object-view.js';
import type { SpanRecord } from '../../src/record/record.js';

export const archivedSpan = (record: SpanRecord, resource: ArchivedResource): ArchivedSpan =>
  toArchived(new ObjectView(resource, OWN_SCOPE).of(record));
