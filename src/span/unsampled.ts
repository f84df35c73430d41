// The unsampled form of a span: it records nothing and passes on that its trace is not sampled. Most unsampled roots call nobody, so a place of its own is
// made for whoever asks.
import { state } from '../context/process-state.js';
import { type QueueMount, queueStore, SpanQueue } from '../local-span/local-span.js';
import { runOnQueue } from '../local-span/task-context.js';
import type { SpanContext } from './span-context.js';

/** The span that has this form. */
interface Owner extends QueueMount {
  readonly isRoot: boolean;
  idHi: number;
  idLo: number;
}

export class Unsampled {
  // One for all runs: nothing is in it.
  private queue: SpanQueue | null = null;

  /** @param context What is passed on; of a root that of the caller, until somebody asks. */
  constructor(private context: SpanContext) {}

  /** What `span` passes on. A root has an id of its own from then on. */
  contextOf(span: Owner): SpanContext {
    if (span.isRoot && span.idLo === 0) {
      this.context = this.context.unsampledChild();
      span.idHi = this.context.idHi;
      span.idLo = this.context.idLo;
    }
    return this.context;
  }

  /** Run `fn` with `span` current. */
  run<T>(span: Owner, fn: () => T): T {
    if (state.carriesContexts) return runOnQueue(new SpanQueue(span, false), fn);
    this.queue ??= new SpanQueue(span, false);
    return queueStore.run(this.queue, fn);
  }
}
