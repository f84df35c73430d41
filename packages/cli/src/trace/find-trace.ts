// Which trace a person means: a whole id, a shorter one of older tracers, or the beginning of one, as long as only one begins so.

import type { Archive } from '@spanline/archive';
import { escapeText } from 'spanline/internal/base';
import { shortTime } from 'spanline/internal/formats';
import type { TraceSummary } from 'spanline/internal/record';
import { type CommandError, notFound, wrongUsage } from '../exit-code.js';
import { eachSummary } from './summaries.js';

const ID_LENGTH = 32;
/** Ids of older tracers have 64 bits, written without zeros in front. */
const SHORT_ID_LENGTH = 16;
/** Ids that are named when several begin alike. */
const NAMED = 5;

const noTrace = (text: string): CommandError => notFound(`the archive has no trace ${text}`);

/** The id of the one trace that is meant. */
export const findTraceId = async (archive: Archive, text: string, signal: AbortSignal): Promise<string> => {
  const wanted = text.toLowerCase();
  if (!/^[0-9a-f]{1,32}$/.test(wanted))
    throw wrongUsage(`${JSON.stringify(text)} is not a trace id: up to 32 hex digits, or the first of them`);
  if (wanted.length >= SHORT_ID_LENGTH) {
    const id = wanted.padStart(ID_LENGTH, '0');
    if ((await archive.traces([id], { signal })).has(id)) return id;
    if (wanted.length === ID_LENGTH) throw noTrace(text);
  }
  const found: TraceSummary[] = [];
  for await (const page of eachSummary(archive, {}, signal)) {
    found.push(...page.filter(({ traceId }) => traceId.startsWith(wanted)).slice(0, NAMED + 1));
    if (found.length > NAMED) break;
  }
  if (found.length === 0) throw noTrace(text);
  if (found.length === 1) return found[0].traceId;
  const lines = found
    .slice(0, NAMED)
    .map(({ traceId, startUnixNs, name }) => `\n  ${traceId}  ${shortTime(startUnixNs)}  ${escapeText(name)}`);
  throw wrongUsage(
    `several traces begin with ${text}; write more of the one that is meant:${lines.join('')}${found.length > NAMED ? '\n  ...' : ''}`,
  );
};
