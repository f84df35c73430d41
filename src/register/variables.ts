// Reads single environment variables as OpenTelemetry's specification asks: an empty one counts as not set, an unknown value gives one
// warning and the default. Nothing here may throw: a wrong variable must not keep a service from starting.

/** Called for a value that is not used, with a whole sentence. */
export type Warn = (message: string) => void;

/** The values of an environment, with what is wrong said once. */
export class Variables {
  readonly #env: NodeJS.ProcessEnv;
  readonly #warn: Warn;

  constructor(env: NodeJS.ProcessEnv, warn: Warn) {
    this.#env = env;
    this.#warn = warn;
  }

  /** Undefined when it is not set. */
  text(name: string): string | undefined {
    return this.#env[name]?.trim() || undefined;
  }

  /** True for `true` in any case; everything else but `false` is warned of. */
  flag(name: string): boolean {
    const value = this.text(name)?.toLowerCase();
    if (value !== undefined && value !== 'true' && value !== 'false') this.#refuse(name, 'true or false', 'false');
    return value === 'true';
  }

  /** A whole number; undefined when it is not set or is none. */
  whole(name: string, min: number, max = Number.POSITIVE_INFINITY): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
    this.#refuse(
      name,
      `a whole number from ${min} ${max === Number.POSITIVE_INFINITY ? 'on' : `to ${max}`}`,
      'the default',
    );
    return undefined;
  }

  /** A number from 0 to 1; undefined when it is not set or is none. */
  share(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (value >= 0 && value <= 1) return value;
    this.#refuse(name, 'a number from 0 to 1', 'the default');
    return undefined;
  }

  /** One of a few words; the default when it is not set or another. */
  word<T extends string>(name: string, known: readonly T[], otherwise: T): T {
    return this.#known(name, this.text(name)?.toLowerCase(), known, otherwise) ?? otherwise;
  }

  /** Words with commas between them, each once; the defaults when none is set or known. */
  words<T extends string>(name: string, known: readonly T[], otherwise: readonly T[]): readonly T[] {
    const given = this.list(name);
    const right = given.flatMap((one) => this.#known(name, one.toLowerCase(), known, otherwise.join(',')) ?? []);
    return right.length === 0 ? otherwise : [...new Set(right)];
  }

  /** Texts with commas between them; none when it is not set. */
  list(name: string): readonly string[] {
    return (this.text(name) ?? '')
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '');
  }

  #known<T extends string>(name: string, value: string | undefined, known: readonly T[], otherwise: string) {
    if (value === undefined || known.includes(value as T)) return value as T | undefined;
    this.#refuse(name, `one of ${known.join(', ')}`, otherwise);
    return undefined;
  }

  #refuse(name: string, rule: string, used: string): void {
    this.#warn(`${name} must be ${rule}, not "${this.text(name)}"; ${used} is used.`);
  }
}
