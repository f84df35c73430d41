// Subject: process.hrtime.bigint().
import { reads } from './reads.mjs';

export const subject = 'process.hrtime.bigint';
export const cases = [reads('process.hrtime.bigint', () => process.hrtime.bigint())];
