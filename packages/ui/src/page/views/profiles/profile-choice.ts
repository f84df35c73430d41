// What the view shows, read from the address and changed by going to another one: profile, profile to compare with, label, way of looking; and
// numbers and names of profiles as it shows them.
import type { Parameters } from '../../api/client.js';
import { goTo, hrefOf } from '../../shell/location.js';

const NS_PER_MS = 1e6;

/** `12.3 ms`. */
export const milliseconds = (ns: number): string => {
  const ms = ns / NS_PER_MS;
  return `${ms >= 100 ? Math.round(ms).toLocaleString('en') : Number(ms.toPrecision(3))} ms`;
};

/** `12.3 %`. */
export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** `+1.2`, in percentage points. */
export const points = (change: number): string => `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)}`;

/** A label's value; what has none is said so. */
export const nameOf = (value: string): string => (value === '' ? '(none)' : value);

/** `3 Nov, 14:05:10 UTC`. */
export const timeOf = (unixMs: number): string =>
  new Date(unixMs).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  });

type Given = Readonly<Record<string, string | undefined>>;

/** Ways of looking at a profile. */
export const LOOKS = ['flame', 'table'] as const;

/** Parameters that change how a graph is shown, not what it holds. */
const SAME_GRAPH: ReadonlySet<string> = new Set(['zoom', 'search', 'look']);

export class Choice {
  constructor(
    readonly parameters: Readonly<Record<string, string>>,
    /** The profile; the newest when the address names none. */
    readonly name: string,
  ) {}

  get look(): (typeof LOOKS)[number] {
    return LOOKS.find((look) => look === this.parameters.look) ?? 'flame';
  }

  get before(): string | undefined {
    return this.parameters.before;
  }

  /** Label key; undefined stands for all labels of a sample together. */
  get by(): string | undefined {
    return this.parameters.by;
  }

  get isInverted(): boolean {
    return this.parameters.inverted === 'true';
  }

  /** The chosen value; '' stands for samples without the key, undefined for all samples. */
  get value(): string | undefined {
    return this.parameters.none === 'true' ? '' : this.parameters.value;
  }

  /** What the endpoints are asked for. */
  get query(): Parameters {
    const { name, before, by, isInverted: inverted } = this;
    const { value, none } = this.parameters;
    return { name, before, by, value, none, inverted: inverted || undefined };
  }

  /** The address with some parameters changed. */
  href(changes: Given): string {
    return hrefOf('profiles', this.#with(changes));
  }

  /** Parameters that choose samples by the value of the current key. */
  ofValue(value: string | undefined): Given {
    const chosen = value === '' ? { none: 'true' } : { value };
    return { none: undefined, value: undefined, look: undefined, ...chosen };
  }

  /** Go to the address with some parameters changed. */
  change(changes: Given, replace = false): void {
    goTo('profiles', this.#with(changes), replace);
  }

  toggle(name: 'inverted'): void {
    this.change({ [name]: this.parameters[name] === 'true' ? undefined : 'true' });
  }

  /** A zoom names a row, which is another one in another graph. */
  #with(changes: Given): Given {
    const isSameGraph = Object.keys(changes).every((name) => SAME_GRAPH.has(name));
    const { zoom, ...others } = this.parameters;
    return { ...others, name: this.name, ...(isSameGraph && { zoom }), ...changes };
  }
}
