// Values as Go's encoding/json writes them, which is how Jaeger shows lists and maps: keys in order, and what HTML minds escaped.
import { ArchivedDouble } from './archived-double.js';
import type { ArchivedValue } from './archived-span.js';

const escaped = (text: string): string =>
  JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Go orders keys by their bytes. */
const byBytes = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b));

/** What has no number in JSON is text; bytes are base64. */
export const goJson = (value: ArchivedValue): string => {
  switch (typeof value) {
    case 'string':
      return escaped(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      if (Object.is(value, -0)) return '-0';
      return Number.isFinite(value) ? String(value) : escaped(String(value));
    default:
      if (value === null) return 'null';
      if (value instanceof ArchivedDouble) return goJson(value.value);
      if (value instanceof Uint8Array) return escaped(Buffer.from(value).toString('base64'));
      if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
      return `{${Object.entries(value as { readonly [key: string]: ArchivedValue })
        .sort(byBytes)
        .map(([key, item]) => `${escaped(key)}:${goJson(item)}`)
        .join(',')}}`;
  }
};
