// What packages beside the core use of the recording itself: clock, current span, rows on their way to a reporter.
export { now, nsPerTick, takeAnchor } from '../clock/index.js';
export { type Loaded, loadNativeFile } from '../clock/native-file.js';
export { resolveOptions } from '../collector/options.js';
export { Pipeline } from '../collector/pipeline.js';
export { type SpanLabelling, type StackStretch, state } from '../context/process-state.js';
export type { QueueMount } from '../local-span/local-span.js';
export { queueStore } from '../local-span/local-span.js';
export { spanHex } from '../span/span-context.js';
export { beginUnder } from '../span/span-tasks.js';
