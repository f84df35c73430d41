// Reads pprof: files of this library and of other profilers. What the format does not tell (when a sample was taken) is not made up
// beyond an even spread. A damaged file is an error, never a wrong profile without a word, and no other time is called CPU time.
import type { Label, Sample } from 'pprof-format';
import type { Frame } from '../call-tree.js';
import { carrierOf, type LabelledProfile, type LabelRecord, recordFrom } from '../labelled-profile.js';
import { ProfileOutputError } from '../profile-error.js';
import { COMMENT_PREFIX, type PprofPackage } from './encode-pprof.js';
import { MAX_DEPTH, MAX_SAMPLES, notReadable, ProfileDraft, tooDeep } from './profile-draft.js';

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

const shownType = ({ type, unit }: ValueType): string => `${type}/${unit}`;

const timeColumn = (types: readonly ValueType[], defaultType: string, sampleType: string | undefined): number => {
  const isTime = ({ unit }: ValueType): boolean => NS_OF_UNIT.has(unit);
  if (sampleType !== undefined) {
    const wanted = types.findIndex((one) => one.type === sampleType);
    if (wanted >= 0 && isTime(types[wanted])) return wanted;
    const times = types.filter(isTime).map(({ type }) => type);
    throw new ProfileOutputError(
      'ERR_SPANLINE_PROFILE_OPTION',
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
    throw notReadable(`its values are ${types.map(shownType).join(', ')}: no times and no numbers of samples`);
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
  let file: PprofFile;
  try {
    file = Profile.decode(bytes);
  } catch (error) {
    throw notReadable('it is not a pprof profile, or it is damaged', error);
  }
  if (file.sampleType.length === 0) throw notReadable('it is not a pprof profile: it names no types of samples');
  return toProfile(file, options);
};
