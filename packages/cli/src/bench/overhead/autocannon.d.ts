// What the overhead command calls of autocannon; the package brings no types. It must declare nothing that is not called.
declare module 'autocannon' {
  interface Options {
    readonly url: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
    /** Milliseconds; it ends with one of its samples. */
    readonly sampleInt: number;
    readonly headers?: Readonly<Record<string, string>>;
  }
  interface Result {
    readonly errors: number;
    readonly timeouts: number;
    readonly non2xx: number;
    /** Seconds. */
    readonly duration: number;
    readonly requests: { readonly total: number };
  }
  interface Instance extends PromiseLike<Result> {
    on(event: 'response', listener: (client: unknown, status: number, bytes: number, ms: number) => void): this;
    stop(): void;
  }
  const autocannon: (options: Options) => Instance;
  export default autocannon;
}
