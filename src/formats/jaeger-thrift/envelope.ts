// What surrounds the spans of one packet: the call (over UDP only), the batch and its process. Made anew for every
// report, since a resource may change; never kept from a first span.
import type { Resource } from '../../collector/reporter.js';
import { ObjectProperties } from '../../record/properties.js';
import type { ThriftWriter } from './thrift-writer.js';
import { writePropertyTags } from './write-tag.js';

/** `agent-call`: the one-way call `Agent.emitBatch`, for UDP. `batch`: the bare `struct Batch`, for HTTP. */
export type EnvelopeKind = 'agent-call' | 'batch';

export interface Envelope {
  /** Everything before the header of the list of spans. */
  readonly before: Buffer;
  /** Everything after the last span: the ends of the open structs. */
  readonly after: Buffer;
}

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

/** Writes into `writer` from its start and copies the two halves out. */
export const makeEnvelope = (writer: ThriftWriter, kind: EnvelopeKind, resource: Resource): Envelope => {
  writer.out.clear();
  const isCall = kind === 'agent-call';
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
  const whole = writer.out.copy();
  return { before: whole.subarray(0, split), after: whole.subarray(split) };
};
