// What is found in a trace: names at once, here; properties, events and messages by the server, which has them.
import { useMemo } from 'preact/hooks';
import type { FindAnswer, TraceAnswer } from '../../../../api/trace/answers.js';
import { get } from '../../../api/client.js';
import { useRequest, useSettled } from '../../../api/use-request.js';

const TYPING_MS = 250;

const namesLike = ({ names, spans }: TraceAnswer, text: string): number[] => {
  const wanted = text.toLowerCase();
  const fit = names.map((name) => name.toLowerCase().includes(wanted));
  return spans.name.flatMap((name, place) => (fit[name] ? [place] : []));
};

/** Places of spans, and whether the server still looks. */
export interface Found {
  readonly places: ReadonlySet<number>;
  readonly isLoading: boolean;
  readonly error?: Error;
}

const NOTHING: ReadonlySet<number> = new Set();

/** The spans of a trace that have a text. */
export const useFound = (trace: TraceAnswer, text: string, snapshot: string | undefined): Found => {
  const settled = useSettled(text, TYPING_MS);
  const { traceId } = trace;
  const answer = useRequest(settled === '' ? undefined : settled, async (signal) => {
    const { places } = await get<FindAnswer>('trace/find', { snapshot, id: traceId, text: settled }, signal);
    return { of: settled, places };
  });
  const isCurrent = answer.value?.of === text;
  const places = useMemo(() => {
    if (text === '') return NOTHING;
    const found = namesLike(trace, text);
    // In the order of the rows, so that one goes from each to the next.
    return new Set([...found, ...(isCurrent ? (answer.value?.places ?? []) : [])].sort((a, b) => a - b));
  }, [trace, text, answer.value, isCurrent]);
  return { places, isLoading: text !== '' && !isCurrent && answer.error === undefined, error: answer.error };
};
