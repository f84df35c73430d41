// "Parts of a group" of docs/formats.md that few spans have: events, links, texts.
import { times } from './bytes.mjs';

/** Things of spans: `counts` has how many each span has, `things` all of them. */
const bySpan = (counts, things) => {
  let first = 0;
  return counts.map((count) => {
    first += count;
    return things.slice(first - count, first);
  });
};

/** The events of each span of a group. */
export const readEvents = (r, spans, strings) => {
  const counts = times(spans.length, r.varint);
  const owners = spans.flatMap((span, i) => times(counts[i], () => span));
  const names = owners.map(() => r.ref(strings));
  const moments = owners.map(({ startUnixNs }) => r.told(startUnixNs));
  const properties = r.properties(strings, owners.length);
  const events = owners.map((_, i) => ({ name: names[i], timeUnixNs: moments[i], ...properties[i] }));
  return bySpan(counts, events);
};

/** The links of each span of a group; `traceIds` has those of the spans. */
export const readLinks = (r, spans, strings, traceIds) => {
  const counts = times(spans.length, r.varint);
  const owners = traceIds.flatMap((traceId, i) => times(counts[i], () => traceId));
  const forms = owners.map(() => r.byte());
  const ids = forms.map((form, i) => (form === 1 ? owners[i] : r.raw(16).toString('hex')) + r.raw(8).toString('hex'));
  const states = r.texts(owners.length);
  const properties = r.properties(strings, owners.length);
  const links = ids.map((id, i) => {
    const ofSpan = { traceId: id.slice(0, 32), spanId: id.slice(32) };
    return { ...ofSpan, traceState: states[i], ...properties[i] };
  });
  return bySpan(counts, links);
};

/** Texts of the few spans that have one, by span. */
export const readSparse = (r) => {
  let next = 0;
  const places = r.list(() => {
    const place = next + r.varint();
    next = place + 1;
    return place;
  });
  const texts = r.texts(places.length);
  return new Map(places.map((place, i) => [place, texts[i]]));
};
