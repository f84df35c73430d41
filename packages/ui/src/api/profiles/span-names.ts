// Gives samples that know their span the span's name too, as a label of its own: by the archive, where it is open. It must not take what
// nobody asked for: an archive is only read when samples are grouped by that key.
import type { Archive } from '@spanline/archive';
import { type LabelledProfile, SPAN_ID_LABEL, TRACE_ID_LABEL } from '@spanline/profile';
import { labelValue, recordFrom, relabelled } from '@spanline/profile/internal';

/** The label key for the names of spans. */
export const SPAN_NAME_LABEL = 'span.name';
/** Traces of a profile that are looked up; samples of others have no name. */
const MOST_TRACES = 1000;
/** Looked up at once. */
const BATCH = 100;

/** The profile with {@link SPAN_NAME_LABEL} on every sample whose span is in the archive. */
export const withSpanNames = async (
  profile: LabelledProfile,
  archive: Archive,
  signal: AbortSignal,
): Promise<LabelledProfile> => {
  const ids = [...new Set(profile.labels.map((record) => labelValue(record, TRACE_ID_LABEL)))].filter(
    (id) => id !== '',
  );
  const wanted = ids.slice(0, MOST_TRACES);
  const names = new Map<string, string>();
  for (let i = 0; i < wanted.length; i += BATCH) {
    for (const [traceId, spans] of await archive.traces(wanted.slice(i, i + BATCH), { signal })) {
      for (const { spanId, name } of spans) names.set(`${traceId} ${spanId}`, name);
    }
  }
  return relabelled(profile, (record) => {
    const name = names.get(`${labelValue(record, TRACE_ID_LABEL)} ${labelValue(record, SPAN_ID_LABEL)}`);
    return name === undefined ? record : recordFrom([...Object.entries(record), [SPAN_NAME_LABEL, name]]);
  });
};
