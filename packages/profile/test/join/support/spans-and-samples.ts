// Spans and samples made by hand, at known times: no clock, no profiler.

import { SpanRecord, TraceIdentity } from '../../../../../src/record/record.js';
import { countSamples, type LabelledProfile, type LabelRecord, SampleKind } from '../../../src/labelled-profile.js';
import { ROOT_ONLY } from '../../support/root-only.js';

export const START_SEC = 1_750_000_000;
/** The thread of these spans: the upper half of its span ids. */
export const THREAD = 0xa0000001;

export const traceOf = (n: number): TraceIdentity => new TraceIdentity(0x4bf92f35, 0x77b34da6, 0xa3ce929d, n, '');

export interface SpanParts {
  readonly id: number;
  readonly parent?: number;
  readonly fromUs: number;
  readonly toUs: number;
  readonly trace?: TraceIdentity;
  readonly isLocal?: boolean;
  readonly thread?: number;
  readonly name?: string;
}

const TRACE = traceOf(1);

/** A span from and to a microsecond of the profile. */
export const span = (parts: SpanParts): SpanRecord => {
  const { id, parent = 0, fromUs, toUs, trace = TRACE, isLocal = false, thread = THREAD, name = `s${id}` } = parts;
  const parentHi = parent === 0 ? 0 : thread;
  const start = [START_SEC, fromUs * 1000] as const;
  const end = [START_SEC, toUs * 1000] as const;
  const ids = [thread, id, parentHi, parent] as const;
  return new SpanRecord(
    trace,
    ...ids,
    name,
    'internal',
    ...start,
    ...end,
    null,
    [],
    [],
    { code: 'unset' },
    false,
    isLocal,
  );
};

export const local = (parts: SpanParts): SpanRecord => span({ ...parts, isLocal: true });

export const labelOf = (id: number, thread = THREAD): LabelRecord => ({
  trace_id: TRACE.traceId,
  span_id: thread.toString(16).padStart(8, '0') + id.toString(16).padStart(8, '0'),
});

export interface SampleParts {
  readonly us: number;
  readonly label?: LabelRecord | 'lost' | 'overflow';
  readonly cpuNs?: number;
  readonly kind?: number;
}

/** A profile of these samples, from second `START_SEC` on. */
export const profileOf = (parts: readonly SampleParts[], startSec = START_SEC): LabelledProfile => {
  const labels: LabelRecord[] = [{}, { 'spanline.label': 'lost' }, { 'spanline.label': 'overflow' }];
  const rowOf = (label: SampleParts['label']): number => {
    if (label === undefined) return 0;
    if (typeof label === 'string') return label === 'lost' ? 1 : 2;
    const key = JSON.stringify(label);
    const known = labels.findIndex((each) => JSON.stringify(each) === key);
    return known >= 0 ? known : labels.push(label) - 1;
  };
  const rows = parts.map(({ us, label, cpuNs = 1e6, kind = SampleKind.js }) => ({
    us,
    row: rowOf(label),
    cpuNs,
    kind,
  }));
  const samples = {
    count: rows.length,
    node: new Uint32Array(rows.length),
    atNs: Float64Array.from(rows, ({ us }) => us * 1000),
    cpuNs: Float64Array.from(rows, ({ cpuNs }) => cpuNs),
    label: Uint32Array.from(rows, ({ row }) => row),
    kind: Uint8Array.from(rows, ({ kind }) => kind),
  };
  return {
    startNs: 5e9,
    endNs: 5e9 + 1e9,
    startUnixNs: BigInt(startSec) * 1_000_000_000n,
    unit: 'cpu',
    intervalNs: 1e6,
    carrier: 'register',
    threadId: 0,
    nodes: ROOT_ONLY,
    samples,
    labels,
    counts: countSamples(samples),
  };
};
