// Cuts a segment into groups of spans: what is compressed, read and decoded together. A group holds whole traces; only a trace too large
// for one group is cut, into groups of its own.
import { GROUP_BYTES, GROUP_SPANS, MAX_GROUP_BYTES, MAX_GROUP_SPANS } from '../layout.js';

/** Groups and the pieces of traces in them. A piece is a whole trace, or what one group has of a large one. */
export interface Groups {
  /** First ordinal of each group, and of each piece; one more than there are. */
  readonly firsts: readonly number[];
  readonly pieceFirsts: readonly number[];
  /** The first piece of each group; one more than there are groups. */
  readonly firstPieces: readonly number[];
  /** The trace of each piece. */
  readonly traces: readonly number[];
}

/** Cut; `traceFirsts` has the first ordinal of each trace and the end of the last, `bytes` what each span takes. */
export const cutGroups = (traceFirsts: Uint32Array, bytes: Uint32Array): Groups => {
  const firsts = [0];
  const pieceFirsts = [0];
  const firstPieces = [0];
  const traces: number[] = [];
  let spans = 0;
  let size = 0;
  const closeGroup = (): void => {
    if (spans === 0) return;
    firsts.push(pieceFirsts[pieceFirsts.length - 1]);
    firstPieces.push(traces.length);
    spans = 0;
    size = 0;
  };
  const addPiece = (trace: number, end: number, pieceBytes: number): void => {
    spans += end - pieceFirsts[pieceFirsts.length - 1];
    size += pieceBytes;
    traces.push(trace);
    pieceFirsts.push(end);
  };
  for (let trace = 0; trace + 1 < traceFirsts.length; trace++) {
    const [start, end] = [traceFirsts[trace], traceFirsts[trace + 1]];
    let traceBytes = 0;
    for (let i = start; i < end; i++) traceBytes += bytes[i];
    if (spans + end - start > MAX_GROUP_SPANS || size + traceBytes > MAX_GROUP_BYTES) closeGroup();
    if (end - start <= MAX_GROUP_SPANS && traceBytes <= MAX_GROUP_BYTES) {
      addPiece(trace, end, traceBytes);
      if (spans >= GROUP_SPANS || size >= GROUP_BYTES) closeGroup();
      continue;
    }
    let pieceStart = start;
    let pieceBytes = 0;
    for (let i = start; i < end; i++) {
      if (i > pieceStart && (i - pieceStart === GROUP_SPANS || pieceBytes + bytes[i] > MAX_GROUP_BYTES)) {
        addPiece(trace, i, pieceBytes);
        closeGroup();
        pieceStart = i;
        pieceBytes = 0;
      }
      pieceBytes += bytes[i];
    }
    addPiece(trace, end, pieceBytes);
    closeGroup();
  }
  closeGroup();
  return { firsts, pieceFirsts, firstPieces, traces };
};
