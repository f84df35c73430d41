// The endpoints of the view Profiles: list, table by label, difference, flame graph, CPU of a trace, and the file for speedscope. They read the
// directory and change nothing. Samples that know their span get its name too, as a label of its own: an archive must only be read when samples are
// grouped by it.
import type { Archive } from '@spanline/archive';
import { type Call, HttpError, type Route, required, traceIdOf } from '@spanline/archive/internal';
import {
  diff,
  type LabelledProfile,
  labelKeys,
  SPAN_ID_LABEL,
  type SpeedscopeDocument,
  TRACE_ID_LABEL,
  top,
  toSpeedscope,
  WHOLE_LABEL,
} from '@spanline/profile';
import { groupedBy, labelValue, recordFrom, relabelled } from '@spanline/profile/internal';
import { apiGet, type UiSources } from '../api-route.js';
import type { FlameColumns, ProfileDiff, ProfileTable, TraceOfSpan } from './answers.js';
import { flameColumns } from './flame-graph.js';
import { CpuOfTraces, ProfileDirectory } from './profile-directory.js';

/** The label key for the names of spans. */
const SPAN_NAME_LABEL = 'span.name';
/** Traces of a profile that are looked up; samples of others have no name. */
const MAX_TRACES = 1000;
/** Looked up at once. */
const BATCH = 100;

/** The profile with {@link SPAN_NAME_LABEL} on every sample whose span is in the archive. */
const withSpanNames = async (
  profile: LabelledProfile,
  archive: Archive,
  signal: AbortSignal,
): Promise<LabelledProfile> => {
  const ids = [...new Set(profile.labels.map((record) => labelValue(record, TRACE_ID_LABEL)))].filter(
    (id) => id !== '',
  );
  const wanted = ids.slice(0, MAX_TRACES);
  const names = new Map<string, string>();
  for (let i = 0; i < wanted.length; i += BATCH) {
    for (const [traceId, spans] of await archive.traces(wanted.slice(i, i + BATCH), { signal })) {
      for (const { spanId, name } of spans) names.set(`${traceId} ${spanId}`, name);
    }
  }
  return relabelled(profile, (record) => {
    const name = names.get(`${labelValue(record, TRACE_ID_LABEL)} ${labelValue(record, SPAN_ID_LABEL)}`);
    return name === undefined ? record : recordFrom([...Object.entries(record), [SPAN_NAME_LABEL, name]]);
  });
};

/** Rows of a table that the page shows. */
const MAX_ROWS = 500;
const NS_PER_MS = 1_000_000n;

/** Without a directory every endpoint says how to get one. */
const noDirectory = (): never => {
  throw new HttpError(404, 'no directory of profiles is open: start spanline ui with --profiles DIR');
};

const byOf = ({ query }: Call): string => query.get('by') || WHOLE_LABEL;

class ProfileAnswers {
  readonly directory: ProfileDirectory;
  readonly #archive: UiSources['archive'];

  constructor(path: string, archive: UiSources['archive']) {
    this.directory = new ProfileDirectory(path);
    this.#archive = archive;
  }

  async table(call: Call): Promise<ProfileTable> {
    const by = byOf(call);
    const profile = await this.#read(call, 'name', by);
    const startMs = Number(profile.startUnixNs / NS_PER_MS);
    return { ...top(profile, { by, limit: MAX_ROWS }), keys: this.#keys(profile), startMs };
  }

  async diff(call: Call): Promise<ProfileDiff> {
    const by = byOf(call);
    const before = await this.#read(call, 'before', by);
    const after = await this.#read(call, 'name', by);
    const changes = diff(before, after, { by });
    const keys = [...new Set([...this.#keys(before), ...this.#keys(after)])].sort();
    return { by, keys, changes: changes.slice(0, MAX_ROWS), omitted: Math.max(0, changes.length - MAX_ROWS) };
  }

  async flame(call: Call): Promise<FlameColumns> {
    const by = byOf(call);
    const profiles = [await this.#read(call, 'name', by)];
    if (call.query.has('before')) profiles.push(await this.#read(call, 'before', by));
    const [after, before] = groupedBy(by, ...profiles);
    // The empty value is one: samples without the key.
    const value = call.query.get('none') === 'true' ? '' : (call.query.get('value') ?? undefined);
    return flameColumns(after, { by, value, isInverted: call.query.get('inverted') === 'true' }, before);
  }

  async speedscope(call: Call): Promise<SpeedscopeDocument> {
    const by = byOf(call);
    return toSpeedscope(await this.#read(call, 'name', by), { by, name: required(call.query, 'name') });
  }

  async traceOf(call: Call): Promise<TraceOfSpan> {
    const span = required(call.query, 'span');
    const { labels } = await this.directory.read(required(call.query, 'name'));
    const label = labels.find((record) => labelValue(record, SPAN_ID_LABEL) === span);
    const traceId = label === undefined ? '' : labelValue(label, TRACE_ID_LABEL);
    if (traceId === '') throw new HttpError(404, `the profile has no sample of span ${span}`);
    return { traceId };
  }

  async #read(call: Call, parameter: string, by: string): Promise<LabelledProfile> {
    const profile = await this.directory.read(required(call.query, parameter));
    if (by !== SPAN_NAME_LABEL || this.#archive === undefined) return profile;
    return withSpanNames(profile, this.#archive, call.signal);
  }

  #keys(profile: LabelledProfile): string[] {
    const keys = labelKeys(profile);
    const canName = this.#archive !== undefined && keys.includes(TRACE_ID_LABEL);
    return canName && !keys.includes(SPAN_NAME_LABEL) ? [...keys, SPAN_NAME_LABEL] : keys;
  }
}

/** The routes below /ui/api/profiles. */
export const profileRoutes = ({ profiles, archive }: UiSources): Route[] => {
  if (profiles === undefined) return [apiGet('profiles/*', noDirectory)];
  const answers = new ProfileAnswers(profiles, archive);
  const traces = new CpuOfTraces(answers.directory);
  return [
    apiGet('profiles/list', () => answers.directory.list()),
    apiGet('profiles/table', (call) => answers.table(call)),
    apiGet('profiles/diff', (call) => answers.diff(call)),
    apiGet('profiles/flame', (call) => answers.flame(call)),
    apiGet('profiles/of-trace', (call) => traces.of(traceIdOf('id', required(call.query, 'id')), call.signal)),
    apiGet('profiles/trace-of', (call) => answers.traceOf(call)),
    apiGet('profiles/speedscope', (call) => answers.speedscope(call)),
  ];
};
