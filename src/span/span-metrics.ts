// The spans of a program that metrics count and time, by their names. What is asked for is only written down here: what measures is loaded with metrics, and
// finds it. Must cost nothing while there are none, and not grow with what a program does.
import { OptionError } from '../base/errors.js';
import { state } from '../context/process-state.js';

/** How the spans of one name are measured. */
export interface SpanMetricOptions {
  /** Keys of properties that become attributes. Each should have few values: sets of them are bounded. */
  readonly properties?: readonly string[];
}

/** @internal Attributes that each span has. */
export const SPAN_KEYS: readonly string[] = Object.freeze(['span.name', 'error.type']);

/** Names that are measured; an instrument has no more sets. */
const MAX_NAMES = 2000;
const MAX_PROPERTIES = 16;

/** @internal */
export interface SpanMetricState {
  /** Keys of properties by the name of the span. */
  readonly wanted: Map<string, readonly string[]>;
  /** Called when the first is wanted. */
  begin: (() => void) | undefined;
}

/** @internal That of this thread. */
export const spanMetricState = (): SpanMetricState => {
  state.spanMetrics ??= { wanted: new Map(), begin: undefined } satisfies SpanMetricState;
  return state.spanMetrics as SpanMetricState;
};

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const propertiesOf = (name: string, options: SpanMetricOptions): readonly string[] => {
  const properties: unknown = (options as SpanMetricOptions | null)?.properties ?? [];
  const whose = `spanMetrics: "properties" of ${JSON.stringify(name)}`;
  if (!Array.isArray(properties) || !properties.every(isText))
    throw new OptionError(`${whose} must be an array of keys.`);
  const keys = [...new Set(properties)];
  if (keys.length > MAX_PROPERTIES) throw new OptionError(`${whose} must be at most ${MAX_PROPERTIES} keys.`);
  const taken = keys.find((key) => SPAN_KEYS.includes(key));
  if (taken !== undefined) throw new OptionError(`${whose} must not have ${taken}: each span has it of itself.`);
  return keys;
};

/**
 * Count and time your own spans: those with these names, by the properties that you choose, in the histogram `spanline.recorded_span.duration`. It has every span
 * that is recorded, and no other: where a sampler leaves requests out, it counts those that are left, which its name says. With the flight recorder all are
 * recorded. Nothing is measured unless `OTEL_METRICS_EXPORTER` asks for metrics, under `spanline/register`.
 *
 * May be called often; a name has the same properties each time. Throws `ERR_SPANLINE_OPTION` when something is wrong with them.
 *
 * @example
 * ```ts
 * import { Span, spanMetrics } from 'spanline';
 *
 * spanMetrics({ checkout: { properties: ['plan'] }, 'send invoice': {} });
 *
 * Span.root('checkout', undefined, { properties: { plan: 'team' } }).runToEnd(() => 42);
 * ```
 */
export const spanMetrics = (spans: Readonly<Record<string, SpanMetricOptions>>): void => {
  if (typeof spans !== 'object' || spans === null)
    throw new OptionError('spanMetrics takes an object: spanMetrics({ checkout: { properties: ["plan"] } }).');
  const { wanted, begin } = spanMetricState();
  const added = Object.entries(spans).map(([name, options]) => [name, propertiesOf(name, options)] as const);
  for (const [name, keys] of added) {
    const before = wanted.get(name);
    if (before !== undefined && before.join('\n') !== keys.join('\n'))
      throw new OptionError(`spanMetrics: ${JSON.stringify(name)} is measured by [${before.join(', ')}] already.`);
  }
  if (new Set([...wanted.keys(), ...added.map(([name]) => name)]).size > MAX_NAMES)
    throw new OptionError(`spanMetrics: at most ${MAX_NAMES} names of spans are measured.`);
  for (const [name, keys] of added) wanted.set(name, keys);
  if (added.length > 0) begin?.();
};
