// A call to a database as a span, and as a part of its metric: the same words for all of them. No value of a query and no text of an error may get into it, for databases
// quote what they were given.
import { BoundedCache, getOrMake } from '../../base/maps/maps.js';
import type { PropertyValue } from '../../rows/property.js';
import type { SpanOptions } from '../../span/arguments.js';
import type { Span } from '../../span/span.js';
import { callHook, callPredicate } from '../channel.js';
import { boundedName, type CallOptions, startCall } from '../client-span.js';
import { failureOf, failureType, fieldOf } from '../failure.js';
import { type Begun, MeasuredCall, measuresOfCall, spanOf } from '../measures.js';
import { portOf } from '../peer.js';
import { scopeOf } from '../scope.js';
import { type Dialect, summaryOf, withoutValues } from './sql.js';

/** A query as hooks see it. */
export interface DatabaseCall {
  /** With its values taken out. */
  readonly text: string;
  readonly database: string | undefined;
}

/** Options of the instrumentation of a database. */
export interface DatabaseOptions extends CallOptions<DatabaseCall, [error: unknown]> {
  /**
   * Trace only calls that a traced piece of work makes; false by default, but for what nobody need have asked for: reads of queues that block until
   * something comes, and what clients send on their own account to connect and to close.
   */
  readonly requireParent?: boolean;
}

/** Where a call goes. */
export interface Server {
  readonly database?: unknown;
  readonly serverAddress?: unknown;
  /** A number, or its text. */
  readonly serverPort?: unknown;
}

/** What is done there. */
export interface Operation {
  readonly text: string;
  readonly operation?: string | undefined;
  readonly summary: string;
  readonly collection?: string | undefined;
  readonly batchSize?: number | undefined;
  /** On behalf of nobody, as what waits until something comes. */
  readonly isUnasked?: boolean;
  /** What its last span was described by: the next one has the same, where an operation is kept and goes to the same server. */
  described?: Description;
}

interface Description extends Server {
  readonly by: Database;
  /** Of the span; empty where the operation has none. */
  readonly name: string;
  readonly namespace: string | undefined;
  readonly port: number | undefined;
  /** Key, value, key, value: each span has a copy, which has no room that it does not fill. */
  readonly properties: readonly (string | PropertyValue)[];
}

const MAX_TEXTS = 512;
const MAX_CHARACTERS = 4096;

/** Operations by the text of their query, by dialect: a service sends the same few, and taking values out of one takes microseconds. */
const known = {
  ansi: new BoundedCache<string, Operation>(MAX_TEXTS),
  mysql: new BoundedCache<string, Operation>(MAX_TEXTS),
  sqlite: new BoundedCache<string, Operation>(MAX_TEXTS),
};

const readOperation = (query: string, dialect: Dialect): Operation => {
  const text = withoutValues(query, dialect);
  return { text, ...summaryOf(text) };
};

/** A query in SQL. */
export const sqlOperation = (query: unknown, dialect: Dialect = 'ansi'): Operation => {
  if (typeof query !== 'string') return readOperation('', dialect);
  if (query.length > MAX_CHARACTERS) return readOperation(query, dialect);
  return known[dialect].get(query) ?? getOrMake(known[dialect], query, () => readOperation(query, dialect));
};

/** Which part of a call is somebody else's: an operation of mongoose has a span, and is measured as the commands that the driver sends for it. */
export type Part = 'span' | 'metric' | 'both';

/** The code that a server gave with an error. */
type StatusOf = (error: unknown) => string | undefined;

/** Starts, measures and ends the calls to one kind of database. */
export class Database {
  readonly #calls = new WeakMap<Span, DatabaseCall>();
  readonly #system: string;
  readonly #options: DatabaseOptions;
  readonly #call: SpanOptions;
  readonly #statusOf: StatusOf;

  /** `library` is the instrumentation's name, `system` that of the database. */
  constructor(library: string, system: string, options: DatabaseOptions, statusOf: StatusOf = failureType) {
    this.#system = system;
    this.#options = options;
    this.#statusOf = statusOf;
    this.#call = { kind: 'client', scope: scopeOf(library) };
  }

  /** Undefined: neither traced nor measured. */
  start(server: Server, what: Operation, part: Part = 'both'): Begun | undefined {
    const { text, isUnasked = false } = what;
    const { ignore, enrich, requireParent = isUnasked } = this.#options;
    const described = this.#descriptionOf(server, what);
    const { name, namespace, port } = described;
    // Only for who asks: most programs have no hooks.
    const call: DatabaseCall | undefined =
      ignore === undefined && enrich === undefined ? undefined : { text, database: namespace };
    if (call !== undefined && callPredicate(ignore, call)) return undefined;
    const metrics = isUnasked || part === 'span' ? undefined : measuresOfCall();
    const span =
      part === 'metric'
        ? undefined
        : startCall(name === '' ? (namespace ?? this.#system) : name, this.#call, requireParent);
    if (span?.isRecording === true) {
      if (enrich !== undefined && call !== undefined) this.#calls.set(span, call);
      span.describe(described.properties.slice());
    }
    if (metrics === undefined) return span;
    const { operation, collection } = what;
    const { serverAddress } = server;
    const operated = {
      system: this.#system,
      namespace,
      operation,
      collection: collection === undefined ? undefined : boundedName(collection),
      summary: name === '' ? undefined : name,
      address: typeof serverAddress === 'string' ? serverAddress : undefined,
      port,
    };
    return new MeasuredCall(metrics, operated, span);
  }

  /** Before the span ends; drivers have null for no error. `seconds` where the duration is known. */
  finish(begun: Begun, error: unknown, seconds?: number): void {
    const failure = failureOf(error);
    const status = failure === undefined ? undefined : this.#statusOf(failure);
    const type = failure === undefined ? undefined : (status ?? failureType(failure));
    if (begun instanceof MeasuredCall) begun.measure(type, status, seconds);
    const span = spanOf(begun);
    // Of a call that is measured the span may record no more.
    if (span === undefined || (span !== begun && !span.isRecording)) return;
    if (type !== undefined) {
      span.addProperty('error.type', type).setStatus('error', type);
      if (status !== undefined) span.addProperty('db.response.status_code', status);
    }
    const call = this.#calls.get(span);
    if (call !== undefined) callHook(this.#options.enrich, span, call, error ?? undefined);
  }

  /** Once, also when it is announced several times. */
  end(begun: Begun, error: unknown): void {
    if (!begun.isRecording) return;
    this.finish(begun, error);
    begun.endForGood();
  }

  #descriptionOf(server: Server, what: Operation): Description {
    const { described } = what;
    const isKnown =
      described !== undefined &&
      described.by === this &&
      described.database === server.database &&
      described.serverAddress === server.serverAddress &&
      described.serverPort === server.serverPort;
    return isKnown ? described : this.#describe(server, what);
  }

  #describe({ database, serverAddress, serverPort }: Server, what: Operation): Description {
    const { text, operation, collection, batchSize } = what;
    const name = boundedName(what.summary);
    const namespace = database === undefined || database === '' ? undefined : boundedName(String(database));
    const list: (string | PropertyValue)[] = ['db.system.name', this.#system];
    if (namespace !== undefined) list.push('db.namespace', namespace);
    if (operation !== undefined) list.push('db.operation.name', operation);
    if (collection !== undefined) list.push('db.collection.name', boundedName(collection));
    if (text !== '') list.push('db.query.text', text);
    if (name !== '') list.push('db.query.summary', name);
    if (batchSize !== undefined && batchSize > 1) list.push('db.operation.batch.size', batchSize);
    if (typeof serverAddress === 'string') list.push('server.address', serverAddress);
    const port = portOf(serverPort);
    if (port !== undefined) list.push('server.port', port);
    const described = { by: this, name, namespace, port, properties: list, database, serverAddress, serverPort };
    what.described = described;
    return described;
  }
}

/** The number or word that a server of MongoDB gave. */
export const mongoCode = (error: unknown): string | undefined => {
  const code = fieldOf(error, 'code');
  return typeof code === 'string' || typeof code === 'number' ? String(code).slice(0, 64) : undefined;
};

/** The number that a server of MySQL gave: those of the system are below zero, and those of a driver from `below` on. */
export const errorNumber =
  (below = Number.POSITIVE_INFINITY) =>
  (error: unknown): string | undefined => {
    const errno = fieldOf(error, 'errno');
    return typeof errno === 'number' && errno > 0 && errno < below ? String(errno) : undefined;
  };

/** Where options of a client of MySQL or MariaDB lead: to a socket of this machine, else to a host. */
export const mysqlServer = (options: unknown): Server => {
  const { host = 'localhost', port = 3306, socketPath, database } = Object(options) as Record<string, unknown>;
  return socketPath ? { database, serverAddress: socketPath } : { database, serverAddress: host, serverPort: port };
};

/** One without a digit is of the system, as EPIPE. */
const STATE = /^(?=.*\d)[\dA-Z]{5}$/;

/** The SQLSTATE that a server of PostgreSQL gave. */
export const sqlState = (error: unknown): string | undefined => {
  const code = fieldOf(error, 'code');
  return typeof code === 'string' && STATE.test(code) ? code : undefined;
};
