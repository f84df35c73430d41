// Prints what `clockInfo()` tells, and that the clock runs.
import { clockInfo, now } from '../../../src/clock/index.js';

const first = now();
const { source, path, reasons } = clockInfo();
process.stdout.write(JSON.stringify({ source, path, reasons, runs: first > 0 && now() >= first }));
