// What the copies of OpenTelemetry's API share, for copies of every version, whether they are packages or lie inside bundles: written here where no
// package has set it, and opened where one has. Must never take the place of what somebody else has set, and must let the program set the rest.
import type { MeterProvider, Tracer, TracerOptions, TracerProvider } from '@opentelemetry/api';
import { timers } from '../base/calls/timers.js';
import { API, type ApiGlobal, type ApiParts, apiGlobal } from '../otel/api-global.js';
import { versionOfCaller } from './copy-version.js';
import { observeMetrics, observeProvider } from './observe-metrics.js';

/** All copies of version 1 read it: none is newer by its minor. */
const FOR_ALL = '1.999.0';

const PARTS: readonly (keyof ApiParts)[] = ['trace', 'context', 'propagation', 'metrics', 'diag'];

/** From a part's getter to the copy that asks for it. */
const CALLS = 3;

/** A provider as programs find one that the API has set: some ask it for the one behind. */
class ProviderProxy implements TracerProvider {
  #delegate: TracerProvider;

  constructor(delegate: TracerProvider) {
    this.#delegate = delegate;
  }

  getTracer(name: string, version?: string, options?: TracerOptions): Tracer {
    return this.#delegate.getTracer(name, version, options);
  }

  getDelegateTracer(name: string, version?: string, options?: TracerOptions): Tracer {
    return this.#delegate.getTracer(name, version, options);
  }

  getDelegate(): TracerProvider {
    return this.#delegate;
  }

  setDelegate(delegate: TracerProvider): void {
    this.#delegate = delegate;
  }
}

const property = (value: unknown): PropertyDescriptor => ({
  value,
  configurable: true,
  enumerable: true,
  writable: true,
});

/**
 * What is shared, as an object in which a copy can set what is not set. A copy sets a part after it has asked for it and has found that the version
 * is exactly its own; so a caller that asks for a missing part finds its own version, until it has set the part or the stretch is over. Parts that are
 * set are plain properties, which cost nothing to read and which `disable` of a copy deletes. `setBy` is the version of the copy that has set some.
 */
const makeShared = (onUnknown: () => void, setBy?: string): ApiGlobal => {
  let known = setBy;
  let isUnknown = false;
  const restore = (): void => {
    shared.version = FOR_ALL;
  };
  const ask = (part: keyof ApiParts): undefined => {
    // A logger or a context is asked for often, and nearly always by the one copy of a bundle.
    const isAnew = part === 'metrics' || known === undefined;
    if (isAnew && !isUnknown) known = versionOfCaller(CALLS) ?? known;
    if (known !== undefined) {
      if (shared.version === FOR_ALL) timers.queueMicrotask(restore);
      shared.version = known;
    } else if (!isUnknown) {
      isUnknown = true;
      onUnknown();
    }
  };
  const missing = (part: keyof ApiParts): PropertyDescriptor => ({
    get: () => ask(part),
    set(value: unknown) {
      restore();
      Object.defineProperty(shared, part, property(value));
      if (part === 'metrics') observeProvider(value as MeterProvider);
    },
  });
  const parts = Object.create(Object.prototype, Object.fromEntries(PARTS.map((part) => [part, missing(part)])));
  const shared: ApiGlobal = Object.create(parts, { version: property(FOR_ALL) });
  return shared;
};

const isOurs = ({ trace }: ApiGlobal, provider: TracerProvider): boolean =>
  (trace as Partial<ProviderProxy> | undefined)?.getDelegate?.() === provider;

/**
 * Set the parts that nobody has set, and let copies of every version read them unless they are somebody else's. `onUnknown` is called once if a copy
 * asks for another part and cannot set it.
 */
export const shareParts = (
  { trace, ...others }: Required<Pick<ApiParts, 'trace' | 'context' | 'propagation'>>,
  onUnknown: () => void,
): void => {
  const found = apiGlobal();
  const parts = { trace: new ProviderProxy(trace), ...others };
  if (found === undefined || isOurs(found, trace)) {
    const { version, ...set } = found ?? {};
    Object.defineProperty(globalThis, API, property(Object.assign(makeShared(onUnknown, version), parts, set)));
    return;
  }
  for (const [part, value] of Object.entries(parts)) {
    if (found[part as keyof ApiParts] === undefined) Object.assign(found, { [part]: value });
  }
  observeMetrics();
};
