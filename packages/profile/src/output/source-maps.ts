// Frames as their authors wrote them: compiled functions found in TypeScript through source maps, inline or beside the file. A map that
// is broken is counted and its frames stay as they are; nothing is fetched from a network.
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isGone } from 'spanline/internal/base';
import { CallTree, type Frame, frameAt } from '../call-tree.js';
import type { LabelledProfile } from '../labelled-profile.js';

type TraceMapping = Pick<typeof import('@jridgewell/trace-mapping'), 'AnyMap' | 'traceSegment'>;
type LoadedMap = InstanceType<typeof import('@jridgewell/trace-mapping').TraceMap>;

export interface SourceMapOptions {
  /** Maps kept at a time. Default 200. */
  readonly maxMaps?: number;
  /** The map of a script that a process holds itself, such as `(url) => module.findSourceMap(url)?.payload`; asked first. */
  readonly lookup?: (url: string) => unknown;
}

export interface SourceMapStats {
  /** Frames found in a source. */
  readonly resolved: number;
  /** Frames of scripts without a map, or at places the map does not know. */
  readonly unmapped: number;
  /** Scripts whose map could not be read. */
  readonly broken: number;
  /** Maps forgotten to stay within the bound. */
  readonly evicted: number;
}

const DEFAULT_MAPS = 200;
const MAX_BYTES = 64 << 20;

// The last comment of the file counts; it stands alone in its line.
const MAP_COMMENT = /^[ \t]*\/\/[#@] ?sourceMappingURL=(\S+)[ \t]*$/gm;
const INLINE = /^data:application\/json[^,]*?(;base64)?,(.*)$/s;

/** A script with its map; `undefined` has none. */
interface MappedScript {
  readonly map: LoadedMap;
  /** Lines of the compiled text, to see where a name stands; empty when not at hand. */
  readonly lines: readonly string[];
}

const fileOf = (url: string): string | undefined => {
  if (url.startsWith('file:')) return fileURLToPath(url);
  return isAbsolute(url) ? url : undefined;
};

const readBounded = (file: string): string => {
  const { size } = statSync(file);
  if (size > MAX_BYTES) throw new RangeError(`${file} has ${size} bytes`);
  return readFileSync(file, 'utf8');
};

/** Finds the sources of frames; made by {@link openSourceMaps}. */
export class SourceMaps {
  readonly #scripts = new Map<string, MappedScript | undefined>();
  readonly #counts = { resolved: 0, unmapped: 0, broken: 0, evicted: 0 };

  readonly #tracing: TraceMapping;
  readonly #options: SourceMapOptions;

  // Private, so that the types of the package are not in the declarations of users.
  private constructor(tracing: TraceMapping, options: SourceMapOptions) {
    this.#tracing = tracing;
    this.#options = options;
  }

  /** @internal */
  static async open(options: SourceMapOptions): Promise<SourceMaps> {
    return new SourceMaps(await import('@jridgewell/trace-mapping'), options);
  }

  stats(): SourceMapStats {
    return { ...this.#counts };
  }

  /** The frame in its source, or as it is. */
  resolve(frame: Frame): Frame {
    if (frame.line <= 0 || frame.column <= 0 || fileOf(frame.url) === undefined) return frame;
    const script = this.#scriptOf(frame.url);
    const found = script === undefined ? undefined : this.#place(script, frame);
    if (found === undefined) this.#counts.unmapped++;
    else this.#counts.resolved++;
    return found ?? frame;
  }

  #place({ map, lines }: MappedScript, frame: Frame): Frame | undefined {
    const column = frame.column - 1;
    const segment = this.#tracing.traceSegment(map, frame.line - 1, column);
    if (segment === null || segment.length === 1) return undefined;
    const url = map.resolvedSources[segment[1]];
    if (url === null || url === undefined) return undefined;
    // A name belongs to the function only where the function's own name stands; elsewhere it is that of a parameter.
    const isItsName =
      segment.length === 5 &&
      frame.functionName !== '' &&
      lines[frame.line - 1]?.startsWith(frame.functionName, segment[0]) === true;
    const functionName = isItsName ? map.names[segment[4]] : frame.functionName;
    return { functionName, url, line: segment[2] + 1, column: segment[3] + 1 };
  }

  #scriptOf(url: string): MappedScript | undefined {
    if (this.#scripts.has(url)) return this.#scripts.get(url);
    let script: MappedScript | undefined;
    try {
      script = this.#load(url);
    } catch (error) {
      if (!isGone(error)) this.#counts.broken++;
    }
    const { maxMaps = DEFAULT_MAPS } = this.#options;
    if (this.#scripts.size >= maxMaps) {
      const [oldest] = this.#scripts.keys();
      this.#scripts.delete(oldest);
      this.#counts.evicted++;
    }
    this.#scripts.set(url, script);
    return script;
  }

  #load(url: string): MappedScript | undefined {
    const file = fileOf(url) as string;
    const scriptUrl = pathToFileURL(file).href;
    const found = this.#options.lookup?.(url);
    if (found !== undefined && found !== null) return { map: this.#parse(found, scriptUrl), lines: [] };
    const text = readBounded(file);
    const [, reference] = [...text.matchAll(MAP_COMMENT)].at(-1) ?? [];
    if (reference === undefined) return undefined;
    const lines = text.split('\n');
    const inline = INLINE.exec(reference);
    if (inline !== null) {
      const [, base64, data] = inline;
      const json = base64 ? Buffer.from(data, 'base64').toString('utf8') : decodeURIComponent(data);
      return { map: this.#parse(JSON.parse(json), scriptUrl), lines };
    }
    const mapUrl = new URL(reference, scriptUrl);
    if (mapUrl.protocol !== 'file:') return undefined;
    return { map: this.#parse(JSON.parse(readBounded(fileURLToPath(mapUrl))), mapUrl.href), lines };
  }

  #parse(json: unknown, url: string): LoadedMap {
    const map = new this.#tracing.AnyMap(json as ConstructorParameters<TraceMapping['AnyMap']>[0], url);
    // Mappings are decoded at the first question; a broken map is to be found here.
    this.#tracing.traceSegment(map, 0, 0);
    return map;
  }
}

/**
 * Open a finder of sources; rejects when the package `@jridgewell/trace-mapping` is missing.
 *
 * Once for a program: it keeps the maps it read.
 *
 * @example
 * ```ts
 * import { openSourceMaps, profile, resolveSources } from '@spanline/profile';
 * const maps = await openSourceMaps();
 * const inTypeScript = resolveSources(await profile({ durationMs: 20 }), maps);
 * console.log(inTypeScript.nodes.url, maps.stats());
 * ```
 */
export const openSourceMaps = (options: SourceMapOptions = {}): Promise<SourceMaps> => SourceMaps.open(options);

/**
 * The profile with every frame in the source it was compiled from, where a map tells.
 *
 * Before a profile is written, on the machine that has the files. Frames without a map stay as they are.
 *
 * @example
 * ```ts
 * import { openSourceMaps, profile, resolveSources } from '@spanline/profile';
 * const compiled = await profile({ durationMs: 20 });
 * const { counts } = resolveSources(compiled, await openSourceMaps());
 * console.assert(counts.total === compiled.counts.total);
 * ```
 */
export const resolveSources = (profile: LabelledProfile, maps: SourceMaps): LabelledProfile => {
  const { nodes, samples } = profile;
  const tree = new CallTree();
  const rows = new Uint32Array(nodes.count);
  // A parent stands before its children.
  for (let row = 1; row < nodes.count; row++) {
    rows[row] = tree.row(rows[Math.max(0, nodes.parent[row])], maps.resolve(frameAt(nodes, row)));
  }
  return { ...profile, nodes: tree.nodes(), samples: { ...samples, node: samples.node.map((row) => rows[row]) } };
};
