// pprof, the format of Go's tools, Pyroscope and most others, written and read. Labels are labels of samples there, so that stacks are the same with
// labels and without. Must not lose CPU time to rounding: only sums are rounded. What the format does not tell (when a sample was taken) is not made
// up beyond an even spread. A damaged file is an error, never a wrong profile without a word, and no other time is called CPU time. The package that
// encodes is loaded when it is needed.
import { gzipSync } from 'node:zlib';
import type { Label, Sample } from 'pprof-format';
import { getOrMake, orThrow } from 'spanline/internal/base';
import { type Frame, frameAt, stackOf } from '../call-tree.js';
import { carrierOf, type LabelledProfile, type LabelRecord, recordFrom } from '../labelled-profile.js';
import { wrongOutputOption } from '../profile-error.js';
import { MAX_DEPTH, MAX_SAMPLES, notReadable, ProfileDraft, tooDeep } from './profile-draft.js';
import { stackWeights } from './select-labels.js';

/** The package `pprof-format`, loaded. */
type PprofPackage = Pick<typeof import('pprof-format'), 'Profile' | 'StringTable'>;

interface PprofLine {
  readonly functionId: number;
  readonly line: number;
  readonly column: number;
}

interface PprofLabel {
  readonly key: number;
  readonly str?: number;
  readonly num?: number;
  readonly numUnit?: number;
}

const UNIT_OF_SUFFIX: readonly (readonly [RegExp, string])[] = [
  [/(?:[._-]|^)bytes$|Bytes$/, 'bytes'],
  [/(?:[._-]|^)ns$|Ns$/, 'nanoseconds'],
  [/(?:[._-]|^)us$|Us$/, 'microseconds'],
  [/(?:[._-]|^)ms$|Ms$/, 'milliseconds'],
];

const unitOf = (key: string, units: Readonly<Record<string, string>>): string =>
  Object.hasOwn(units, key) ? units[key] : (UNIT_OF_SUFFIX.find(([suffix]) => suffix.test(key))?.[1] ?? '');

/** Begins the comment that says of the profile what the format has no fields for. */
const COMMENT_PREFIX = 'spanline ';

const commentOf = ({ carrier, unit, threadId, counts }: LabelledProfile): string =>
  COMMENT_PREFIX +
  Object.entries({ carrier, unit, threadId, ...counts })
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');

/** Locations and functions of the frames that are used, each once. */
class FrameTable {
  readonly location: { id: number; mappingId: number; line: PprofLine[] }[] = [];
  readonly function: { id: number; name: number; systemName: number; filename: number; startLine: number }[] = [];
  readonly #ids = new Map<string, number>();

  readonly #nodes: LabelledProfile['nodes'];
  readonly #text: (text: string) => number;

  constructor(nodes: LabelledProfile['nodes'], text: (text: string) => number) {
    this.#nodes = nodes;
    this.#text = text;
  }

  idOf(row: number): number {
    const { functionName, url, line, column } = frameAt(this.#nodes, row);
    const name = this.#text(functionName === '' ? '(anonymous)' : functionName);
    const filename = this.#text(url);
    return getOrMake(this.#ids, `${name}:${filename}:${line}:${column}`, () => {
      const id = this.#ids.size + 1;
      this.function.push({ id, name, systemName: name, filename, startLine: line });
      this.location.push({ id, mappingId: 1, line: [{ functionId: id, line, column }] });
      return id;
    });
  }
}

/** As `toPprof`, with the package at hand: for places where nothing can be awaited. */
export const encodePprof = (
  { Profile, StringTable }: PprofPackage,
  profile: LabelledProfile,
  { units = {}, program = 'node' }: PprofOptions = {},
): Uint8Array => {
  const { nodes, labels } = profile;
  const stringTable = new StringTable();
  const text = (value: string): number => stringTable.dedup(value);
  const frames = new FrameTable(nodes, text);
  const stacks = new Map<number, number[]>();
  const locationsOf = (node: number): number[] =>
    getOrMake(stacks, node, () =>
      stackOf(nodes, node)
        .map((row) => frames.idOf(row))
        .reverse(),
    );
  const labelOf = (key: string, value: string | number): PprofLabel[] => {
    // The format cannot tell empty text from the number 0; no label says the same.
    if (value === '') return [];
    if (typeof value === 'number' && Number.isSafeInteger(value)) {
      const unit = unitOf(key, units);
      return [{ key: text(key), num: value, ...(unit === '' ? {} : { numUnit: text(unit) }) }];
    }
    return [{ key: text(key), str: text(String(value)) }];
  };
  const labelRows = new Map<number, PprofLabel[]>();
  const labelsOf = (row: number): PprofLabel[] =>
    getOrMake(labelRows, row, () => Object.entries(labels[row]).flatMap(([key, value]) => labelOf(key, value)));
  const cpu = { type: text(profile.measure ?? 'cpu'), unit: text('nanoseconds') };
  const sample = stackWeights(profile).map(({ node, label, samples, cpuNs }) => ({
    locationId: locationsOf(node),
    value: [samples, Math.round(cpuNs)],
    label: labelsOf(label),
  }));
  const encoded = new Profile({
    sampleType: [{ type: text('samples'), unit: text('count') }, cpu],
    sample,
    // Says that there is nothing to look up: pprof would search for the binary.
    mapping: [
      {
        id: 1,
        filename: text(program),
        hasFunctions: true,
        hasFilenames: true,
        hasLineNumbers: true,
        hasInlineFrames: true,
      },
    ],
    location: frames.location,
    function: frames.function,
    timeNanos: profile.startUnixNs,
    durationNanos: Math.round(profile.endNs - profile.startNs),
    periodType: cpu,
    period: Math.round(profile.intervalNs),
    defaultSampleType: cpu.type,
    comment: [text(commentOf(profile))],
    stringTable,
  }).encode();
  return gzipSync(encoded);
};

/** How `readProfile` reads. */
export interface ReadProfileOptions {
  /**
   * Type of the values of a pprof file to read, such as `wall`; it must be one of times. Default: CPU time, and where the file has none the
   * times that it names as its default, or else its last.
   */
  readonly sampleType?: string;
}

type PprofFile = InstanceType<PprofPackage['Profile']>;
type Numeric = number | bigint;

const signed = (value: Numeric): number => Number(typeof value === 'bigint' ? BigInt.asIntN(64, value) : value);

/** Nanoseconds of the units of time that profilers write. */
const NS_OF_UNIT: ReadonlyMap<string, number> = new Map([
  ...['nanoseconds', 'nanosecond', 'ns'].map((unit) => [unit, 1] as const),
  ...['microseconds', 'microsecond', 'us', 'µs', 'μs'].map((unit) => [unit, 1e3] as const),
  ...['milliseconds', 'millisecond', 'ms'].map((unit) => [unit, 1e6] as const),
  ...['seconds', 'second', 'sec', 's'].map((unit) => [unit, 1e9] as const),
]);

/** `cpu` of Go, `cpu-time` and `cpu_time` of others; neither `off-cpu` nor `wall-time`. */
const CPU_TYPE = /^(?:process[-_]|on[-_])?cpu(?:[-_ ]?time)?$/i;

/** `samples`, `cpu-samples`, `cycles_sample`: numbers of samples, where `alloc_objects` and `contentions` are of something else. */
const SAMPLES_TYPE = /(?:^|[^a-z])samples?$/i;

/** Which values of a sample are its number and its time; -1 for none. */
interface Columns {
  readonly samples: number;
  readonly time: number;
  /** Nanoseconds of one of the values of `time`. */
  readonly scale: number;
  /** The type of `time` where that is not CPU time. */
  readonly measure?: string;
}

interface ValueType {
  readonly type: string;
  readonly unit: string;
}

const timeColumn = (types: readonly ValueType[], defaultType: string, sampleType: string | undefined): number => {
  const isTime = ({ unit }: ValueType): boolean => NS_OF_UNIT.has(unit);
  if (sampleType !== undefined) {
    const wanted = types.findIndex((one) => one.type === sampleType);
    if (wanted >= 0 && isTime(types[wanted])) return wanted;
    const times = types.filter(isTime).map(({ type }) => type);
    throw wrongOutputOption(
      `the profile has no times of the type ${JSON.stringify(sampleType)}; it has ${times.join(', ') || 'none'}`,
    );
  }
  const cpu = types.findIndex((one) => isTime(one) && CPU_TYPE.test(one.type));
  if (cpu >= 0) return cpu;
  const wanted = types.findIndex((one) => isTime(one) && one.type === defaultType);
  return wanted >= 0 ? wanted : types.findLastIndex(isTime);
};

const columnsOf = (
  types: readonly ValueType[],
  { defaultType, sampleType }: { readonly defaultType: string; readonly sampleType?: string },
): Columns => {
  const time = timeColumn(types, defaultType, sampleType);
  const samples = types.findIndex(
    ({ type, unit }) => unit === 'count' && (SAMPLES_TYPE.test(type) || CPU_TYPE.test(type)),
  );
  if (time < 0) {
    if (samples >= 0) return { samples, time, scale: 1 };
    const shown = types.map(({ type, unit }) => `${type}/${unit}`).join(', ');
    throw notReadable(`its values are ${shown}: no times and no numbers of samples`);
  }
  const { type, unit } = types[time];
  const scale = NS_OF_UNIT.get(unit) as number;
  return { samples, time, scale, ...(!CPU_TYPE.test(type) && { measure: type || 'time' }) };
};

/** No profiler looks more often. Some write 1 for a period that they do not know. */
const MIN_PERIOD_NS = 10_000;

/** The time between samples in nanoseconds; undefined where the file names none. Mutex profiles count their period in contentions. */
const periodOf = ({ period, periodType }: PprofFile, text: (at: Numeric) => string, scale: number) => {
  const value = signed(period);
  const unit = periodType === undefined ? '' : text(periodType.unit);
  const ns = value * (unit === '' ? scale : (NS_OF_UNIT.get(unit) ?? 0));
  return ns >= MIN_PERIOD_NS ? ns : undefined;
};

const stacksOf = (file: PprofFile, text: (at: Numeric) => string): ((sample: Sample) => Frame[]) => {
  const functions = new Map(file.function.map((each) => [Number(each.id), each]));
  const binaries = new Map(file.mapping.map(({ id, filename }) => [Number(id), filename]));
  const frames = new Map<number, readonly Frame[]>();
  for (const { id, address, mappingId, line: lines } of file.location) {
    // Innermost first, as in samples: functions that were inlined into one another.
    const found = lines.flatMap(({ functionId, line, column }): Frame[] => {
      if (Number(functionId) === 0) return [];
      const of = functions.get(Number(functionId));
      if (of === undefined) throw notReadable(`a location refers to the function ${functionId}, which is not in it`);
      const functionName = text(of.name) || text(of.systemName);
      const name = functionName === '(anonymous)' ? '' : functionName;
      return [{ functionName: name, url: text(of.filename), line: signed(line), column: signed(column ?? 0) }];
    });
    // Nobody looked up what lies there: the address is what is known.
    const binary = binaries.get(Number(mappingId));
    const functionName = `0x${BigInt.asUintN(64, BigInt(address)).toString(16)}`;
    const bare: Frame = { functionName, url: binary === undefined ? '' : text(binary), line: 0, column: 0 };
    frames.set(Number(id), found.length === 0 ? [bare] : found);
  }
  return ({ locationId }) => {
    const stack: Frame[] = [];
    for (const id of locationId) {
      const found = frames.get(Number(id));
      if (found === undefined) throw notReadable(`a sample refers to the location ${id}, which is not in it`);
      // Before they are put together: a small file can name many frames many times.
      if (stack.length + found.length > MAX_DEPTH) throw tooDeep();
      stack.push(...found);
    }
    return stack.reverse();
  };
};

const recordOf = (labels: readonly Label[], text: (at: Numeric) => string): LabelRecord =>
  recordFrom(labels.map(({ key, str, num }) => [text(key), str ? text(str) : signed(num)] as const));

const factsOf = (file: PprofFile, text: (at: Numeric) => string): URLSearchParams => {
  const comment = file.comment.map(text).find((each) => each.startsWith(COMMENT_PREFIX)) ?? '';
  return new URLSearchParams(comment.slice(COMMENT_PREFIX.length).replaceAll(' ', '&'));
};

/** Each sample's number and time; a sample that says nothing of either is left out. */
const weighed = (
  file: PprofFile,
  { samples, time, scale }: Columns,
  periodNs: number | undefined,
): { readonly sample: Sample; readonly times: number; readonly ns: number }[] => {
  const types = file.sampleType.length;
  const read = file.sample.map((sample) => {
    const { length } = sample.value;
    if (length !== types) throw notReadable(`a sample has ${length} values for ${types} types`);
    const count = samples < 0 ? 0 : signed(sample.value[samples]);
    const ns = time < 0 ? Number.NaN : signed(sample.value[time]) * scale;
    if (count < 0 || ns < 0) throw notReadable('it has negative values; subtract no profiles, use diff');
    return { sample, count, ns };
  });
  // Where no period is known, a stack is one sample: more would make its share look surer.
  const guessed = periodNs ?? Number.POSITIVE_INFINITY;
  const isGuess = read.reduce((sum, { ns }) => sum + ns / guessed, 0) <= MAX_SAMPLES;
  return read.flatMap(({ sample, count, ns }) => {
    const times = count || (isGuess ? Math.round(ns / guessed) : 0) || (ns > 0 ? 1 : 0);
    return times === 0 ? [] : [{ sample, times, ns }];
  });
};

/** Between samples, where nothing tells. */
const DEFAULT_INTERVAL_NS = 1_000_000;

const toProfile = (file: PprofFile, { sampleType }: ReadProfileOptions): LabelledProfile => {
  const { strings } = file.stringTable;
  const text = (at: Numeric): string => {
    const found = strings[Number(at)];
    if (found === undefined) throw notReadable(`it refers to the text ${at} of ${strings.length}`);
    return found;
  };
  const types = file.sampleType.map(({ type, unit }) => ({ type: text(type), unit: text(unit) }));
  const columns = columnsOf(types, { defaultType: text(file.defaultSampleType), sampleType });
  const periodNs = periodOf(file, text, columns.scale);
  const stackOfSample = stacksOf(file, text);
  const draft = new ProfileDraft();
  let totalNs = 0;
  for (const { sample, times, ns } of weighed(file, columns, periodNs)) {
    const place = draft.place(stackOfSample(sample));
    const weight = Number.isNaN(ns) ? (periodNs ?? DEFAULT_INTERVAL_NS) : ns / times;
    draft.add(place, draft.labelRow(recordOf(sample.label, text)), 0, weight, times);
    totalNs += weight * times;
  }
  const facts = factsOf(file, text);
  return draft.finishUntimed({
    startNs: 0,
    endNs: Math.max(0, signed(file.durationNanos)),
    startUnixNs: BigInt.asIntN(64, BigInt(file.timeNanos)),
    unit: facts.get('unit') === 'samples' || columns.time < 0 ? 'samples' : 'cpu',
    ...(columns.measure !== undefined && { measure: columns.measure }),
    intervalNs: periodNs ?? (Math.round(totalNs / draft.count) || DEFAULT_INTERVAL_NS),
    carrier: carrierOf(facts.get('carrier')),
    threadId: Number(facts.get('threadId') ?? 0) || 0,
  });
};

/** The bytes of a pprof file, not compressed. */
export const readPprof = async (bytes: Uint8Array, options: ReadProfileOptions = {}): Promise<LabelledProfile> => {
  const { Profile } = await import('pprof-format');
  const file: PprofFile = orThrow(
    () => Profile.decode(bytes),
    (error) => notReadable('it is not a pprof profile, or it is damaged', error),
  );
  if (file.sampleType.length === 0) throw notReadable('it is not a pprof profile: it names no types of samples');
  return toProfile(file, options);
};

export interface PprofOptions {
  /** Units of numeric labels by key, such as `{ rows: 'rows' }`. Keys that end in a unit (`sizeBytes`, `wait_ms`) need none. */
  readonly units?: Readonly<Record<string, string>>;
  /** Name of the program in reports. Default `node`. */
  readonly program?: string;
}

/**
 * The profile as gzipped pprof: sample types `samples/count` and `cpu/nanoseconds`, labels of samples as labels.
 *
 * For `go tool pprof` (`-tags`, `-tagfocus`, `-tagroot`), Pyroscope, Parca and the like. Idle samples are left out; garbage collection
 * bears no label.
 *
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { profile, toPprof } from '@spanline/profile';
 * writeFileSync('cpu.pb.gz', await toPprof(await profile({ durationMs: 20 })));
 * ```
 */
export const toPprof = async (profile: LabelledProfile, options: PprofOptions = {}): Promise<Uint8Array> =>
  encodePprof(await import('pprof-format'), profile, options);
