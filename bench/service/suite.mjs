// The service suite: what tracing costs a whole service, above the same service untraced. It makes rows of differences between subjects, so that
// it has its own way of taking turns: every subject in one process a shape, one round of each after the other.
import { ensurePeers } from '../lib/peers.mjs';
import { runSubjects, Subject } from '../lib/rounds.mjs';
import { majorOf, moduleAt, versionOf } from '../lib/subjects.mjs';
import { buildFastrace } from './fastrace-program.mjs';
import { keysOf, rowsOf } from './rows.mjs';
import { SHAPES } from './shapes.mjs';

const at = moduleAt(import.meta.url);

/** The first round teaches the optimiser and is not counted. */
const ROUNDS = { flow: { full: 9, quick: 3 }, http: { full: 5, quick: 2 } };
const HTTP_SECONDS = { full: 4, quick: 1 };

/** Loops of the recording suite that fastrace runs too, in the same run. */
const LOOPS = /^((local-span|local-span-1-property|span|event|async-span) 100|(local-span|root-1) 1)$/;

const MODES = ['record', 'flight', 'send', 'archive', 'archive-unsorted'];
/** What the gate measures. */
const QUICK_MODES = new Set(['record', 'send']);

const none = { module: at('none.mjs'), mode: 'none' };

/** Subjects by mode; `baseline`: what they are measured above. */
function tracersOf(version, fastrace) {
  const otel = majorOf(version) >= 24 ? 'otel-3' : '.';
  ensurePeers(otel);
  const spanline = MODES.map((mode) => ({ module: at('spanline.mjs'), mode }));
  const peer = ['record', 'send'].map((mode) => ({
    module: at('otel.mjs'),
    mode,
    env: { SPANLINE_BENCH_OTEL: otel },
  }));
  const tracers = [...spanline, ...peer].map((tracer) => ({ ...tracer, baseline: none }));
  if (fastrace === undefined) return tracers;
  const env = { SPANLINE_BENCH_FASTRACE: fastrace };
  const baseline = { module: at('fastrace.mjs'), mode: 'none', env };
  return [...tracers, { ...baseline, mode: 'record', baseline, shapes: ['flow'] }];
}

/** One shape: all rounds of all subjects, in turns. Of each subject its name and its rounds. */
async function roundsOf(shape, tracers, { node, quick, log }) {
  const subjects = new Map();
  const given = new Map(tracers.map((tracer) => [tracer, []]));
  const kind = quick ? 'quick' : 'full';
  const timing = { quick, seconds: HTTP_SECONDS[kind] };
  try {
    for (const tracer of tracers) {
      const { module, mode, env } = tracer;
      const subject = new Subject({ module, env: { ...env, SPANLINE_BENCH_MODE: mode } }, node);
      subjects.set(tracer, subject);
      await subject.start();
    }
    const { [kind]: rounds } = ROUNDS[shape] ?? ROUNDS.flow;
    for (let round = 0; round <= rounds; round++) {
      log(`service ${shape}, round ${round} of ${rounds}`);
      // Whoever follows the dearest one must not be the same every time.
      const first = round % tracers.length;
      for (const tracer of [...tracers.slice(first), ...tracers.slice(0, first)]) {
        const subject = subjects.get(tracer);
        const index = subject.cases.findIndex(({ name }) => name === shape);
        const figures = await subject.round(index, timing);
        if (round > 0) given.get(tracer).push(figures);
        // Half of what the untraced service can take: the same load for all.
        else if (tracer === none && shape === 'http') timing.nextRate = figures.perSecond / 2;
      }
      timing.rate = timing.nextRate;
    }
    return new Map(
      tracers.map((tracer) => [tracer, { subject: subjects.get(tracer).name, rounds: given.get(tracer) }]),
    );
  } finally {
    for (const subject of subjects.values()) subject.stop();
  }
}

/** Rows of one shape, as far as `only` wants them. */
async function measureShape(shape, tracers, { only = /./, ...options }) {
  const wants = ({ mode }) => keysOf(shape, mode).some((key) => only.test(key));
  const wanted = tracers.filter(({ mode, shapes }) => wants({ mode }) && (shapes?.includes(shape) ?? true));
  const all = [...new Set([...wanted.map(({ baseline }) => baseline), ...(wants(none) ? [none] : []), ...wanted])];
  if (all.length === 0) return [];
  const measured = await roundsOf(shape, all, options);
  const { spans } = SHAPES[shape] ?? SHAPES.flow;
  const rows = all.flatMap((tracer) => {
    const { subject, rounds } = measured.get(tracer);
    const untraced = measured.get(tracer.baseline ?? tracer).rounds;
    return rowsOf({ subject, shape, mode: tracer.mode, spans }, rounds, untraced);
  });
  return rows.filter(({ name, n }) => only.test(`${name} ${n}`));
}

/** The quick form, for the gate, has the flow, recording and sending, against the SDK only. */
export async function measure(node, { quick, only, timing, log }) {
  const version = versionOf(node);
  const options = { node, quick, only, log: (line) => log(`Node ${version}: ${line}`) };
  const fastrace = quick ? undefined : buildFastrace(log);
  const tracers = tracersOf(version, fastrace);
  if (quick)
    return {
      version,
      results: await measureShape(
        'flow',
        tracers.filter(({ mode }) => QUICK_MODES.has(mode)),
        options,
      ),
    };
  const results = [];
  for (const shape of [...Object.keys(SHAPES), 'http']) results.push(...(await measureShape(shape, tracers, options)));
  if (fastrace !== undefined) {
    const loops = [
      { module: new URL('../recording/spanline.mjs', import.meta.url).href },
      { module: at('fastrace-loops.mjs'), env: { SPANLINE_BENCH_FASTRACE: fastrace } },
    ];
    const both = { test: (key) => LOOPS.test(key) && (only?.test(key) ?? true) };
    results.push(...(await runSubjects(loops, { node, timing, only: both, log: options.log })));
  }
  return { version, results };
}
