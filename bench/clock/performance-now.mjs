// Subject: performance.now().
import { reads } from './reads.mjs';

export const subject = 'performance.now';
export const cases = [reads('performance.now', () => performance.now())];
