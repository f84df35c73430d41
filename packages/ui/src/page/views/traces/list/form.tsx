// The conditions of a search. What is typed is kept here until the form is sent: then it goes into the address, and from there into the question.
import { useEffect, useState } from 'preact/hooks';
import type { ValuesAnswer } from '../../../../api/traces/answers.js';
import { get } from '../../../api/client.js';
import { useRequest } from '../../../api/use-request.js';
import { goTo } from '../../../shell/location.js';
import { type Field, fieldsOf } from '../address.js';

const TEXTS: readonly (readonly [name: Field, words: string, example: string, size: number])[] = [
  ['min', 'at least', '100ms', 8],
  ['max', 'at most', '2s', 8],
  ['from', 'from', '15m or 2026-01-31T12:00 UTC', 27],
  ['to', 'to', '5m or 2026-01-31T13:00 UTC', 27],
  ['properties', 'properties', 'http.route=/orders user="Ada L"', 26],
];
const LIMITS = ['50', '200', '500', '1500'];
const DEFAULT_LIMIT = '200';

export const Form = ({ parameters }: { parameters: Readonly<Record<string, string>> }) => {
  const { snapshot } = parameters;
  const given = fieldsOf(parameters);
  const [draft, setDraft] = useState(given);
  // The address counts whenever it changes: by a link, Clear, or the browser's way back.
  useEffect(() => setDraft(given), [JSON.stringify(given)]);
  const { service = '' } = draft;
  const { value } = useRequest(`${snapshot} ${service}`, (signal) =>
    get<ValuesAnswer>('traces/values', { snapshot, service }, signal),
  );
  const field = (name: Field) => ({
    name,
    value: draft[name] ?? '',
    onInput: ({ currentTarget: { value } }: { readonly currentTarget: { readonly value: string } }): void =>
      setDraft((before) => ({ ...before, [name]: value })),
  });
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    // A page and a window of the scatter are of the search before.
    goTo('traces', { ...parameters, ...draft, before: undefined, picked: undefined });
  };
  const services = new Set([...(value?.services ?? []), ...(service === '' ? [] : [service])]);
  const limits = new Set([...LIMITS, draft.limit ?? DEFAULT_LIMIT]);
  return (
    <form class="search" onSubmit={send}>
      <label>
        service{' '}
        <select {...field('service')}>
          <option value="">all</option>
          {[...services].map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <label>
        span name <input {...field('name')} list="operations" placeholder="GET /orders" />
      </label>
      <datalist id="operations">
        {value?.operations.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <label>
        status{' '}
        <select {...field('status')}>
          <option value="">any</option>
          <option value="error">error</option>
          <option value="ok">ok</option>
          <option value="unset">unset</option>
        </select>
      </label>
      {TEXTS.map(([name, words, example, size]) => (
        <label key={name}>
          {words} <input {...field(name)} placeholder={example} size={size} />
        </label>
      ))}
      <label>
        list{' '}
        <select {...field('limit')} value={draft.limit ?? DEFAULT_LIMIT}>
          {[...limits].map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Search</button>
      <button type="button" onClick={() => goTo('traces', { snapshot })}>
        Clear
      </button>
    </form>
  );
};
