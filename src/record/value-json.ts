// Values as JSON text: what shows lists and maps where a format has no types for them. What has no number in JSON is text; integers keep all
// their digits, minus zero its sign, and bytes are base64.
import { ArchivedDouble } from './archived-double.js';
import type { ArchivedValue } from './archived-span.js';

const escaped = (text: string): string =>
  JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

type Entry = readonly [key: string, value: ArchivedValue];

/** Go orders keys by their bytes. */
const byBytes = ([a]: Entry, [b]: Entry): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const jsonOf = (value: ArchivedValue, isAsGo: boolean): string => {
  const quote = isAsGo ? escaped : JSON.stringify;
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      if (Object.is(value, -0)) return '-0';
      return Number.isFinite(value) ? String(value) : quote(String(value));
    default: {
      if (value === null) return 'null';
      if (value instanceof ArchivedDouble) return jsonOf(value.value, isAsGo);
      if (value instanceof Uint8Array) return quote(Buffer.from(value).toString('base64'));
      if (Array.isArray(value)) return `[${value.map((item) => jsonOf(item, isAsGo)).join(',')}]`;
      const entries: Entry[] = Object.entries(value as { readonly [key: string]: ArchivedValue });
      if (isAsGo) entries.sort(byBytes);
      return `{${entries.map(([key, item]) => `${quote(key)}:${jsonOf(item, isAsGo)}`).join(',')}}`;
    }
  }
};

/** Members in their order. */
export const valueJson = (value: ArchivedValue): string => jsonOf(value, false);

/** As Go's encoding/json writes it, which is how Jaeger's server shows lists and maps: keys in order, and what HTML minds escaped. */
export const goJson = (value: ArchivedValue): string => jsonOf(value, true);
