// A generation: all that an archive in a bucket is at one moment, as one object that never changes, and the catalogue, which names the newest. What is not
// understood must never be taken for an archive without segments.
//
//     catalogue.json = { version, generation, key }
//     generation     = gzip of JSON: { version, number, listFrom, packs, dead, folded, foldedPacks, merger? }
import { bucketError } from './bucket-error.js';
import { unzipText, zipText } from './zipped-text.js';

const VERSION = 1;

/** A pack of cards. */
export interface Pack {
  readonly key: string;
  /** Cards in it. */
  readonly cards: number;
  /** Places in it of cards whose segments are live no longer, ascending. */
  readonly gone: readonly number[];
  readonly bytes: number;
  /** Bytes of the object with heads beside it; 0 where there is none. */
  readonly headsBytes: number;
}

/** An object that nothing live names any more. */
export interface DeadObject {
  readonly key: string;
  /** Unix milliseconds by the store's clock, at which it was dead for sure; undefined until the next generation, which alone can know. */
  readonly sinceMs: number | undefined;
}

/** Names of uploads that were folded, of hours that are over. */
export interface FoldedPack {
  readonly key: string;
  readonly names: number;
  /** When the last of them was folded, Unix milliseconds by the store's clock. */
  readonly lastMs: number;
}

/** Who merges: others leave it to that one. Only to spare work: nothing may rely on it. */
export interface Merger {
  /** Of a maintainer. */
  readonly id: string;
  /** Unix milliseconds by the store's clock, after which it is anybody's. */
  readonly untilMs: number;
}

/** What an archive is at one moment. */
export interface Generation {
  readonly number: number;
  /** All uploads under earlier hours are folded; '' before there are any. */
  readonly listFrom: string;
  readonly packs: readonly Pack[];
  readonly dead: readonly DeadObject[];
  /** Names of uploads that were folded, by the hour of their key, from an hour before `listFrom` on. */
  readonly folded: ReadonlyMap<string, readonly string[]>;
  readonly foldedPacks: readonly FoldedPack[];
  readonly merger?: Merger | undefined;
}

/** What there is before anything is. */
export const NO_GENERATION: Generation = {
  number: 0,
  listFrom: '',
  packs: [],
  dead: [],
  folded: new Map(),
  foldedPacks: [],
};

/** What the catalogue says. */
export interface Pointer {
  readonly number: number;
  readonly key: string;
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): value is string => typeof value === 'string';

/** Throws unless it is so. */
const need = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};

const checkVersion = (version: unknown, file: string): void => {
  if (isWhole(version) && version > VERSION)
    throw bucketError(
      'VERSION',
      `${file} was written by a newer version of spanline (form ${version}): update this one`,
    );
  need(version === VERSION, 'it has no version');
};

const damaged = (file: string, cause: unknown): unknown =>
  (cause as { readonly code?: string }).code === 'ERR_SPANLINE_BUCKET_VERSION'
    ? cause
    : bucketError('DAMAGED', `${file} cannot be read: ${(cause as Error).message}`, { cause });

export const encodePointer = ({ number, key }: Pointer): Buffer =>
  Buffer.from(`${JSON.stringify({ version: VERSION, generation: number, key })}\n`);

/** `file` is for messages. */
export const decodePointer = (bytes: Buffer, file: string): Pointer => {
  try {
    const { version, generation, key } = JSON.parse(bytes.toString()) as Record<string, unknown>;
    checkVersion(version, file);
    if (!(isWhole(generation) && isText(key))) throw new Error('it names no generation');
    return { number: generation, key };
  } catch (cause) {
    throw damaged(file, cause);
  }
};

/** A generation as JSON. */
interface GenerationText extends Omit<Generation, 'dead' | 'folded'> {
  readonly version: number;
  readonly dead: readonly (readonly [key: string, sinceMs: number | null])[];
  readonly folded: Readonly<Record<string, readonly string[]>>;
}

export const encodeGeneration = (generation: Generation): Promise<Buffer> => {
  const text: GenerationText = {
    version: VERSION,
    ...generation,
    dead: generation.dead.map(({ key, sinceMs }) => [key, sinceMs ?? null]),
    folded: Object.fromEntries(generation.folded),
  };
  return zipText(JSON.stringify(text));
};

/** `file` is for messages. */
export const decodeGeneration = async (bytes: Buffer, file: string): Promise<Generation> => {
  try {
    const text = JSON.parse(await unzipText(bytes)) as GenerationText;
    checkVersion(text.version, file);
    const { number, listFrom, packs, dead, folded, foldedPacks, merger } = text;
    need(isWhole(number) && isText(listFrom), 'it has no number');
    need(
      packs.every(
        (one) => isText(one.key) && [one.cards, one.bytes, one.headsBytes].every(isWhole) && one.gone.every(isWhole),
      ),
      'its packs are none',
    );
    need(
      dead.every(([key, sinceMs]) => isText(key) && (sinceMs === null || isWhole(Math.floor(sinceMs)))),
      'its dead objects are none',
    );
    need(
      Object.values(folded).every((names) => names.every(isText)),
      'its folded uploads are none',
    );
    need(
      foldedPacks.every((one) => isText(one.key) && isWhole(one.names) && isWhole(Math.floor(one.lastMs))),
      'its packs of names are none',
    );
    need(merger === undefined || (isText(merger.id) && isWhole(Math.floor(merger.untilMs))), 'its merger is none');
    return {
      ...(merger === undefined ? {} : { merger }),
      number,
      listFrom,
      packs,
      dead: dead.map(([key, sinceMs]) => ({ key, sinceMs: sinceMs ?? undefined })),
      folded: new Map(Object.entries(folded)),
      foldedPacks,
    };
  } catch (cause) {
    throw damaged(file, cause);
  }
};

/** Names as an object. */
export const encodeNames = (names: readonly string[]): Promise<Buffer> => zipText(names.join('\n'));

export const decodeNames = async (bytes: Buffer, file: string): Promise<readonly string[]> => {
  try {
    const text = await unzipText(bytes);
    return text === '' ? [] : text.split('\n');
  } catch (cause) {
    throw damaged(file, cause);
  }
};
