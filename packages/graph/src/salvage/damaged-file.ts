// A file of which anything may be damaged: its sections by the table of contents or, when that is lost, by the waymarks; what describes
// them by its first or its second copy. It notes what is damaged and goes on; what is not damage is thrown.
import { attempt } from 'spanline/internal/base';
import { type BlockRef, Container, logicalOfSync } from '../container/container.js';
import { CorruptError, type GraphError, isDamage, UnsupportedVersionError } from '../container/graph-error.js';
import {
  checkHeader,
  decodeFooter,
  FLAG_BLOCKED,
  FOOTER_BYTES,
  findWaymarks,
  HEADER_BYTES,
  NO_GRAPH,
  type SectionEntry,
  SectionId,
  sectionName,
  WAYMARK_BYTES,
} from '../container/layout.js';
import { ClusteredTransport } from '../container/transport/clustered-transport.js';
import { FileTransport } from '../container/transport/file-transport.js';
import type { SyncTransport, Tail, Transport } from '../container/transport/transport.js';
import { decodeMeta, type GraphInfo, type GraphMeta } from '../meta.js';
import { type Column, columnPlace, columnsOf, decodeNodeTable, TABLE_COPIES } from '../nodes/node-table.js';

/** Something of the file that cannot be read. */
export interface Damage {
  /** Name of the section, or of the fixed part of the file. */
  readonly section: string;
  readonly graph?: number;
  /** Number of the block; left out when the section is damaged as a whole. */
  readonly block?: number;
  /** What is wrong with it. */
  readonly message: string;
}

/** Keys that cannot be read. */
export interface LostKeys {
  /** Rank of the first of them. */
  readonly firstRank: number;
  readonly count: number;
  /** The last readable key before them; left out when there is none. */
  readonly after?: Buffer;
  /** The first readable key behind them; left out when there is none. */
  readonly before?: Buffer;
}

/** Where something is, for the report. */
type Place = Omit<Damage, 'message'>;

const SCAN_BYTES = 4 * 1024 * 1024;
/** Of the end of a clustered file, in which its map is looked for. */
const END_BYTES = 64 * 1024;

/** All second copies. */
const COPIES: ReadonlySet<number> = new Set([
  SectionId.metaCopy,
  SectionId.dictionaryIndexCopy,
  ...Object.values(TABLE_COPIES),
]);

/** Blocks of columns that can be found. */
export type FoundBlocks = Partial<Record<Column, readonly BlockRef[]>>;

/** A file that may be damaged. */
export class DamagedFile {
  readonly damage: Damage[] = [];
  readonly #file: FileTransport;
  readonly #hasToc: boolean;
  readonly #checked = new Set<SectionEntry>();

  private constructor(
    file: FileTransport,
    readonly bytes: number,
    /** Of a clustered file it reads the logical one. */
    readonly container: Container,
    hasToc: boolean,
  ) {
    this.#file = file;
    this.#hasToc = hasToc;
  }

  /** Throws when the file is not there, or nothing in it looks like a graph file. */
  static open(path: string, maxBlockBytes: number | undefined): DamagedFile {
    const file = FileTransport.openSync(path);
    try {
      const { size: bytes } = file.readTailSync(1);
      const transport = logicalIn(file);
      try {
        return new DamagedFile(file, bytes, openSync(transport, maxBlockBytes), true);
      } catch (error) {
        if (!isDamage(error) && !isHeaderDamaged(transport)) throw error;
        const { size } = transport.readTailSync(0);
        const sections = sectionsByWaymarks(transport, size);
        if (sections.length === 0) throw error;
        const container = Container.ofSections(transport, size, sections, { maxBlockBytes });
        const found = new DamagedFile(file, bytes, container, false);
        found.damage.push({ section: 'toc', message: (error as GraphError).message });
        return found;
      }
    } catch (error) {
      void file.close();
      throw error;
    }
  }

  get name(): string {
    return this.#file.name;
  }

  close(): void {
    void this.#file.close();
  }

  /** What `action` gives, by any copy of what it reads; undefined, and a note, when it meets damage. */
  attempt<T>(place: Place, action: () => T): T | undefined {
    try {
      return byAnyCopy(this.container.transport, action);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.damage.push({ ...place, message: error.message });
      return undefined;
    }
  }

  /** What the file says of itself, by either copy. Throws when both are lost. */
  meta(): GraphMeta {
    const copies = [SectionId.meta, SectionId.metaCopy].map((id) =>
      this.decoded(id, NO_GRAPH, (bytes) => decodeMeta(bytes, this.name)),
    );
    const meta = copies.find((copy) => copy !== undefined);
    if (meta !== undefined) return meta;
    throw new CorruptError(`nothing can be salvaged of ${this.name}: neither copy of its meta section is left`, 'meta');
  }

  /** What `decode` makes of a section; undefined, and a note, when the section is damaged or gone. */
  decoded<T>(id: number, graph: number, decode: (bytes: Buffer) => T): T | undefined {
    const place = placeOf(id, graph);
    // Segments of an archive have no second copies; where sections were found one by one, what is not there is lost.
    if (this.#hasToc && COPIES.has(id) && this.container.find(id, graph) === undefined) return undefined;
    return this.attempt(place, () => {
      const entry = this.container.need(id, graph);
      this.#checked.add(entry);
      return decode(this.container.readSync([entry])[0]);
    });
  }

  /** Where the blocks of a graph's columns are, as far as that is known. */
  columnBlocks(info: GraphInfo, graph: number): FoundBlocks {
    const columns = columnsOf(info);
    const places = columns.map((column) =>
      this.attempt({ section: column, graph }, () => columnPlace(this.container, info, graph, column)),
    );
    const whole = this.decoded(SectionId.nodeTable, graph, (bytes) => {
      if (places.every((place) => place !== undefined)) return decodeNodeTable(bytes, places, this.name);
      throw new CorruptError(`the node table of graph ${graph} describes columns that are lost`, 'nodeTable');
    });
    const found: FoundBlocks = {};
    columns.forEach((column, i) => {
      const place = places[i];
      if (place === undefined) return;
      const copy = this.decoded(TABLE_COPIES[column], graph, (bytes) => decodeNodeTable(bytes, [place], this.name)[0]);
      found[column] = whole?.[i] ?? copy;
    });
    return found;
  }

  /** Check the sections that nobody has read, all of them with one checksum, and the copies of a clustered file. */
  checkOthers(): void {
    for (const entry of this.container.sections) {
      if (this.#checked.has(entry) || (entry.flags & FLAG_BLOCKED) !== 0) continue;
      this.attempt(placeOf(entry.id, entry.graph), () => this.container.readSync([entry]));
    }
    const { transport } = this.container;
    if (!(transport instanceof ClusteredTransport)) return;
    for (const { offset, length } of transport.differingSync())
      this.damage.push({
        section: 'clusters',
        message: `bytes ${offset} to ${offset + length} of what ${this.name} is clustered of are not the same in all clusters`,
      });
  }
}

/** What `action` gives, of a clustered file by any copy of what it reads. */
const byAnyCopy = <T>(transport: Transport, action: () => T): T =>
  transport instanceof ClusteredTransport ? transport.byAnyCopySync(action) : action();

/** The logical file where `file` is clustered; throws where nobody can know any more what it is clustered of. */
const logicalIn = (file: FileTransport): SyncTransport => {
  let end: Tail;
  try {
    end = file.readTailSync(END_BYTES);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return file;
  }
  return logicalOfSync(file, end) ?? file;
};

const openSync = (transport: SyncTransport, maxBlockBytes: number | undefined): Container => {
  if (!(transport instanceof ClusteredTransport)) return Container.openSync(transport, { maxBlockBytes });
  // Little is kept of its end, of which there may be another copy.
  return transport.byAnyCopySync(() => Container.openSync(transport, { maxBlockBytes, tailBytes: 1 }));
};

const placeOf = (id: number, graph: number): Place => ({
  section: sectionName(id),
  ...(graph === NO_GRAPH ? {} : { graph }),
});

/**
 * Whether the footer, which has a checksum, is that of a file this reader knows, and the header, which has none, is not: then the header
 * is damaged, while of a newer file both would be newer.
 */
const isHeaderDamaged = (transport: SyncTransport): boolean => {
  const footer = attempt(() => {
    const { bytes, size } = transport.readTailSync(FOOTER_BYTES);
    return decodeFooter(bytes, size, transport.name);
  });
  if (footer === undefined) return false;
  try {
    checkHeader(transport.readRangesSync([{ offset: 0, length: HEADER_BYTES }])[0], transport.name);
    return false;
  } catch (error) {
    return error instanceof UnsupportedVersionError;
  }
};

/** Search the whole file; stretches that cannot be read are left out. */
const sectionsByWaymarks = (transport: SyncTransport, size: number): SectionEntry[] => {
  const found = new Map<string, SectionEntry>();
  for (let offset = 0; offset < size; offset += SCAN_BYTES) {
    // A waymark may lie across two stretches.
    const length = Math.min(SCAN_BYTES + WAYMARK_BYTES, size - offset);
    try {
      const [bytes] = transport.readRangesSync([{ offset, length }]);
      for (const entry of findWaymarks(bytes, offset)) found.set(`${entry.id} ${entry.graph}`, entry);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
  return [...found.values()];
};
