// Subject: process.hrtime.bigint().
import { bigintReads } from './reads.mjs';

export const subject = 'process.hrtime.bigint';
export const cases = [bigintReads('process.hrtime.bigint', () => process.hrtime.bigint())];
