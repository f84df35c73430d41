// Subject: fastrace with the flow on one thread of tokio, or that flow untraced. This process only passes rounds on; the figures are those of the
// program in Rust, all threads counted.
import { FASTRACE, startFastrace } from './fastrace-program.mjs';
import { SHAPES } from './shapes.mjs';

const SETTLE_MS = 500;
const { SPANLINE_BENCH_MODE: mode } = process.env;
const round = startFastrace(mode);

export const subject = mode === 'none' ? `none-${FASTRACE}` : FASTRACE;
export const cases = [
  { name: 'flow', n: mode, unit: 'us', measure: () => round(`flow ${SHAPES.flow.requests} ${SETTLE_MS}`) },
];
