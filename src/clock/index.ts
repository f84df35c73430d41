// The clock's entry point. Exports only.
export { checkDrift, clockInfo, clockStats, now, nsPerTick, simulateJump, takeAnchor } from './clock.js';
export type { ClockAnchor, ClockInfo, ClockPath, ClockSource, CoreOffset } from './clock-types.js';
