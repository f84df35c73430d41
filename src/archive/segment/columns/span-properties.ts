// The properties of a group's spans.
import { ByteWriter } from '../../../base/bytes/byte-writer.js';
import type { ArchivedSpan } from '../../../trace/archived-span.js';
import { storedProperties } from '../../stored-extras.js';
import type { StringTable } from '../tables/string-table.js';
import { PropertyWriter } from '../values/property-writer.js';

/** The part of some spans; empty when none of them has properties. */
export const encodeProperties = (spans: readonly ArchivedSpan[], strings: StringTable): Buffer => {
  const properties = new PropertyWriter(strings);
  const writer = new ByteWriter();
  for (const span of spans) properties.add(storedProperties(span));
  if (properties.hasAny) properties.flush(writer);
  return writer.view();
};
