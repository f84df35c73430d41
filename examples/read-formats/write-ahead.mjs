// "Write-ahead files" of docs/formats.md: the spans of all whole frames, up to the first that is not.
import { crc32 } from 'node:zlib';
import { KINDS, Reader, STATUSES, times } from './bytes.mjs';

const MARK = 0xc3a71ef5;

const idOf = (frame, words) => times(words, () => frame.u32().toString(16).padStart(8, '0')).join('');

/** A thing of a frame by number, read where it is first met. */
const known = (frame, things, read) => {
  const number = frame.varint();
  if (number === things.length) things.push(read());
  return things[number];
};

const frameSpans = (frame) => {
  const [resources, scopes, names] = [[], [], []];
  const properties = (has) => (has ? frame.resource() : { properties: {} });
  let traceId;
  const readSpan = () => {
    const has = frame.byte();
    const kindAndStatus = frame.byte();
    if (has & 2) traceId = idOf(frame, 4);
    const spanId = idOf(frame, 2);
    const parentSpanId = has & 1 ? idOf(frame, 2) : '';
    const [startUnixNs, endUnixNs] = [frame.u64(), frame.u64()];
    const resource = known(frame, resources, frame.resource);
    const scope = known(frame, scopes, frame.scope);
    const name = known(frame, names, frame.text);
    const [traceState, message] = times(2, () => (has & 4 ? frame.text() : ''));
    const own = properties(has & 8);
    const events = times(has & 16 ? frame.varint() : 0, () => ({
      name: known(frame, names, frame.text),
      timeUnixNs: frame.u64(),
      ...properties(true),
    }));
    const links = times(has & 32 ? frame.varint() : 0, () => ({
      traceId: idOf(frame, 4),
      spanId: idOf(frame, 2),
      traceState: frame.text(),
      ...properties(true),
    }));
    const status = { code: STATUSES[kindAndStatus % 3], message };
    const kind = KINDS[Math.floor(kindAndStatus / 3)];
    const ids = { traceId, spanId, parentSpanId, traceState };
    return { ...ids, name, kind, startUnixNs, endUnixNs, status, ...own, events, links, resource, scope };
  };
  const spans = [];
  while (frame.at < frame.bytes.length) spans.push(readSpan());
  return spans;
};

export const readWriteAhead = (bytes) => {
  const file = new Reader(bytes);
  if (file.raw(8).toString('latin1') !== 'SPLWAL01') throw new Error('this is no write-ahead file');
  const spans = [];
  while (bytes.length - file.at >= 12) {
    const [mark, length, crc] = times(3, file.u32);
    if (mark !== MARK || file.at + length > bytes.length) break;
    const frame = file.raw(length);
    if (crc32(frame) !== crc) break;
    spans.push(...frameSpans(new Reader(frame)));
  }
  return spans;
};
