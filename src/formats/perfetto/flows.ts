// Links between spans as Perfetto's flows: arrows from the span that is linked to the one that links. Both ends of a flow bear its number, so
// that all spans have to be seen before the first is written. Bounded: links beyond the bound get no arrow, and are counted.
import type { FinishedSpan } from '../../record/finished-span.js';

const MAX_FLOWS = 1_000_000;

const NONE: readonly number[] = [];

export class Flows {
  readonly #bySpan = new Map<string, number[]>();
  #count = 0;
  /** Links that get no arrow. */
  refused = 0;

  /** Look at the links of a span. */
  see(span: FinishedSpan): void {
    const { linkCount } = span;
    for (let i = 0; i < linkCount; i++) {
      const { traceId, spanId } = span.link(i);
      if (this.#count >= MAX_FLOWS) this.refused++;
      else {
        const flow = ++this.#count;
        this.#add(traceId + spanId, flow);
        this.#add(span.traceId + span.spanId, flow);
      }
    }
  }

  /** The flows that begin or end at a span. */
  of(span: FinishedSpan): readonly number[] {
    return this.#bySpan.size === 0 ? NONE : (this.#bySpan.get(span.traceId + span.spanId) ?? NONE);
  }

  #add(key: string, flow: number): void {
    const flows = this.#bySpan.get(key);
    if (flows === undefined) this.#bySpan.set(key, [flow]);
    else flows.push(flow);
  }
}
