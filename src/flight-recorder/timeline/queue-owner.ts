// The owner of a span queue, read in the middle of any code, recording code included: reads fields, changes nothing.
import type { SpanQueue } from '../../local-span/span-queue.js';
import type { Span } from '../../span/span.js';
import { hex8 } from '../../span/traceparent.js';

/** The span that had the loop, as it was when the sample was taken: the span itself may end, and be dropped. */
export interface Owner {
  /** Null for work that no span covers. */
  mount: object | null;
  name: string;
  w0: number;
  w1: number;
  w2: number;
  w3: number;
  idHi: number;
  idLo: number;
}

export const noOwner = (): Owner => ({ mount: null, name: '', w0: 0, w1: 0, w2: 0, w3: 0, idHi: 0, idLo: 0 });

/** Put the span of `queue` into `owner`. One that does not record has a name and no ids. */
export const readOwner = (queue: SpanQueue | undefined, owner: Owner): void => {
  owner.mount = null;
  owner.name = '';
  owner.w0 = owner.w1 = owner.w2 = owner.w3 = owner.idHi = owner.idLo = 0;
  if (queue === undefined || !queue.mount.isSpan) return;
  const span = queue.mount as Span;
  if (span.name === '') return;
  owner.mount = span;
  owner.name = span.name;
  if (span.trace === null) return;
  const { context } = span.trace;
  owner.w0 = context.w0;
  owner.w1 = context.w1;
  owner.w2 = context.w2;
  owner.w3 = context.w3;
  owner.idHi = span.idHi;
  owner.idLo = span.idLo;
};

/** '' for one that does not record. */
export const traceIdOf = ({ w0, w1, w2, w3, idHi, idLo }: Owner): string =>
  (idHi | idLo) === 0 ? '' : hex8(w0) + hex8(w1) + hex8(w2) + hex8(w3);

/** '' for one that does not record. */
export const spanIdOf = ({ idHi, idLo }: Owner): string => ((idHi | idLo) === 0 ? '' : hex8(idHi) + hex8(idLo));
