// What both forms of Jaeger's JSON say alike: values as they are shown, the order of tags, and processes by their content.
import { type JaegerTag, toTag } from './tags.js';

/** In the order of the types of Jaeger's model. */
const TYPES: readonly JaegerTag['type'][] = ['string', 'bool', 'int64', 'float64', 'binary'];

const compare = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** By key, then type, then value. */
export const byKey = (a: JaegerTag, b: JaegerTag): number =>
  compare(a.key, b.key) || compare(TYPES.indexOf(a.type), TYPES.indexOf(b.type)) || compare(a.value, b.value);

/** A tag if there is something to say. */
export const textTag = (key: string, text: string): JaegerTag[] => (text === '' ? [] : [toTag(key, text)]);

const MINUS_ZERO = '"type":"float64","value":"-0"';

/** JSON with a minus zero as a number, which `JSON.stringify` writes as zero. No text can hold the pattern: its quotes are escaped. */
export const tagJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(MINUS_ZERO, '"type":"float64","value":-0');

/** The processes of one trace, each once however many spans it has. */
export class Processes {
  readonly #ids = new Map<string, string>();

  /** @param json A process. */
  idOf(json: string): string {
    let id = this.#ids.get(json);
    if (id === undefined) {
      id = `p${this.#ids.size + 1}`;
      this.#ids.set(json, id);
    }
    return id;
  }

  /** Members of the object `processes`. */
  get json(): string {
    return [...this.#ids].map(([process, id]) => `"${id}":${process}`).join(',');
  }
}
