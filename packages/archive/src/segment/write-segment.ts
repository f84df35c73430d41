// Writes a segment: a compact graph file whose columns hold everything else about the spans. It appears whole or not at all, and the
// same spans give the same bytes, in whatever order they come.
import {
  AtomicFileSink,
  BadOptionsError,
  type ByteSink,
  type Compression,
  ContainerWriter,
  type GraphInfo,
  SectionId,
  type WrittenBlock,
} from '@spanline/graph';
import { encodeMeta, FilterBuilder, writeReferences } from '@spanline/graph/internal';
import type { ArchivedSpan } from 'spanline/internal/record';
import { SpanRows } from '../rows/span-rows.js';
import { TRACE_ID_BYTES } from '../values/fields.js';
import { encodeGroups, type WrittenGroup } from './groups.js';
import { KIND_NOTE, KIND_OF_SEGMENT, type Part, REPLACES_NOTE, SegmentSection } from './layout.js';
import { encodeEvents, encodeLinks, encodeTexts } from './optional-parts.js';
import { encodeProperties } from './properties.js';
import { buildLinkGraph, type LinkGraph, parentRows, writeKeys } from './segment-graphs.js';
import { encodeModels } from './segment-models.js';
import { planSegment, type SegmentPlan } from './segment-plan.js';
import { encodeSummary, type SegmentSummary } from './segment-summary.js';
import { SpanColumnWriter } from './span-columns.js';
import { encodeTraceRows, TraceRowModels } from './trace-rows.js';

/** How a segment is written. */
export interface WriteSegmentOptions {
  /** Names of segments that this one stands for: whoever finds both leaves those out. */
  readonly replaces?: readonly string[];
  /** Default `deflate`, which every runtime reads. */
  readonly compression?: Compression;
}

/** What a segment is. */
export interface SegmentInfo extends SegmentSummary {
  /** Names of the segments it stands for. */
  readonly replaces: readonly string[];
  /** Bytes of the file. */
  readonly bytes: number;
}

/** A whole meta section must stay small. */
const MAX_REPLACES_CHARACTERS = 256 * 1024;

const namesOf = (replaces: readonly string[]): string => {
  if (replaces.some((name) => name === '' || name.includes('\n'))) {
    throw new BadOptionsError('replaces has names of files, of one line each');
  }
  const names = replaces.join('\n');
  if (names.length > MAX_REPLACES_CHARACTERS)
    throw new BadOptionsError(`replaces has ${replaces.length} names, too many`);
  return names;
};

/**
 * Write `spans` as a segment file: of whole traces or parts of them, in any order. Where two have the same ids the later one is kept.
 *
 * Spans are held in memory as columns until the file is written, some hundred bytes for each: write segments of
 * a million spans at most. Throws `BadKeyError` and `BadValueError` for what no span can have, `LimitError` for a span beyond 32 MiB,
 * `TransportError` when the file cannot be written; nothing is left behind then.
 */
export const writeSegment = (
  target: string | ByteSink,
  spans: Iterable<ArchivedSpan> | SpanRows,
  { replaces = [], compression = 'deflate' }: WriteSegmentOptions = {},
): SegmentInfo => {
  const notes = {
    [KIND_NOTE]: KIND_OF_SEGMENT,
    ...(replaces.length > 0 ? { [REPLACES_NOTE]: namesOf(replaces) } : {}),
  };
  const plan = planSegment(spans instanceof SpanRows ? spans : SpanRows.of(spans));
  const sink = typeof target === 'string' ? new AtomicFileSink(target) : target;
  try {
    const bytes = new SegmentWriting(new ContainerWriter(sink, compression), plan).run(notes);
    return { ...plan.summary, replaces: [...replaces], bytes };
  } catch (error) {
    sink.abort();
    throw error;
  }
};

class SegmentWriting {
  readonly #writer: ContainerWriter;
  readonly #plan: SegmentPlan;
  readonly #parts: Partial<Record<Part, WrittenBlock>>[];

  constructor(writer: ContainerWriter, plan: SegmentPlan) {
    this.#writer = writer;
    this.#plan = plan;
    this.#parts = Array.from({ length: plan.groups.firsts.length - 1 }, () => ({}));
  }

  /** Bytes of the file. */
  run(notes: Readonly<Record<string, string>>): number {
    const writer = this.#writer;
    const plan = this.#plan;
    const { facts, summary } = plan;
    const { strings } = facts.tables;
    const columns = new SpanColumnWriter(plan);
    this.#part('spans', (_, pieceFirsts) => columns.encode(pieceFirsts), facts.areAllInTables);
    this.#part('properties', (group) => encodeProperties(plan.rows, this.#rowsOf(group), strings));
    this.#part('events', (group) => encodeEvents(plan.rows, this.#rowsOf(group), strings));
    this.#part('links', (group) => encodeLinks(plan.rows, this.#rowsOf(group), strings));
    this.#part('texts', (group) => encodeTexts(plan.rows, this.#rowsOf(group)));
    const links = facts.hasLinks ? buildLinkGraph(plan.rows, plan.order) : undefined;
    const nodeTables = this.#references(links);
    const { dictionary, keyCount, traceRanks } = writeKeys(writer, plan.rows, plan.order, links);
    const pieceRows = plan.pieceRows(traceRanks);
    const rowModels = TraceRowModels.of(pieceRows, strings);
    const { firstPieces } = plan.groups;
    this.#part('traceRows', (group) =>
      encodeTraceRows(pieceRows.slice(firstPieces[group], firstPieces[group + 1]), rowModels, strings),
    );
    // What opening reads stands last.
    writer.section({ id: SegmentSection.tables }, facts.tables.encode());
    writer.section({ id: SegmentSection.models }, encodeModels(plan, rowModels));
    const filter = this.#traceFilter();
    if (filter !== undefined) writer.section({ id: SegmentSection.traceFilter }, filter);
    writer.section({ id: SegmentSection.groups }, encodeGroups(this.#writtenGroups(traceRanks)));
    writer.section({ id: SegmentSection.summary }, encodeSummary(summary, strings));
    nodeTables.forEach((table, graph) => {
      writer.section({ id: SectionId.nodeTable, graph }, table);
    });
    dictionary.finish();
    const graphs = this.#graphInfos(links);
    writer.section({ id: SectionId.meta }, encodeMeta({ keyCount, graphs, groupBytes: TRACE_ID_BYTES, notes }));
    return writer.finish();
  }

  /** Write a part of every group, and no section where all lack it; one that is entropy coded would not shrink any further, and is not tried. */
  #part(part: Part, encode: (group: number, pieceFirsts: readonly number[]) => Buffer, isDense = false): void {
    const { firstPieces, pieceFirsts } = this.#plan.groups;
    const start = this.#writer.position;
    this.#parts.forEach((parts, group) => {
      const bytes = encode(group, pieceFirsts.slice(firstPieces[group], firstPieces[group + 1] + 1));
      if (bytes.length > 0) parts[part] = isDense ? this.#writer.block(bytes, 'none') : this.#writer.block(bytes);
    });
    const isEmpty = part !== 'spans' && part !== 'traceRows' && this.#writer.position === start;
    if (!isEmpty) this.#writer.blockedSection({ id: SegmentSection[part] }, start);
  }

  #rowsOf(group: number): Uint32Array {
    const { order, groups } = this.#plan;
    return order.rows.subarray(groups.firsts[group], groups.firsts[group + 1]);
  }

  #references(links: LinkGraph | undefined): Buffer[] {
    const { order } = this.#plan;
    const tables = [writeReferences(this.#writer, 0, order.spanCount, [parentRows(order)])];
    if (links !== undefined) tables.push(writeReferences(this.#writer, 1, links.nodeCount, [links.references]));
    return tables;
  }

  #graphInfos(links: LinkGraph | undefined): GraphInfo[] {
    const { order } = this.#plan;
    const info = (nodeCount: number, ghostCount: number, edgeCount: number): GraphInfo => ({
      nodeCount,
      ghostCount,
      edgeCount,
      referenceLists: 1,
      order: 'trace-contiguous',
      cycles: true,
      hasReferences: true,
      hasValues: false,
      hasBackPointers: false,
    });
    const parents = info(
      order.spanCount,
      order.ghostCount,
      order.parents.reduce((n, parent) => n + (parent === -1 ? 0 : 1), 0),
    );
    if (links === undefined) return [parents];
    return [parents, info(links.nodeCount, links.ghosts.length, links.references.targets.length)];
  }

  #traceFilter(): Buffer | undefined {
    const { rows, order } = this.#plan;
    const builder = new FilterBuilder(0);
    const id = Buffer.alloc(TRACE_ID_BYTES);
    for (const trace of order.traces) {
      for (let i = 0; i < 4; i++) id.writeUInt32BE(rows.traces.words[4 * trace + i], i * 4);
      builder.add(id, 0, id.length);
    }
    return builder.build();
  }

  #writtenGroups(traceRanks: Float64Array): WrittenGroup[] {
    const { rows, order, groups, pieces } = this.#plan;
    return this.#parts.map((parts, group) => {
      const [first, end] = [groups.firstPieces[group], groups.firstPieces[group + 1]];
      const trace = groups.traces[first];
      const firstId = Buffer.alloc(TRACE_ID_BYTES);
      for (let i = 0; i < 4; i++) firstId.writeUInt32BE(rows.traces.words[4 * order.traces[trace] + i], i * 4);
      let endUnixNs = 0n;
      for (let piece = first; piece < end; piece++) if (pieces.ends[piece] > endUnixNs) endUnixNs = pieces.ends[piece];
      return {
        spanCount: groups.firsts[group + 1] - groups.firsts[group],
        rowCount: end - first,
        firstId,
        firstRank: traceRanks[trace],
        startUnixNs: this.#plan.groupStart(group),
        endUnixNs,
        parts,
      };
    });
  }
}
