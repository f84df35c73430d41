// Reads Perfetto files independently of our writer: protobufjs on the messages below, which name the fields that the published protos have
// there, and a reading of tracks as trace_processor does it: packets by time, a stack for each track.
import protobuf from 'protobufjs';

const PROTO = `
syntax = "proto2";
message Trace { repeated Packet packet = 1; }
message Packet {
  optional uint64 timestamp = 8;
  optional uint32 sequence = 10;
  optional Event event = 11;
  optional Clocks clocks = 6;
  optional Track track = 60;
}
message Clocks { repeated Clock clocks = 1; }
message Clock { optional uint32 id = 1; optional uint64 timestamp = 2; }
message Track {
  optional uint64 uuid = 1;
  optional string name = 2;
  optional Process process = 3;
  optional Thread thread = 4;
  optional uint64 parent = 5;
  optional int32 ordering = 11;
  optional int32 rank = 12;
  optional int32 merge = 15;
}
message Process { optional int32 pid = 1; optional string name = 6; }
message Thread { optional int32 pid = 1; optional int64 tid = 2; optional string name = 5; }
message Event {
  repeated Annotation annotations = 4;
  optional int32 type = 9;
  optional uint64 track = 11;
  repeated string categories = 22;
  optional string name = 23;
  repeated fixed64 flows = 47;
}
message Annotation {
  optional string key = 10;
  oneof value {
    bool bool = 2; uint64 uint = 3; int64 int = 4; double double = 5; string text = 6;
  }
  repeated Annotation entries = 11;
  repeated Annotation items = 12;
}
`;

const Trace = protobuf.parse(PROTO, { keepCase: true }).root.lookupType('Trace');

interface RawAnnotation {
  readonly key: string;
  readonly entries: readonly RawAnnotation[];
  readonly items: readonly RawAnnotation[];
  readonly value?: 'bool' | 'uint' | 'int' | 'double' | 'text';
  readonly [field: string]: unknown;
}
interface RawPacket {
  readonly timestamp?: string;
  readonly sequence: number;
  readonly event?: {
    readonly type: number;
    readonly track: string;
    readonly name?: string;
    readonly categories: readonly string[];
    readonly annotations: readonly RawAnnotation[];
    readonly flows: readonly string[];
  };
  readonly clocks?: { readonly clocks: readonly { readonly id: number; readonly timestamp: string }[] };
  readonly track?: {
    readonly uuid: string;
    readonly parent?: string;
    readonly name?: string;
    readonly process?: { readonly pid: number; readonly name: string };
    readonly thread?: { readonly pid: number; readonly tid: string; readonly name: string };
  };
}

/** A slice or an instant as Perfetto shows it. */
export interface Shown {
  readonly track: string;
  readonly name: string;
  readonly categories: readonly string[];
  readonly startNs: bigint;
  /** Undefined: it has not ended, or is an instant. */
  endNs?: bigint;
  readonly isInstant: boolean;
  readonly args: Readonly<Record<string, unknown>>;
  readonly flows: readonly string[];
  /** Of its track. */
  readonly depth: number;
  readonly parent: Shown | undefined;
}

export interface PerfettoFile {
  readonly tracks: ReadonlyMap<string, NonNullable<RawPacket['track']>>;
  /** By start. */
  readonly slices: readonly Shown[];
  readonly clocks: readonly { readonly id: number; readonly timestamp: string }[];
}

const BEGIN = 1;
const END = 2;

export const decodePerfetto = (bytes: Uint8Array): PerfettoFile => {
  const { packet: packets } = Trace.toObject(Trace.decode(bytes), { longs: String, arrays: true, oneofs: true }) as {
    packet: RawPacket[];
  };
  const contentOf = (one: RawAnnotation): unknown => {
    if (one.items.length > 0) return one.items.map(contentOf);
    if (one.entries.length > 0) return argsOf(one.entries);
    if (one.value === undefined) return undefined;
    return one.value === 'int' ? BigInt(one.int as string) : one[one.value];
  };
  const argsOf = (all: readonly RawAnnotation[]): Record<string, unknown> =>
    Object.fromEntries(all.map((one) => [one.key, contentOf(one)]));

  const tracks = new Map<string, NonNullable<RawPacket['track']>>();
  const events: { readonly at: bigint; readonly type: number; readonly shown: Omit<Shown, 'depth' | 'parent'> }[] = [];
  for (const { timestamp, sequence, event, track } of packets) {
    if (sequence !== 1) throw new Error('a packet without a sequence');
    if (track !== undefined) {
      if (track.parent !== undefined && !tracks.has(track.parent)) throw new Error('a track without its parent');
      tracks.set(track.uuid, track);
    }
    if (event === undefined) continue;
    if (timestamp === undefined) throw new Error('an event without a time');
    if (!tracks.has(event.track)) throw new Error('an event without a track');
    const { name = '', categories } = event;
    if ((name === '') !== (event.type === END)) throw new Error('only an end has no name');
    const at = BigInt(timestamp);
    const isInstant = event.type !== BEGIN && event.type !== END;
    const args = argsOf(event.annotations);
    events.push({
      at,
      type: event.type,
      shown: { track: event.track, name, categories, startNs: at, isInstant, args, flows: event.flows },
    });
  }

  const slices: Shown[] = [];
  const stacks = new Map<string, Shown[]>();
  for (const { at, type, shown } of events.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))) {
    const stack = stacks.get(shown.track) ?? [];
    stacks.set(shown.track, stack);
    if (type === END) {
      const top = stack.pop();
      if (top === undefined) throw new Error('an end without its begin');
      top.endNs = at;
      continue;
    }
    const one: Shown = { ...shown, depth: stack.length, parent: stack.at(-1) };
    slices.push(one);
    if (type === BEGIN) stack.push(one);
  }
  return { tracks, slices, clocks: packets[0].clocks?.clocks ?? [] };
};
