// The texts of a block, as JSON: names, scopes, tracestates, resources, and how ticks become Unix time. Written for each two thousand spans of
// a service under load, so that pieces that repeat are encoded once.
import { getOrMake } from '../base/maps/maps.js';
import type { ClockAnchor } from '../clock/index.js';
import type { Resource } from '../collector/reporter.js';
import { internedName, type SpanScope } from '../rows/name-table.js';

export interface BlockMeta {
  readonly names: readonly (readonly [number: number, text: string])[];
  readonly scopes: readonly (readonly [number: number, scope: SpanScope])[];
  /** The first is that of traces without one. */
  readonly traceStates: readonly string[];
  readonly resources: readonly Resource[];
  readonly anchor: ClockAnchor;
}

// Attributes may be big integers, for which JSON has no word.
const BIGINT = '$bigint';

/** JSON of values that may be big integers. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? { [BIGINT]: one.toString() } : one));

/** What {@link toJson} has written. */
export const fromJson = (bytes: Buffer): unknown =>
  JSON.parse(bytes.toString(), (_, value) => (typeof value?.[BIGINT] === 'string' ? BigInt(value[BIGINT]) : value));

export class MetaWriter {
  // By number of the name.
  readonly #names: string[] = [];
  readonly #resourceTexts = new WeakMap<object, string>();
  // In order of their numbers. A service may have one of its own for each request.
  #states = new Map([['', 0]]);
  #resources: unknown[] = [];

  /** The number of a tracestate in the block that is being made. */
  numberOfState(state: string): number {
    return state === '' ? 0 : getOrMake(this.#states, state, () => this.#states.size);
  }

  numberOfResource(resource: unknown): number {
    return placeOf(this.#resources, resource);
  }

  /** The bytes of all, and begin another block. */
  write(names: readonly number[], scopes: BlockMeta['scopes'], anchor: ClockAnchor): Buffer {
    const [states, resources] = [[...this.#states.keys()], this.#resources];
    if (states.length > 1) this.#states = new Map([['', 0]]);
    this.#resources = [];
    const named = names.map((number) => this.#nameText(number)).join(',');
    const made = resources.map((resource) => this.#resourceText(resource as object)).join(',');
    // Only attributes of scopes may be big integers, and most blocks have no scope but ours.
    const others = scopes.length === 0 ? '[]' : toJson(scopes);
    const rest = `"scopes":${others},"traceStates":${JSON.stringify(states)},"anchor":${JSON.stringify(anchor)}`;
    return Buffer.from(`{"names":[${named}],"resources":[${made}],${rest}}`);
  }

  #nameText(number: number): string {
    this.#names[number] ??= JSON.stringify([number, internedName(number)]);
    return this.#names[number];
  }

  #resourceText(resource: object): string {
    let text = this.#resourceTexts.get(resource);
    if (text === undefined) {
      text = toJson(resource);
      this.#resourceTexts.set(resource, text);
    }
    return text;
  }
}

/** The place of `one` in a short list, where it is put unless it is there. */
const placeOf = <T>(list: T[], one: T): number => {
  const at = list.lastIndexOf(one);
  return at < 0 ? list.push(one) - 1 : at;
};
