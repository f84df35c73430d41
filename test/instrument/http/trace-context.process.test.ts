// The cases of W3C's trace-context validation, over a real server: what comes in and what goes out again to a service behind it.
import http from 'node:http';
import { expect, test } from 'vitest';
import { exchange, instrumentOnly, serve } from '../support.js';

const TRACE = '12345678901234567890123456789012';
const PARENT = '1234567890123456';
const VALID = `00-${TRACE}-${PARENT}-01`;

interface Seen {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

/** What a service behind sees when these header lines come in. */
const passedOn = async (lines: readonly string[]): Promise<Seen> => {
  instrumentOnly({ http: true });
  const behind = await serve((request, response) => response.end(JSON.stringify(request.headers)));
  const front = await serve((_, response) => {
    http.get(behind.url, (answer) => answer.pipe(response));
  });
  const text = ['GET / HTTP/1.1', 'host: a', 'connection: close', ...lines, '', ''].join('\r\n');
  const answer = await exchange(front.port, text);
  return JSON.parse(/\{.*\}/s.exec(answer)?.[0] ?? '') as Seen;
};

const parts = ({ traceparent }: Seen): readonly string[] => traceparent.split('-');

test.each([
  ['as it should be', [`traceparent: ${VALID}`]],
  ['the name in other cases', [`TraceParent: ${VALID}`]],
  ['white space around it', [`traceparent:  ${VALID} `]],
  ['a version of the future', [`traceparent: cc-${TRACE}-${PARENT}-01`]],
  ['a version of the future with more behind it', [`traceparent: cc-${TRACE}-${PARENT}-01-what-the-future`]],
  ['flags of the future', [`traceparent: 00-${TRACE}-${PARENT}-ff`]],
])('the trace goes on, with a parent of its own: %s', async (_, lines) => {
  const seen = await passedOn(lines);
  expect(parts(seen)).toEqual(['00', TRACE, expect.stringMatching(/^[0-9a-f]{16}$/), expect.stringMatching(/^0[13]$/)]);
  expect(parts(seen)[2]).not.toBe(PARENT);
});

test.each([
  ['none', []],
  ['empty', ['traceparent:']],
  ['sent twice', [`traceparent: ${VALID}`, `traceparent: ${VALID.replace(/^00-1/, '00-2')}`]],
  ['the name misspelt', [`trace-parent: ${VALID}`]],
  ['version 00 with more behind it', [`traceparent: ${VALID}-what`, '']],
  ['version 00 with a dash behind it', [`traceparent: ${VALID}-`]],
  ['version ff', [`traceparent: ff-${TRACE}-${PARENT}-01`]],
  ['a version of the future with something glued to it', [`traceparent: cc-${TRACE}-${PARENT}-01.what`]],
  ['an illegal version', [`traceparent: .0-${TRACE}-${PARENT}-01`]],
  ['a version too long', [`traceparent: 000-${TRACE}-${PARENT}-01`]],
  ['a trace id of zeros', [`traceparent: 00-${'0'.repeat(32)}-${PARENT}-01`]],
  ['an illegal trace id', [`traceparent: 00-.${TRACE.slice(1)}-${PARENT}-01`]],
  ['a trace id too long', [`traceparent: 00-${TRACE}2-${PARENT}-01`]],
  ['a trace id too short', [`traceparent: 00-${TRACE.slice(1)}-${PARENT}-01`]],
  ['capitals', [`traceparent: 00-${TRACE.replace('12', 'AB')}-${PARENT}-01`]],
  ['a parent of zeros', [`traceparent: 00-${TRACE}-${'0'.repeat(16)}-01`]],
  ['an illegal parent', [`traceparent: 00-${TRACE}-.${PARENT.slice(1)}-01`]],
  ['a parent too long', [`traceparent: 00-${TRACE}-${PARENT}7-01`]],
  ['illegal flags', [`traceparent: 00-${TRACE}-${PARENT}-.0`]],
  ['flags too long', [`traceparent: 00-${TRACE}-${PARENT}-001`]],
  ['flags too short', [`traceparent: 00-${TRACE}-${PARENT}-1`]],
])('a new trace begins: %s', async (_, lines) => {
  const given = lines.filter((line) => line !== '');
  const seen = await passedOn([...given, 'tracestate: foo=1']);
  expect(parts(seen)).toEqual(['00', expect.stringMatching(/^[0-9a-f]{32}$/), expect.any(String), '03']);
  expect(parts(seen)[1]).not.toBe(TRACE);
  expect(seen.tracestate).toBeUndefined();
});

test('a caller that does not sample is followed', async () => {
  expect(parts(await passedOn([`traceparent: 00-${TRACE}-${PARENT}-00`]))).toMatchObject({ 1: TRACE, 3: '00' });
});

const list = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `k${from + i}=${from + i}`).join(',');

test.each([
  ['one line', ['tracestate: foo=1,bar=2'], 'foo=1,bar=2'],
  ['several lines', ['tracestate: foo=1', 'tracestate: bar=2'], 'foo=1,bar=2'],
  ['white space and empty members', ['tracestate: foo=1 \t , ,\t bar=2, '], 'foo=1,bar=2'],
  ['an empty line', ['tracestate:', 'tracestate: foo=1'], 'foo=1'],
  ['a key with a tenant', ['tracestate: t@v=1,0a=2'], 't@v=1,0a=2'],
  [
    'all permitted characters',
    ['tracestate: abcdefghijklmnopqrstuvwxyz0123456789_-*/=!"#$%&\'()*+-./0:;<>?@A[\\]^_`a{|}~'],
    'abcdefghijklmnopqrstuvwxyz0123456789_-*/=!"#$%&\'()*+-./0:;<>?@A[\\]^_`a{|}~',
  ],
  ['32 members', [`tracestate: ${list(0, 32)}`], list(0, 32)],
  ['33 members', [`tracestate: ${list(0, 33)}`], undefined],
  ['an illegal key', ['tracestate: foo =1,bar=2'], undefined],
  ['a key in capitals', ['tracestate: FOO=1'], undefined],
  ['a key too long', [`tracestate: ${'z'.repeat(257)}=1`], undefined],
  ['a value with a comma in it', ['tracestate: foo=ba,r'], undefined],
  ['a value too long', [`tracestate: foo=${'z'.repeat(257)}`], undefined],
])('tracestate, %s', async (_, lines, expected) => {
  const seen = await passedOn([`traceparent: ${VALID}`, ...lines]);
  expect(parts(seen)[1]).toBe(TRACE);
  expect(seen.tracestate).toBe(expected);
});
