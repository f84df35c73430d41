// Single fields of a span in a write-ahead file. What no segment can keep is refused here, by name.

import { BadValueError } from '@spanline/graph';
import type { ByteWriter } from 'spanline/internal/base';
import { nanosWords, toNanosWords } from 'spanline/internal/formats';
import type { FinishedSpan } from 'spanline/internal/record';
import { parseId } from '../values/ids.js';
import { isTime, TIME_RULE } from '../values/times.js';

const words = new Uint32Array(4);

/** Write an id of `count` words given as hex digits; gives its last word. Throws `BadKeyError` with the name of the field. */
export const writeId = (writer: ByteWriter, hex: string, what: string, count: number): number => {
  parseId(hex, what, count, words, 0);
  for (let i = 0; i < count; i++) writer.uint32(words[i]);
  return words[count - 1];
};

/** Throws `BadValueError` for what is no time. */
export const checkTime = (time: bigint): void => {
  if (!isTime(time)) throw new BadValueError(`${String(time)} is no time: ${TIME_RULE}`);
};

/** The words of the id of a trace. */
export type TraceWords = Pick<FinishedSpan, 'trace0' | 'trace1' | 'trace2' | 'trace3'>;

/** Write the id of a trace that is at hand as words. */
export const writeTraceId = (writer: ByteWriter, { trace0, trace1, trace2, trace3 }: TraceWords): void => {
  writer.uint32(trace0);
  writer.uint32(trace1);
  writer.uint32(trace2);
  writer.uint32(trace3);
};

/** Write a Unix time of seconds and nanoseconds. */
export const writeNanos = (writer: ByteWriter, sec: number, nano: number): void => {
  toNanosWords(sec, nano);
  writer.uint32(nanosWords.lo);
  writer.uint32(nanosWords.hi);
};

/** The number of one of a few names. Throws `BadValueError` for any other. */
export const numberOf = <T extends string>(names: readonly T[], name: T): number => {
  const number = names.indexOf(name);
  if (number < 0) throw new BadValueError(`${JSON.stringify(name)} is none of ${names.join(', ')}`);
  return number;
};
