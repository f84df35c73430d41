// What OpenTelemetry has beside properties and files have no column for: flags, schema URLs, counts of what was dropped. In files they are
// properties of reserved keys, which begin with NUL; a property whose own key begins so gets one more. So files of before are read as ever.
import { BadValueError } from '@spanline/graph';
import {
  type ArchivedProperties,
  type ArchivedValue,
  EXTRA_FIELDS,
  type ExtraField,
  type Extras,
  extrasOf,
  PropertyDraft,
} from 'spanline/internal/record';
import { describe } from './values/values.js';

const MARK = '\0';
const FIELD_OF: ReadonlyMap<string, ExtraField> = new Map(EXTRA_FIELDS.map((field) => [MARK + field, field]));

/** Each of these fields and its key in files. */
export const EXTRA_KEYS: readonly (readonly [ExtraField, string])[] = EXTRA_FIELDS.map((field) => [
  field,
  MARK + field,
]);

/** The key of flags. */
export const FLAGS_KEY = `${MARK}flags`;

/** Above the 32 bits that flags have: says that a span is local. It stays in files, and is never seen in flags. */
const LOCAL = 2 ** 32;

/** What is stored of a span or of what it has. */
type Stored = Extras & { readonly isLocal?: boolean };

/** Flags as files have them. */
export const storedFlags = ({ flags = 0, isLocal = false }: Stored): number => (isLocal ? flags + LOCAL : flags);

const isMarked = (key: string): boolean => key.charCodeAt(0) === 0;

/** Whether a stored key is not a key of a property as it is. */
export const isReserved = isMarked;

/** The key of a property as files have it. */
export const storedKey = (key: string): string => (isMarked(key) ? MARK + key : key);

const hasMarked = (properties: ArchivedProperties): boolean => {
  for (const key in properties) if (isMarked(key)) return true;
  return false;
};

/** What such a field has to be; nothing when its value is that. */
const expectedOf = (field: ExtraField, value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  if (field === 'schemaUrl') return typeof value === 'string' ? undefined : 'a text';
  const isCount = Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32;
  return isCount ? undefined : 'a whole number from 0 to 2^32 - 1';
};

/** Throws `BadValueError` with the name of the first of these fields that is of the wrong kind; `place` is what has them. */
export const checkExtras = (thing: object, place: string): void => {
  for (const field of EXTRA_FIELDS) {
    const value = (thing as Readonly<Record<ExtraField, unknown>>)[field];
    const expected = expectedOf(field, value);
    if (expected !== undefined)
      throw new BadValueError(`${place}.${field} must be ${expected}, not ${describe(value)}`);
  }
};

/** The properties to store of a thing. */
export const storedProperties = (thing: Stored & { readonly properties: ArchivedProperties }): ArchivedProperties => {
  const { properties } = thing;
  const hasExtras = thing.isLocal === true || EXTRA_FIELDS.some((field) => thing[field] !== undefined);
  if (!hasExtras && !hasMarked(properties)) return properties;
  checkExtras(thing, 'a span');
  const stored = new PropertyDraft();
  const extras = thing.isLocal ? { ...thing, flags: storedFlags(thing) } : thing;
  for (const [field, value] of Object.entries(extrasOf(extras))) stored.set(MARK + field, value as string | number);
  for (const key of Object.keys(properties)) stored.set(storedKey(key), properties[key]);
  return stored.done();
};

/** What was stored, as it was. */
export const restored = (stored: ArchivedProperties): Stored & { readonly properties: ArchivedProperties } => {
  if (!hasMarked(stored)) return { properties: stored };
  const draft = new PropertyDraft();
  const extras: Record<string, ArchivedValue> = {};
  for (const key of Object.keys(stored)) {
    const field = FIELD_OF.get(key);
    if (field !== undefined) extras[field] = stored[key];
    else draft.set(key.startsWith(MARK + MARK) ? key.slice(1) : key, stored[key]);
  }
  const properties = draft.done();
  const { flags } = extras;
  if (typeof flags !== 'number' || flags < LOCAL) return { ...(extras as Extras), properties };
  return { ...extrasOf({ ...(extras as Extras), flags: flags - LOCAL }), isLocal: true, properties };
};
