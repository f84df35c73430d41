// What the archive cases read: one segment of a shop's traces, built anew for every run, and an archive of many segments, built once.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Archive, syntheticSpans, writeSegment } from '../../dist/bench/graph.js';
import { buildOnce, scratchPath } from './files.mjs';
import { folder, size, sizes } from './settings.mjs';

/** Raised when the format of segments changes: the old archive is then left alone. */
const VERSION = 1;
const SEED = 1;
/** So that no timer of the archive makes or merges segments. */
const NEVER = { segmentSpans: 10_000_000, maxBufferedSpans: 10_000_000, segmentMs: 2 ** 31, walBytes: 2 ** 40 };

/** The spans that are taken in; without properties. */
export const shopSpans = () => syntheticSpans({ ...sizes.shop, seed: SEED });
export const segmentPath = join(folder, `shop-${size}.spans`);
export const archivePath = join(folder, `archive-${size}-v${VERSION}`);

/** The spans of one segment of the archive. */
const segmentSpans = (number) => {
  const { traces, spansPerTrace } = sizes.store;
  return syntheticSpans({ traces, spansPerTrace, seed: SEED + 1 + number });
};

/** Trace ids of the archive, from segments all over it. */
export const archiveTraceIds = async () => {
  const ids = [];
  const { segments, traces } = sizes.store;
  for (let number = 0; number < segments; number += Math.ceil(segments / 5)) {
    const all = [...new Set(segmentSpans(number).map(({ traceId }) => traceId))];
    for (let i = 0; i < traces; i += 10) ids.push(all[i]);
  }
  return ids;
};

const buildArchive = async (path) => {
  mkdirSync(path);
  const archive = await Archive.open(path, NEVER);
  for (let number = 0; number < sizes.store.segments; number++) {
    archive.append(segmentSpans(number));
    await archive.seal();
  }
  await archive.close();
};

export const buildArchives = async () => {
  writeSegment(segmentPath, shopSpans());
  await buildOnce(archivePath, buildArchive);
};

/** A fresh folder for what a round writes. */
export const scratchArchive = () => {
  const path = scratchPath('archive');
  rmSync(path, { recursive: true, force: true });
  return path;
};
