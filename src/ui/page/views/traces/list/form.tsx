// The conditions of a search. What is typed goes into the address when the form is sent, and from there into the question.
import type { ValuesAnswer } from '../../../../api/traces/answers.js';
import { get } from '../../../api/client.js';
import { useRequest } from '../../../api/use-request.js';
import { goTo } from '../../../shell/location.js';

type Conditions = Readonly<Record<string, string>>;

const FIELDS = [
  ['min', 'at least', '100ms'],
  ['max', 'at most', '2s'],
  ['properties', 'properties', 'http.route=/orders'],
] as const;

export const Form = ({ conditions }: { conditions: Conditions }) => {
  const { service = '' } = conditions;
  const { value } = useRequest(service, (signal) => get<ValuesAnswer>('traces/values', { service }, signal));
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    goTo('traces', { ...conditions, ...(Object.fromEntries(data) as Conditions) });
  };
  return (
    <form class="search" onSubmit={send}>
      <label>
        service{' '}
        <select
          name="service"
          value={service}
          onChange={(event) => goTo('traces', { ...conditions, service: event.currentTarget.value, name: undefined })}
        >
          <option value="">all</option>
          {(value?.services ?? (service === '' ? [] : [service])).map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <label>
        span name <input name="name" value={conditions.name ?? ''} list="operations" placeholder="GET /orders" />
      </label>
      <datalist id="operations">
        {value?.operations.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <label>
        status{' '}
        <select name="status" value={conditions.status ?? ''}>
          <option value="">any</option>
          <option value="error">error</option>
          <option value="ok">ok</option>
        </select>
      </label>
      {FIELDS.map(([name, words, example]) => (
        <label key={name}>
          {words} <input name={name} value={conditions[name] ?? ''} placeholder={example} size={12} />
        </label>
      ))}
      <button type="submit">Search</button>
      <button type="button" onClick={() => goTo('traces')}>
        Clear
      </button>
    </form>
  );
};
