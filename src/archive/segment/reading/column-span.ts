// A span of a group as conditions see it, read out of the columns that were loaded. One for a group, moved from span to span; a column that
// was not loaded has nothing.
import type {
  ArchivedEvent,
  ArchivedKind,
  ArchivedResource,
  ArchivedScope,
  ArchivedStatusCode,
  ArchivedValue,
} from '../../../trace/archived-span.js';
import type { SpanView } from '../../../trace/match.js';
import type { SpanColumns, SpanTimesRead } from '../columns/span-columns.js';
import type { Group } from './group-reader.js';

const NO_EVENTS: readonly ArchivedEvent[] = Object.freeze([]);

/** The span `at` of a group. */
export class ColumnSpan implements SpanView {
  at = 0;

  constructor(
    private readonly group: Group,
    private readonly spans: SpanColumns,
    private readonly times: SpanTimesRead | undefined,
  ) {}

  get name(): string {
    return this.spans.shape(this.at).name;
  }
  get service(): string {
    return this.spans.service(this.at);
  }
  get kind(): ArchivedKind {
    return this.spans.shape(this.at).kind;
  }
  get statusCode(): ArchivedStatusCode {
    return this.spans.statusCode(this.at);
  }
  get statusMessage(): string {
    return this.group.texts?.message(this.at) ?? '';
  }
  get traceState(): string {
    return this.group.texts?.traceState(this.at) ?? '';
  }
  get resource(): ArchivedResource {
    return this.spans.resource(this.at);
  }
  get scope(): ArchivedScope {
    return this.spans.shape(this.at).scope;
  }
  get startUnixNs(): bigint {
    return this.times?.starts[this.at] ?? 0n;
  }
  get endUnixNs(): bigint {
    return this.times?.ends[this.at] ?? 0n;
  }
  get events(): readonly ArchivedEvent[] {
    // Their times are not looked at.
    return this.group.events?.get(this.at, 0n) ?? NO_EVENTS;
  }
  property(key: string): ArchivedValue | undefined {
    return this.group.properties?.value(this.at, key);
  }
}
