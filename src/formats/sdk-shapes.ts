// What exporters, processors and programs of OpenTelemetry find behind a span, by structure, whether it was exported or is looked at as it ends: the resource,
// and W3C's tracestate. Neither the SDK nor the API is needed for it.

const MAX_MEMBERS = 32;

/** A tracestate, read when somebody asks for a member. It keeps the text that it was given, byte for byte, until somebody changes it. */
export class ListedState {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get(key: string): string | undefined {
    return this.#members().get(key);
  }

  /** What changes comes first, as the W3C recommendation asks, and what is too much goes from the end. */
  set(key: string, value: string): ListedState {
    const members = this.#members();
    members.delete(key);
    return listed([[key, value] as const, ...members].slice(0, MAX_MEMBERS));
  }

  unset(key: string): ListedState {
    const members = this.#members();
    members.delete(key);
    return listed([...members]);
  }

  serialize(): string {
    return this.#text;
  }

  #members(): Map<string, string> {
    const members = new Map<string, string>();
    for (const text of this.#text.split(',')) {
      const member = text.trim();
      const at = member.indexOf('=');
      const key = member.slice(0, at);
      if (at > 0 && !members.has(key)) members.set(key, member.slice(at + 1));
    }
    return members;
  }
}

const listed = (members: readonly (readonly [key: string, value: string])[]): ListedState =>
  new ListedState(members.map((member) => member.join('=')).join(','));

/** A resource: one object for all spans of it, for exporters group by identity. */
export interface SdkResource<A extends object> {
  readonly attributes: A;
  readonly asyncAttributesPending?: boolean;
  readonly schemaUrl?: string;
  waitForAsyncAttributes?(): Promise<void>;
  merge(other: SdkResource<A> | null): SdkResource<A>;
  getRawAttributes(): [string, A[keyof A]][];
}

export const sdkResource = <A extends object>(attributes: A): SdkResource<A> => ({
  attributes,
  asyncAttributesPending: false,
  waitForAsyncAttributes: () => Promise.resolve(),
  merge: (other) => sdkResource({ ...attributes, ...other?.attributes }),
  getRawAttributes: () => Object.entries(attributes),
});
