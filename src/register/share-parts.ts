// What the copies of OpenTelemetry's API share, for copies of every version, whether they are packages or lie inside bundles: written here where no
// package has set it, and opened where one has. Must never take the place of what somebody else has set, and must let the program set the rest.
//
// The version of the copy of OpenTelemetry's API that calls. A copy does not export it, so it is read where the call comes from: in the package that
// the file belongs to, or in the bundle around that place. Must be right or undefined: it is for what happens a few times in a process.
//
// The counters of `stats()` among the program's own metrics, as soon as it sets a MeterProvider: where all copies of OpenTelemetry's API keep what
// was set, which must go on as it was.
import { readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MeterProvider, Tracer, TracerOptions, TracerProvider } from '@opentelemetry/api';
import { attempt } from '../base/calls/attempt.js';
import { type Mark, mark } from '../base/calls/mark.js';
import { timers } from '../base/calls/timers.js';
import { API, type ApiGlobal, type ApiParts, apiGlobal } from '../otel/api-global.js';
import { observeStats } from '../otel/stats-metrics.js';

const LITERAL = /(["'`])(1\.\d+\.\d+(?:-[\w.]+)?)\1/g;
const NAMED = /\bVERSION\w*\s*[=:]\s*$/;
/** From the code that compares versions to the version, in a bundle that has both from the modules of one package. */
const NEAR = 6000;

const offsetOf = (text: string, { line, column }: Mark): number => {
  let at = 0;
  for (let left = line; left > 0; left--) at = text.indexOf('\n', at) + 1;
  return at + column;
};

/** The version that the text names closest to a place: bundlers write the modules of a package one behind the other. */
export const versionIn = (text: string, place: Mark): string | undefined => {
  const at = offsetOf(text, place);
  const found = [...text.matchAll(LITERAL)]
    .map(({ 2: version, index }) => ({
      version,
      distance: Math.abs(index - at),
      isNamed: NAMED.test(text.slice(Math.max(0, index - 40), index)),
    }))
    .sort((a, b) => a.distance - b.distance);
  const [first] = found;
  if (first === undefined || first.distance <= NEAR) return first?.version;
  return (found.find(({ isNamed }) => isNamed) ?? first).version;
};

/** That of the package of the API which a file belongs to. */
const versionOfPackage = (file: string): string | undefined => {
  const folder = `${sep}@opentelemetry${sep}api${sep}`;
  const at = file.lastIndexOf(folder);
  if (at < 0) return undefined;
  const manifest = join(file.slice(0, at), folder, 'package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version?: string };
  return version;
};

/** Of the copy that has called so many calls further out; undefined where its code is in no file. */
export const versionOfCaller = (calls: number): string | undefined => {
  const place = mark(calls + 1);
  if (place === undefined || !place.url.startsWith('file:')) return undefined;
  return attempt(() => {
    const file = fileURLToPath(place.url);
    return versionOfPackage(file) ?? versionIn(readFileSync(file, 'utf8'), place);
  });
};

let provided: MeterProvider | undefined;
const users: ((provider: MeterProvider) => void)[] = [];

/** Calls `use` with each MeterProvider that the program sets, and with the one that it has set. */
export const onMeterProvider = (use: (provider: MeterProvider) => void): void => {
  users.push(use);
  if (provided !== undefined) use(provided);
};

const useProvider = (provider: MeterProvider): void => {
  provided = provider;
  for (const use of users) use(provider);
};

/** A provider that cannot be observed is the program's own. */
export const observeProvider = (provider: MeterProvider): void => {
  useProvider(provider);
  try {
    observeStats(provider);
  } catch {
    // Nothing of it is ours.
  }
};

/** Once a copy of the API keeps something there, which it makes itself. */
export const observeMetrics = (): void => {
  const global = apiGlobal();
  if (global === undefined || global.metrics !== undefined) return;
  Object.defineProperty(global, 'metrics', {
    configurable: true,
    enumerable: true,
    get: () => undefined,
    set(provider: MeterProvider) {
      Object.defineProperty(global, 'metrics', property(provider));
      observeProvider(provider);
    },
  });
};

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
  // Not asked for: that is what a copy does that is about to set one.
  const before = found === undefined ? undefined : Object.getOwnPropertyDescriptor(found, 'metrics')?.value;
  if (before !== undefined) useProvider(before);
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
