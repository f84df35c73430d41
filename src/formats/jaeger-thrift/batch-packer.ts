// Packs spans into messages of at most so many bytes, by the size they really have: each span is encoded once, in place.
// A span that does not fit even alone is left out and counted; its neighbours must not notice.
import type { Resource } from '../../collector/reporter.js';
import type { FinishedSpan } from '../../record/finished-span.js';
import { ObjectProperties } from '../../record/properties.js';
import { LONGEST_LIST_HEADER, type ThriftWriter } from './thrift-writer.js';
import { writeSpan } from './write-span.js';
import { writePropertyTags } from './write-tag.js';

/** `agent-call`: the one-way call `Agent.emitBatch`, for UDP. `batch`: the bare `struct Batch`, for HTTP. */
export type EnvelopeKind = 'agent-call' | 'batch';

const writeProcess = (writer: ThriftWriter, resource: Resource): void => {
  const properties = new ObjectProperties().of(resource.attributes);
  const outer = writer.beginStruct();
  writer.stringField(1, resource.serviceName);
  if (properties.size > 0) {
    writer.listField(2);
    writer.structListHeader(properties.size);
    writePropertyTags(writer, properties);
  }
  writer.endStruct(outer);
};

/** A finished message. `bytes` is a view that the next call of the packer overwrites. */
export interface Packet {
  readonly bytes: Buffer;
  readonly spanCount: number;
}

const NOTHING = Buffer.alloc(0);

/**
 * Memory while packing, front to back: room for the envelope and list header, the spans of the open message, and at a
 * split the span that did not fit. The envelope is put right before the first span once the number of spans is known.
 */
export class BatchPacker {
  /** Everything before the header of the list of spans: the call (over UDP only), the batch and its process. */
  #before: Buffer = NOTHING;
  /** Everything after the last span: the ends of the open structs. */
  #after: Buffer = NOTHING;
  /** Where the first span begins. */
  #base = 0;
  #count = 0;
  /** The encoded span that opens the next message, when the last `add` closed one. */
  #carriedFrom = 0;
  #carriedTo = 0;
  /** When the last `add` left its span out: the bytes that a message with it alone would have taken. Else 0. */
  refusedBytes = 0;
  /** Encoded size of the span last added. */
  spanBytes = 0;

  constructor(
    readonly writer: ThriftWriter,
    readonly kind: EnvelopeKind,
    readonly maxBytes: number,
    readonly keepNanoseconds: boolean,
  ) {}

  /** Starts a report; whatever an earlier one left behind is forgotten. */
  begin(resource: Resource): void {
    const { writer } = this;
    writer.out.trim(2 * this.maxBytes);
    this.#makeEnvelope(resource);
    this.#base = LONGEST_LIST_HEADER + this.#before.length;
    writer.out.clear();
    writer.out.reserve(this.#base);
    writer.out.length = this.#base;
    this.#count = 0;
    this.#carriedFrom = this.#carriedTo = 0;
  }

  /** Adds a span. Returns the message it did not fit into, which is then complete, or null. */
  add(span: FinishedSpan): Packet | null {
    this.#fetchCarried();
    this.refusedBytes = 0;
    const { writer } = this;
    const start = writer.out.length;
    writeSpan(writer, span, this.keepNanoseconds);
    const end = writer.out.length;
    this.spanBytes = end - start;
    if (this.#sizeWith(this.#count + 1, end) <= this.maxBytes) {
      this.#count++;
      return null;
    }
    const alone = this.#sizeWith(1, this.#base + end - start);
    if (alone > this.maxBytes) {
      writer.out.length = start;
      this.refusedBytes = alone;
      return null;
    }
    // Move the span out of the way of the message's last bytes, and back to the front with the next call.
    const gap = this.#after.length;
    writer.out.reserve(gap);
    writer.out.bytes.copyWithin(start + gap, start, end);
    this.#carriedFrom = start + gap;
    this.#carriedTo = end + gap;
    return this.#close(start);
  }

  /** The last message, or null when nothing is left. */
  finish(): Packet | null {
    this.#fetchCarried();
    if (this.#count === 0) return null;
    const end = this.writer.out.length;
    this.writer.out.reserve(this.#after.length);
    return this.#close(end);
  }

  /** Anew for every report, since a resource may change. */
  #makeEnvelope(resource: Resource): void {
    const { writer } = this;
    const isCall = this.kind === 'agent-call';
    let outerCall = 0;
    if (isCall) {
      writer.onewayMessage('emitBatch');
      outerCall = writer.beginStruct();
      writer.structField(1);
    }
    const outerBatch = writer.beginStruct();
    writer.structField(1);
    writeProcess(writer, resource);
    writer.listField(2);
    const split = writer.out.length;
    writer.endStruct(outerBatch);
    if (isCall) writer.endStruct(outerCall);
    this.#before = writer.out.copy(0, split);
    this.#after = writer.out.copy(split);
  }

  #fetchCarried(): void {
    if (this.#carriedTo === 0) return;
    const { writer } = this;
    writer.out.bytes.copyWithin(this.#base, this.#carriedFrom, this.#carriedTo);
    writer.out.length = this.#base + this.#carriedTo - this.#carriedFrom;
    this.#count = 1;
    this.#carriedFrom = this.#carriedTo = 0;
  }

  #sizeWith(count: number, end: number): number {
    return this.#before.length + this.writer.structListHeaderLength(count) + (end - this.#base) + this.#after.length;
  }

  #close(end: number): Packet {
    const { writer } = this;
    const spanCount = this.#count;
    writer.out.length = 0;
    writer.structListHeader(spanCount);
    const headerLength = writer.out.length;
    const { bytes } = writer.out;
    bytes.copyWithin(this.#base - headerLength, 0, headerLength);
    const start = this.#base - headerLength - this.#before.length;
    this.#before.copy(bytes, start);
    this.#after.copy(bytes, end);
    this.#count = 0;
    writer.out.length = this.#base;
    return { bytes: bytes.subarray(start, end + this.#after.length), spanCount };
  }
}
