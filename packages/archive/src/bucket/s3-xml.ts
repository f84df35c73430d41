// What an S3-compatible store says in XML: a page of a listing, and why it refuses. The text is a stranger's: nothing in it may be shown beyond a
// line of plain characters, and a page that cannot be understood must never look like the last one.
import { XMLParser } from 'fast-xml-parser';
import { attempt } from 'spanline/internal/base';

/** An object of a listing. */
export interface ListedObject {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  /** Unix milliseconds by the store's clock. */
  readonly lastModifiedMs: number;
}

/** A page of a listing. */
export interface ListPage {
  readonly objects: readonly ListedObject[];
  /** Asks for the next page; undefined when this is the last. */
  readonly next: string | undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

const unescaped = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });

const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  trimValues: false,
  // Those of a page are more than the parser lets through, and no others are wanted.
  processEntities: false,
  isArray: (name) => name === 'Contents',
});

/** A part of a document: tags by name. */
type Element = Readonly<Record<string, unknown>>;

const elementOf = (value: unknown): Element | undefined =>
  typeof value === 'object' && value !== null ? (value as Element) : undefined;

const textOf = (element: Element, tag: string): string => {
  const value = element[tag];
  return typeof value === 'string' ? unescaped(value) : '';
};

const parse = (body: Buffer): Element | undefined => attempt(() => elementOf(parser.parse(body.toString('utf8'))));

/** A page of `ListObjectsV2`; undefined when it is none. */
export const listPageOf = (body: Buffer): ListPage | undefined => {
  const result = elementOf(parse(body)?.ListBucketResult);
  if (result === undefined) return undefined;
  const objects: ListedObject[] = [];
  for (const one of (result.Contents ?? []) as readonly unknown[]) {
    const element = elementOf(one);
    if (element === undefined) return undefined;
    const [size, lastModifiedMs] = [textOf(element, 'Size'), Date.parse(textOf(element, 'LastModified'))];
    if (!/^\d{1,15}$/.test(size) || Number.isNaN(lastModifiedMs)) return undefined;
    objects.push({ key: textOf(element, 'Key'), size: Number(size), etag: textOf(element, 'ETag'), lastModifiedMs });
  }
  const isLast = textOf(result, 'IsTruncated') !== 'true';
  const next = textOf(result, 'NextContinuationToken');
  if (!isLast && next === '') return undefined;
  return { objects, next: isLast ? undefined : next };
};

const plain = (text: string): string => text.replace(/[^\x20-\x7e]/g, ' ').slice(0, 200);

/** Why a store refuses, as far as it says so. */
export const errorOf = (body: Buffer): { readonly code: string; readonly message: string } => {
  const error = body.length === 0 ? undefined : elementOf(parse(body)?.Error);
  if (error === undefined) return { code: '', message: '' };
  return { code: plain(textOf(error, 'Code')), message: plain(textOf(error, 'Message')) };
};
