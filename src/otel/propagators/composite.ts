// Several propagators as one. One that throws is said to `diag` and stops none of the others.
import type { Context, TextMapGetter, TextMapPropagator, TextMapSetter } from '@opentelemetry/api';
import { diag } from '../api-global.js';

const failed = (propagator: TextMapPropagator, what: string, error: unknown): void =>
  diag.warn(`Failed to ${what} with ${propagator.constructor.name}. Err: ${String(error)}`);

/** Injects with all and extracts with one after another, in their order. */
export class CompositePropagator implements TextMapPropagator {
  readonly #propagators: readonly TextMapPropagator[];

  constructor(propagators: readonly TextMapPropagator[]) {
    this.#propagators = [...propagators];
  }

  inject<C>(context: Context, carrier: C, setter: TextMapSetter<C>): void {
    for (const one of this.#propagators) {
      try {
        one.inject(context, carrier, setter);
      } catch (error) {
        failed(one, 'inject', error);
      }
    }
  }

  extract<C>(context: Context, carrier: C, getter: TextMapGetter<C>): Context {
    return this.#propagators.reduce((before, one) => {
      try {
        return one.extract(before, carrier, getter);
      } catch (error) {
        failed(one, 'extract', error);
        return before;
      }
    }, context);
  }

  fields(): string[] {
    return [...new Set(this.#propagators.flatMap((one) => one.fields()))];
  }
}
