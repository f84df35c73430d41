// Snapshots that the page can open: files that were named at the start, those of a directory, and those that it has taken itself, of Node.js
// processes of the user who serves the page. Processes are only looked at; whether one has a recorder that was switched on in its code cannot be seen
// from outside. A snapshot that is looked at is an archive of its own in a temporary directory, so that everything that asks an archive can ask it;
// the directory goes when it is closed. A process that shows no recorder must never be sent a signal for a request. A name in a request must never reach a file that the listing would not show, and where a snapshot is written
// is decided here, never by a request.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Archive } from '@spanline/archive';
import { HttpError, keepSnapshot } from '@spanline/archive/internal';
import { FlightError, readSnapshotFile, type Snapshot } from 'spanline/flight-recorder';
import { isGone, makeDirectory, targetFailure, timers } from 'spanline/internal/base';
import { partsOfName } from 'spanline/internal/timeline';
import type { NodeProcess, SnapshotFacts, SnapshotFile, SnapshotsAnswer, TakenAnswer } from '../api/answers.js';
import { isNode } from '../inspector/find-inspector.js';
import { takeSnapshot } from '../inspector/take-snapshot.js';

/** Processes that are listed. */
const MAX = 200;
/** Characters of a command. */
const COMMAND_LENGTH = 300;
/** Bytes of the list of processes where there is no /proc. */
const MAX_BYTES = 8 << 20;

/** What `SPANLINE_FLIGHT_RECORDER` says where nothing is switched on. */
const OFF: ReadonlySet<string | undefined> = new Set([undefined, '', '0', 'off', 'false']);

const entries = (bytes: string): string[] => bytes.split('\0').filter((text) => text !== '');

const asksForRecorder = (environment: readonly string[]): boolean => {
  const setting = environment.find((text) => text.startsWith('SPANLINE_FLIGHT_RECORDER='));
  return !OFF.has(setting?.slice(setting.indexOf('=') + 1).trim());
};

/** The files of a recorder that writes as it records. */
const writesRows = async (pid: string): Promise<boolean> => {
  for (const fd of await readdir(`/proc/${pid}/fd`)) {
    const file = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
    if (partsOfName(basename(file))?.pid === Number(pid)) return true;
  }
  return false;
};

/** Undefined for what is not a Node, another user's, or gone meanwhile. */
const lookAtProcess = async (pid: string): Promise<NodeProcess | undefined> => {
  try {
    const { uid } = await stat(`/proc/${pid}`);
    const own = process.getuid?.();
    if (own !== 0 && uid !== own) return undefined;
    const program = (await readlink(`/proc/${pid}/exe`)).replace(/ \(deleted\)$/, '');
    if (!isNode(program)) return undefined;
    const [command, environment] = await Promise.all(
      ['cmdline', 'environ'].map(async (name) => entries(await readFile(`/proc/${pid}/${name}`, 'utf8'))),
    );
    return {
      pid: Number(pid),
      command: command.join(' ').slice(0, COMMAND_LENGTH),
      hasRecorder: asksForRecorder(environment) || (await writesRows(pid)),
    };
  } catch {
    return undefined;
  }
};

const hasProc = (): boolean => existsSync('/proc/self/exe');

const byProc = async (): Promise<NodeProcess[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return (await Promise.all(pids.map(lookAtProcess))).filter((found) => found !== undefined);
};

const byPs = async (): Promise<NodeProcess[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-xo', 'pid=,comm=,args='], { maxBuffer: MAX_BYTES });
  return stdout.split('\n').flatMap((line): NodeProcess[] => {
    const [, pid, program, command] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || !isNode(program)) return [];
    return [{ pid: Number(pid), command: command.slice(0, COMMAND_LENGTH) }];
  });
};

/** Those that are known to have a recorder first, the youngest of both first; without this very process. */
export const nodeProcesses = async (): Promise<{
  readonly processes: readonly NodeProcess[];
  /** Those beyond the bound. */
  readonly omitted: number;
}> => {
  const all = (hasProc() ? await byProc() : await byPs()).filter(({ pid }) => pid !== process.pid);
  all.sort((a, b) => Number(b.hasRecorder ?? false) - Number(a.hasRecorder ?? false) || b.pid - a.pid);
  return { processes: all.slice(0, MAX), omitted: Math.max(0, all.length - MAX) };
};

/** Throws unless `nodeProcesses` would list the process, with a recorder. Where the system shows neither, the process itself says so when it is asked. */
const requireRecorder = async (pid: number): Promise<void> => {
  if (!hasProc()) return;
  const found = await lookAtProcess(String(pid));
  if (found === undefined || pid === process.pid)
    throw targetFailure(`there is no process ${pid} of yours that runs Node.js`);
  if (found.hasRecorder) return;
  throw new FlightError(
    'ERR_SPANLINE_FLIGHT_OFF',
    `process ${pid} shows no flight recorder, neither in the environment that it was started with (SPANLINE_FLIGHT_RECORDER) nor by files that it writes; where --env-file or its code switches one on, ask it from the command line: spanline snapshot ${pid}`,
  );
};

interface OpenedSnapshot {
  readonly archive: Archive;
  readonly facts: SnapshotFacts;
  close(): Promise<void>;
}

const read = async (path: string): Promise<Snapshot> => {
  try {
    return await readSnapshotFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new HttpError(404, `${path} cannot be read: ${(error as Error).message}`);
  }
};

/** Reads the file into an archive in `directory`, which is made. Rejects as `readSnapshotFile` and `keepSnapshot` do. */
const openSnapshot = async (id: string, path: string, directory: string): Promise<OpenedSnapshot> => {
  const snapshot = await read(path);
  const archive = await Archive.open(directory, { maintain: false });
  const close = async (): Promise<void> => {
    await archive.close();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const { traceCount, spanCount, refused } = await keepSnapshot(archive, snapshot);
    const { reason, resource, takenUnixUs, bufferedMs, tornRows, timelineFromUs } = snapshot;
    const pid = resource.attributes['process.pid'];
    return {
      archive,
      close,
      facts: {
        id,
        service: resource.serviceName,
        ...(typeof pid === 'number' ? { pid } : {}),
        reason: [reason.kind, reason.text].filter((text) => text !== '').join(': '),
        takenUs: Math.round(takenUnixUs),
        ...{ bufferedMs, spanCount, traceCount, tornRows, refused },
        hasTimeline: timelineFromUs !== undefined,
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
};

/** Files that are listed. */
const MAX_FILES = 100;
/** Snapshots that stay in the temporary directory. */
const MAX_TAKEN = 20;
/** Snapshots open at a time. */
const MAX_OPEN = 4;
const TIMEOUT_SECONDS = 30;
const TOKEN_BYTES = 16;

/** A leading dot is a file half written. */
const NAME = /^[^./\\][^/\\]*\.flight$/;

/** Where snapshots are. */
interface SnapshotStoreOptions {
  /** Where those taken are written, and others are found; a temporary directory without it. */
  readonly directory?: string;
  /** Further files. */
  readonly files?: readonly string[];
  /** What a request must bring to have one taken; a random one without it. */
  readonly token?: string;
  /** Seconds that a process is given to answer. Default 30. */
  readonly timeoutSeconds?: number;
}

export class SnapshotStore {
  /** What a request must bring to have a snapshot taken. */
  readonly token: string;
  readonly #directory: string | undefined;
  readonly #timeoutSeconds: number;
  /** Paths of the files that were named, by id. */
  readonly #named: ReadonlyMap<string, string>;
  readonly #taking = new Set<number>();
  /** The one that was asked for last behind the others. */
  readonly #open = new Map<string, Promise<OpenedSnapshot>>();
  #temporary: Promise<string> | undefined;
  #opened = 0;

  constructor({ directory, files = [], token, timeoutSeconds = TIMEOUT_SECONDS }: SnapshotStoreOptions = {}) {
    this.token = token ?? randomBytes(TOKEN_BYTES).toString('hex');
    this.#directory = directory === undefined ? undefined : resolve(directory);
    this.#timeoutSeconds = timeoutSeconds;
    const named = new Map<string, string>();
    for (const file of files) {
      const name = basename(file);
      let id = name;
      for (let i = 2; named.has(id); i++) id = `${i}-${name}`;
      named.set(id, resolve(file));
    }
    this.#named = named;
  }

  /** What can be opened, the newest first. */
  async list(): Promise<SnapshotsAnswer> {
    const files = await this.#files();
    return {
      files: files.slice(0, MAX_FILES),
      omitted: Math.max(0, files.length - MAX_FILES),
      isTemporary: this.#directory === undefined,
    };
  }

  /** What a process holds now, as a file of the store. Rejects as `takeSnapshot` does, and where no recorder is seen; `HttpError` 409 while it is being asked already. */
  async take(pid: number, signal: AbortSignal): Promise<TakenAnswer> {
    if (this.#taking.has(pid)) throw new HttpError(409, `a snapshot of process ${pid} is being taken already`);
    this.#taking.add(pid);
    try {
      await requireRecorder(pid);
      const time = new Date(timers.wallMs()).toISOString().replace(/[-:.Z]/g, '');
      const id = `snapshot-${pid}-${time}.flight`;
      const path = join(await this.#home(), id);
      const taken = await takeSnapshot(pid, path, { timeoutSeconds: this.#timeoutSeconds, signal });
      await this.#removeOld();
      return { id, ...taken };
    } finally {
      this.#taking.delete(pid);
    }
  }

  /** A snapshot as an archive. `HttpError` 404 where there is none of that id; rejects as `readSnapshotFile` does. */
  async archiveOf(id: string): Promise<Archive> {
    return (await this.#openedOf(id)).archive;
  }

  /** What a snapshot says of itself. Rejects as `archiveOf` does. */
  async facts(id: string): Promise<SnapshotFacts> {
    return (await this.#openedOf(id)).facts;
  }

  /** Closes what is open, and removes what was temporary. */
  async close(): Promise<void> {
    for (const opening of this.#open.values()) await opening.then((opened) => opened.close()).catch(() => undefined);
    this.#open.clear();
    if (this.#temporary !== undefined) await rm(await this.#temporary, { recursive: true, force: true });
  }

  /** Where this process may write: made when it is first needed. */
  #temporaryDirectory(): Promise<string> {
    this.#temporary ??= mkdtemp(join(tmpdir(), 'spanline-ui-'));
    return this.#temporary;
  }

  async #home(): Promise<string> {
    if (this.#directory === undefined) return this.#temporaryDirectory();
    makeDirectory(this.#directory);
    return this.#directory;
  }

  async #files(): Promise<SnapshotFile[]> {
    const paths = new Map(this.#named);
    const home = this.#directory ?? (await this.#temporary);
    // One that was named is made when the first snapshot is taken.
    const names = home === undefined ? [] : await readdir(home).catch(noneWhereMissing);
    for (const name of names) if (NAME.test(name) && !paths.has(name)) paths.set(name, join(home as string, name));
    const found = await Promise.all([...paths].map(([id, path]) => lookAt(id, path)));
    return found
      .filter((file) => file !== undefined)
      .sort((a, b) => b.writtenUs - a.writtenUs || (a.id < b.id ? 1 : -1));
  }

  async #openedOf(id: string): Promise<OpenedSnapshot> {
    const known = this.#open.get(id);
    const opening = known ?? this.#openFile(id);
    this.#open.delete(id);
    this.#open.set(id, opening);
    if (known === undefined) {
      // What failed is tried again when it is asked for again.
      opening.catch(() => this.#open.get(id) === opening && this.#open.delete(id));
      await this.#closeOld();
    }
    return opening;
  }

  async #openFile(id: string): Promise<OpenedSnapshot> {
    const file = (await this.#files()).find((one) => one.id === id);
    if (file === undefined) throw new HttpError(404, `there is no snapshot ${JSON.stringify(id)}; it may be deleted`);
    const directory = join(await this.#temporaryDirectory(), `open-${++this.#opened}`);
    return openSnapshot(id, file.path, directory);
  }

  async #closeOld(): Promise<void> {
    for (const [id, opening] of this.#open) {
      if (this.#open.size <= MAX_OPEN) return;
      this.#open.delete(id);
      await opening.then((opened) => opened.close()).catch(() => undefined);
    }
  }

  /** A directory that the user has named is the user's: nothing of it is removed. */
  async #removeOld(): Promise<void> {
    if (this.#directory !== undefined) return;
    const home = await this.#home();
    const taken = (await this.#files()).filter(({ path }) => path.startsWith(home));
    for (const { path } of taken.slice(MAX_TAKEN)) await rm(path, { force: true });
  }
}

const noneWhereMissing = (error: NodeJS.ErrnoException): string[] => {
  if (isGone(error)) return [];
  throw new HttpError(400, `the directory of snapshots cannot be read: ${error.message}`);
};

/** Undefined when it is not a file, or gone. */
const lookAt = async (id: string, path: string): Promise<SnapshotFile | undefined> => {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile()) return undefined;
  return { id, path, bytes: found.size, writtenUs: Math.round(found.mtimeMs * 1000) };
};
