// Reads pprof: files of this library and of other profilers. What the format does not tell (when a sample was taken) is not made up
// beyond an even spread. A damaged file is an error, never a wrong profile without a word.
import type { Label, Sample } from 'pprof-format';
import type { Frame } from '../call-tree.js';
import { recordFrom } from '../label-rows.js';
import { carrierOf, type LabelledProfile, type LabelRecord } from '../labelled-profile.js';
import { COMMENT_PREFIX, loadPprofPackage, type PprofPackage } from './encode-pprof.js';
import { MOST_DEPTH, notReadable, ProfileDraft, tooDeep } from './profile-draft.js';

type PprofFile = InstanceType<PprofPackage['Profile']>;
type Numeric = number | bigint;

const signed = (value: Numeric): number => Number(typeof value === 'bigint' ? BigInt.asIntN(64, value) : value);

/** Which values of a sample are its number and its CPU time. */
interface Columns {
  readonly samples: number;
  readonly cpu: number;
}

const columnsOf = ({ sampleType }: PprofFile, text: (at: Numeric) => string): Columns => {
  const types = sampleType.map(({ type, unit }) => ({ type: text(type), unit: text(unit) }));
  const isTime = types.map(({ unit }) => unit === 'nanoseconds');
  const cpu = types.findIndex(({ type, unit }) => type === 'cpu' && unit === 'nanoseconds');
  return { samples: types.findIndex(({ unit }) => unit === 'count'), cpu: cpu >= 0 ? cpu : isTime.lastIndexOf(true) };
};

const stacksOf = (file: PprofFile, text: (at: Numeric) => string): ((sample: Sample) => Frame[]) => {
  const functions = new Map(file.function.map((each) => [Number(each.id), each]));
  const frames = new Map<number, readonly Frame[]>();
  for (const { id, line: lines } of file.location) {
    // Innermost first, as in samples: functions that were inlined into one another.
    const found = lines.map(({ functionId, line, column }): Frame => {
      const of = functions.get(Number(functionId));
      const functionName = of === undefined ? '' : text(of.name);
      const name = functionName === '(anonymous)' ? '' : functionName;
      return {
        functionName: name,
        url: of === undefined ? '' : text(of.filename),
        line: signed(line),
        column: signed(column ?? 0),
      };
    });
    frames.set(Number(id), found);
  }
  return ({ locationId }) => {
    const stack: Frame[] = [];
    for (const id of locationId) {
      const found = frames.get(Number(id));
      if (found === undefined) throw notReadable(`a sample refers to the location ${id}, which is not in it`);
      // Before they are put together: a small file can name many frames many times.
      if (stack.length + found.length > MOST_DEPTH) throw tooDeep();
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

const toProfile = (file: PprofFile): LabelledProfile => {
  const { strings } = file.stringTable;
  const text = (at: Numeric): string => {
    const found = strings[Number(at)];
    if (found === undefined) throw notReadable(`it refers to the text ${at} of ${strings.length}`);
    return found;
  };
  const columns = columnsOf(file, text);
  if (columns.samples < 0 && columns.cpu < 0) throw notReadable('it has neither numbers of samples nor times');
  const periodNs = Math.max(1, signed(file.period));
  const stackOfSample = stacksOf(file, text);
  const draft = new ProfileDraft();
  for (const sample of file.sample) {
    const value = (column: number): number => (column < 0 ? Number.NaN : signed(sample.value[column] ?? 0));
    const cpuNs = value(columns.cpu);
    const times = Math.round(value(columns.samples) || cpuNs / periodNs) || (cpuNs > 0 ? 1 : 0);
    if (times < 0 || cpuNs < 0) throw notReadable('it has negative values; subtract no profiles, use diff');
    if (times === 0) continue;
    const place = draft.place(stackOfSample(sample));
    const weight = Number.isNaN(cpuNs) ? periodNs : cpuNs / times;
    draft.add(place, draft.labelRow(recordOf(sample.label, text)), 0, weight, times);
  }
  const facts = factsOf(file, text);
  return draft.finishUntimed({
    startNs: 0,
    endNs: Math.max(0, signed(file.durationNanos)),
    startUnixNs: BigInt.asIntN(64, BigInt(file.timeNanos)),
    unit: facts.get('unit') === 'samples' || columns.cpu < 0 ? 'samples' : 'cpu',
    intervalNs: periodNs,
    carrier: carrierOf(facts.get('carrier')),
    threadId: Number(facts.get('threadId') ?? 0) || 0,
  });
};

/** The bytes of a pprof file, not compressed. */
export const readPprof = async (bytes: Uint8Array): Promise<LabelledProfile> => {
  const { Profile } = await loadPprofPackage();
  let file: PprofFile;
  try {
    file = Profile.decode(bytes);
  } catch (error) {
    throw notReadable('it is no pprof, or damaged', error);
  }
  if (file.sampleType.length === 0) throw notReadable('it is no pprof: it names no types of samples');
  return toProfile(file);
};
