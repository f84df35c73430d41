// Subject: spanline's clock, one source a process (SPANLINE_CLOCK), as the recording path reads it.
import { clockInfo, now } from '../../dist/esm/clock/index.js';
import { reads } from './reads.mjs';

const { source } = clockInfo();
const wanted = process.env.SPANLINE_CLOCK;

export const subject = 'spanline';
// A source that this machine does not have is left out: the clock fell back to another one, which has its own process.
export const cases = wanted === undefined || wanted === source ? [reads(source, now)] : [];
