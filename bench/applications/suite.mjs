// The matrix of applications: each runs untraced, traced by ours, and traced by the official packages, in a process of its own. First what each
// answers and which traces come of it; then, by turns, what starting, serving and ending cost. It must not compare what was not asked alike.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureInstalled } from '../../scripts/lib/install.mjs';
import { freePort } from '../../scripts/lib/local-ports.mjs';
import { startSink } from '../exporters/start-sink.mjs';
import { commit, machine } from '../lib/machine.mjs';
import { rounded } from '../lib/rounds.mjs';
import { median } from '../lib/stats.mjs';
import { majorOf, versionOf } from '../lib/subjects.mjs';
import { AT_ONCE, askAll, close } from './ask.mjs';
import { APPLICATIONS } from './list.mjs';
import { startReceiver } from './receiver.mjs';
import { Servers } from './servers.mjs';
import { Service, tracedTo, WAYS } from './service.mjs';
import { countsOf, mixedOf, treesOf } from './traces.mjs';

const HERE = import.meta.dirname;
const REQUESTS = { full: 20_000, quick: 500 };
/** Of all requests those that come first and are counted apart: the optimiser compiles what they run, and caches and the heap grow to their sizes. */
const WARM_UP = 1 / 4;
const ROUNDS = 5;
const STARTS = 3;
const AT_ONCE_ROUNDS = 10;
/** What a tracer puts off to when the service is idle is not free. */
const AFTER_MS = 1200;

/** What is another each time: times, ids, tokens, the port. */
const masked = (body, port, mask = /^$/g) =>
  body
    .replace(mask, '')
    .replaceAll(String(port), 'PORT')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)/g, 'TIME')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, 'UUID')
    .replace(/\b[0-9a-f]{16,}\b/g, 'HEX');

/** Where one way of an application runs: its folder, port and databases. */
async function placeOf(application, way, servers) {
  const folder = mkdtempSync(join(tmpdir(), `spanline-${way}-`));
  const database = `bench_${application.name.replace(/\W/g, '_')}_${way}`.toLowerCase();
  const redisDatabase = servers.redis?.nextDatabase();
  const place = { folder, port: await freePort(), database, redisDatabase, ...servers };
  servers.postgres?.run(`CREATE DATABASE ${database}`);
  servers.mariadb?.run(`CREATE DATABASE ${database}`);
  application.prepare?.(place);
  return place;
}

/** What one way answers, and its traces. `error`: why it has none. */
async function observe(application, way, place, node) {
  const receiver = await startReceiver();
  const env = { ...tracedTo(receiver.url), OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_BSP_SCHEDULE_DELAY: '200' };
  const service = new Service({ application, way, place, node, env });
  const { port } = place;
  try {
    await service.start();
    const { requests, load } = application.asked?.(place) ?? application;
    const more = await application.signIn?.(port);
    // The first time connections are opened and caches are filled.
    const first = await askAll(port, [...requests, ...load], { prefix: 'bench-first', more });
    const second = await askAll(port, [...requests, ...load], { prefix: 'bench-second', more });
    const count = AT_ONCE * AT_ONCE_ROUNDS;
    const many = await askAll(port, load, { count, atOnce: AT_ONCE, prefix: 'bench-many', more });
    const answers = [...first, ...second, ...many];
    const spans = way === 'untraced' ? [] : await receiver.settled();
    return { answers, second, many, spans, port };
  } catch (error) {
    return { error };
  } finally {
    await service.stop();
    receiver.close();
  }
}

const textOf = ({ answers, port }, mask) =>
  answers.map(({ asked, status, body }) => `${asked} ${status} ${masked(body, port, mask)}`);

/** Where `text` begins to be another, in short. */
const since = (text, other) => {
  const at = [...text].findIndex((character, i) => character !== other[i]);
  return text.slice(Math.max(0, at - 60), at + 60);
};

/** The first five columns of one way; `bare` is what the untraced one did. */
function judge(seen, bare, mask) {
  if (seen.error !== undefined) return { isStarted: false, notes: [seen.error.message] };
  const notes = [];
  const [mine, theirs] = [textOf(seen, mask), textOf(bare, mask)];
  const differs = mine.findIndex((text, i) => text !== theirs[i]);
  if (differs >= 0) {
    const [answer, wanted] = [mine[differs], theirs[differs] ?? ''];
    notes.push(`${seen.answers[differs].asked} answers ${since(answer, wanted)} instead of ${since(wanted, answer)}`);
  }
  const trees = treesOf(seen.spans);
  const whole = seen.answers.filter(({ id }) => trees.get(id) !== undefined);
  const mixed = mixedOf(trees, seen.many, seen.answers.slice(0, -seen.many.length));
  for (const { asked, shape, alone } of mixed.slice(0, 1))
    notes.push(`${asked} among others is ${shape}, alone ${alone}`);
  const lost = seen.answers.find(({ id }) => trees.get(id) === undefined);
  if (lost !== undefined && seen.spans.length > 0) notes.push(`${lost.asked} (${lost.id}) is not one tree`);
  return {
    isStarted: true,
    isSame: differs < 0,
    requests: seen.answers.length,
    trees: whole.length,
    mixed: mixed.length,
    spans: countsOf(
      seen.spans,
      seen.second.map(({ id }) => id),
    ),
    notes,
  };
}

/**
 * Start and end all three by turns; the last time they stay, and serve rounds of `load`, all three the same number in each. Each counts the CPU of its
 * process alone: until it is warm, from its start on, and then of each round.
 */
async function cost(application, places, { node, requests, log }) {
  const { http: sink } = await startSink();
  const env = tracedTo(`http://127.0.0.1:${sink}`);
  const ways = WAYS.filter((way) => places.has(way));
  const of = new Map(ways.map((way) => [way, { starts: [], ends: [], cpu: [] }]));
  const services = new Map();
  const stop = async (way) => of.get(way).ends.push(await services.get(way).stop());
  try {
    for (let turn = 1; turn <= STARTS; turn++) {
      for (const way of ways) {
        log(`start ${turn} of ${STARTS}, ${way}`);
        const service = new Service({ application, way, place: places.get(way), node, env });
        services.set(way, service);
        of.get(way).starts.push(await service.start());
        if (turn < STARTS) await stop(way);
      }
    }
    const warmUp = Math.ceil(requests * WARM_UP);
    const count = Math.ceil((requests - warmUp) / ROUNDS);
    /** CPU that a service takes for so many requests, us. */
    const serve = async (way, count) => {
      const place = places.get(way);
      const { load } = application.asked?.(place) ?? application;
      const more = await application.signIn?.(place.port);
      const before = services.get(way).cpuUs();
      await askAll(place.port, load, { count, atOnce: AT_ONCE, prefix: 'bench', more });
      await sleep(AFTER_MS);
      return services.get(way).cpuUs() - before;
    };
    for (const way of ways) {
      log(`warm-up, ${way}`);
      await serve(way, warmUp);
      of.get(way).warmMs = services.get(way).cpuUs() / 1000;
    }
    for (let round = 1; round <= ROUNDS; round++) {
      log(`round ${round} of ${ROUNDS}`);
      const first = round % ways.length;
      for (const way of [...ways.slice(first), ...ways.slice(0, first)]) {
        of.get(way).cpu.push((await serve(way, count)) / count);
        // At once: V8 gives memory back while the others serve.
        of.get(way).rssMb = services.get(way).rssMb();
      }
    }
  } finally {
    for (const way of services.keys()) await stop(way);
  }
  const bare = of.get('untraced').cpu;
  return new Map(
    [...of].map(([way, { starts, ends, cpu, warmMs, rssMb }]) => {
      const added = cpu.map((us, i) => us - bare[i]);
      const figures = {
        cpuUs: rounded(median(cpu)),
        addedUs: rounded(median(added)),
        addedUsFrom: rounded(Math.min(...added)),
        addedUsTo: rounded(Math.max(...added)),
        // Other work on the machine only ever adds to a round.
        addedUsOfMin: rounded(Math.min(...cpu) - Math.min(...bare)),
        warmMs: rounded(warmMs),
        rssMb: rounded(rssMb),
        startMs: rounded(median(starts)),
        end: ends.map(({ end }) => end).sort()[1],
        endMs: rounded(median(ends.map(({ ms }) => ms))),
      };
      return [way, figures];
    }),
  );
}

async function measureApplication(application, servers, options) {
  const { node, log } = options;
  const places = new Map();
  const seen = new Map();
  // Of each: a run of all takes an hour, and one may be measured again.
  const measured = { date: new Date().toISOString().slice(0, 16), commit: commit(), load: machine().loadBefore };
  try {
    for (const way of WAYS) {
      const place = await placeOf(application, way, servers);
      places.set(way, place);
      log(`answers, ${way}`);
      seen.set(way, await observe(application, way, place, node));
    }
    const bare = seen.get('untraced');
    if (bare.error !== undefined) throw bare.error;
    const judged = new Map(WAYS.map((way) => [way, judge(seen.get(way), bare, application.mask)]));
    const starting = new Map([...places].filter(([way]) => judged.get(way).isStarted));
    const costs = options.requests === 0 ? new Map() : await cost(application, starting, options);
    const figures = WAYS.map((way) => [way, { ...judged.get(way), ...costs.get(way) }]);
    const { name, of } = application;
    return { name, of, requests: options.requests, ...measured, ...Object.fromEntries(figures) };
  } finally {
    for (const { folder } of places.values()) rmSync(folder, { recursive: true, force: true });
  }
}

export async function measure(node, { quick, only = /./, requests = REQUESTS[quick ? 'quick' : 'full'], log }) {
  const version = versionOf(node);
  if (majorOf(version) < 22)
    throw new Error('The official packages need Node 22.15 or later: ask for it, as --node 24.');
  ensureInstalled(HERE, 'applications', ['--omit=optional']);
  const servers = new Servers();
  const results = [];
  try {
    for (const application of APPLICATIONS.filter(({ name }) => only.test(name))) {
      const { name, folder, needs = [] } = application;
      const say = (line) => log(`Node ${version}: ${name}: ${line}`);
      const started = await servers.of(needs);
      if (started === undefined) {
        say(`left out, this machine lacks one of ${needs.join(', ')}`);
        continue;
      }
      if (folder !== undefined) ensureInstalled(folder, `the application ${name}`);
      const options = { node, requests, log: say };
      // One that does not run here must not cost the figures of the others.
      // Its message alone can be empty: that of a connection that no address took.
      const row = await measureApplication(application, started, options).catch((error) =>
        console.error(`${name} was not measured:`, error),
      );
      if (row !== undefined) results.push(row);
    }
  } finally {
    close();
    await servers.stop();
  }
  return { version, results };
}
