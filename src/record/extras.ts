// What OpenTelemetry has beside properties: flags, schema URLs, counts of what was dropped. A new field of this sort is added here.

/** All of them; which ones a thing has is said by its type. */
export interface Extras {
  readonly flags?: number;
  readonly schemaUrl?: string;
  readonly droppedAttributesCount?: number;
  readonly droppedEventsCount?: number;
  readonly droppedLinksCount?: number;
}

export type ExtraField = keyof Extras;

export const EXTRA_FIELDS: readonly ExtraField[] = [
  'flags',
  'schemaUrl',
  'droppedAttributesCount',
  'droppedEventsCount',
  'droppedLinksCount',
];

/** OTLP's "the parent is in another process". */
const REMOTE_PARENT = 0x200;

/** Whether flags, as OTLP has them, say that the parent of a span is in another process. */
export const hasRemoteParent = (flags: number): boolean => (flags & REMOTE_PARENT) !== 0;

/** Those that say something: zero and '' are what is not there. */
export const extrasOf = (extras: Extras): Extras => {
  const kept: Record<string, string | number> = {};
  for (const field of EXTRA_FIELDS) {
    const value = extras[field];
    if (value) kept[field] = value;
  }
  return kept;
};
