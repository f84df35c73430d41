// Commands of mongodb, which publishes nothing: `Connection.prototype.command` is wrapped, which all that goes to a server passes through, so that a
// step of a cursor, a batch and the end of a transaction have a span each. Filters, documents and names of users must never leave.

import { isThenable } from '../../base/calls/timers.js';
import { BoundedCache, getOrMake } from '../../base/maps/maps.js';
import { Counter, count } from '../../rows/counters.js';
import { allOff, type Off } from '../channel.js';
import { type Callback, type Ending, endingWith } from '../ending.js';
import { hostAndPort } from '../http/url.js';
import { boundFor, callerHere, callingBack } from '../in-context.js';
import type { Begun } from '../measures.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import { type Classes, type Method, replaceMethod } from '../replace-method.js';
import { currentScope, scopeOf } from '../scope.js';
import { Database, type DatabaseOptions, mongoCode, type Operation, type Server } from './database.js';

/** Options of the instrumentation `mongodb`. Its `module` is what `mongodb/lib/cmap/connection.js` exports. */
export interface MongodbOptions extends DatabaseOptions, ModuleOptions {}

type Command = Readonly<Record<string, unknown>>;

/** What the driver does for itself when it connects and at its end; passwords are in it, too. */
const OWN: ReadonlySet<string> = new Set([
  'hello',
  'ismaster',
  'isMaster',
  'saslStart',
  'saslContinue',
  'authenticate',
  'getnonce',
  'endSessions',
]);

/** Commands whose value is a collection; that of others may be a user's name. */
const OF_COLLECTION: ReadonlySet<string> = new Set([
  'aggregate',
  'collMod',
  'collStats',
  'compact',
  'count',
  'create',
  'createIndexes',
  'createSearchIndexes',
  'delete',
  'distinct',
  'drop',
  'dropIndexes',
  'dropSearchIndex',
  'find',
  'findAndModify',
  'insert',
  'killCursors',
  'listIndexes',
  'mapReduce',
  'update',
  'updateSearchIndex',
  'validate',
]);

/** Where a batch is in its command. */
const BATCHES: Readonly<Record<string, string>> = {
  insert: 'documents',
  update: 'updates',
  delete: 'deletes',
  bulkWrite: 'ops',
};

const NAME = /^[A-Za-z]\w{0,63}$/;

const sizeOf = (batch: unknown): number | undefined => {
  // A long one is an object around the list.
  const list = Array.isArray(batch) ? batch : (Object(batch) as { documents?: unknown }).documents;
  return Array.isArray(list) ? list.length : undefined;
};

const collectionOf = (name: string, command: Command): string | undefined => {
  const value = name === 'getMore' ? command.collection : OF_COLLECTION.has(name) ? command[name] : undefined;
  return typeof value === 'string' ? value : undefined;
};

/** The first key of a command is its name. Not by `quiet`, which makes a list of arguments for each call. */
const commandName = (command: unknown): string => {
  let first = '';
  try {
    for (first in Object(command) as Command) break;
  } catch {
    count(Counter.instrumentationErrors);
  }
  return first;
};

/** Operations by command and collection, which are few: of those that differ in nothing else. */
const known = new BoundedCache<string, BoundedCache<string | undefined, Operation>>(64);
const MAX_COLLECTIONS = 512;

/** Undefined for what the driver does for itself. */
const operationOf = (name: string, command: Command): Operation | undefined => {
  if (OWN.has(name)) return undefined;
  if (name in BATCHES || name === 'getMore') return readOperation(name, command);
  const collection = collectionOf(name, command);
  const ofName = known.get(name);
  const operation = ofName?.get(collection);
  if (operation !== undefined) return operation;
  const read = readOperation(name, command);
  (ofName ?? getOrMake(known, name, () => new BoundedCache(MAX_COLLECTIONS))).set(collection, read);
  return read;
};

const readOperation = (first: string, command: Command): Operation => {
  const operation = NAME.test(first) ? first : '_OTHER';
  const collection = collectionOf(first, command);
  const summary = collection === undefined ? operation : `${operation} ${collection}`;
  const batchSize = first in BATCHES ? sizeOf(command[BATCHES[first]]) : undefined;
  // Cursors of change streams and capped collections wait at the server until something comes.
  const isUnasked = first === 'getMore' && command.maxTimeMS !== undefined;
  return { text: '', operation, collection, summary, batchSize, isUnasked };
};

const addresses = new BoundedCache<string, ReturnType<typeof hostAndPort>>(256);

/** An address is `host:port`, in brackets for IPv6, or the path of a socket. */
const serverOf = (namespace: unknown, connection: unknown): Server => {
  const { db } = Object(namespace) as { db?: unknown };
  const { address } = Object(connection) as { address?: unknown };
  const place = typeof address === 'string' ? getOrMake(addresses, address, hostAndPort) : undefined;
  return { database: db, serverAddress: place?.[0], serverPort: place?.[1] };
};

interface Answer {
  readonly writeErrors?: readonly unknown[];
  readonly writeConcernError?: unknown;
  /** Of a batch for several collections, whose outcomes are read by a cursor. */
  readonly nErrors?: unknown;
  readonly cursor?: { readonly firstBatch?: readonly { readonly ok?: unknown }[] };
  has?(name: string): boolean;
  toObject?(): Answer;
}

/** Where an answer says that something was refused. */
const REFUSALS = ['writeErrors', 'writeConcernError', 'nErrors'];
/** What a later part of an answer has. */
const NO_CODE = {};

/** What the server refused of a write in an answer that is none of an error: the driver throws it later. */
const refusedIn = (answer: unknown): unknown => {
  const given = Object(answer) as Answer;
  let read = given;
  if (typeof given.has === 'function' && typeof given.toObject === 'function') {
    // It is read when it is asked for; most have none.
    if (!REFUSALS.some((name) => given.has?.(name))) return undefined;
    read = given.toObject();
  }
  const { writeErrors, writeConcernError, nErrors, cursor } = read;
  const first = writeErrors?.[0] ?? writeConcernError;
  if (first !== undefined || !(Number(nErrors) > 0)) return first;
  return cursor?.firstBatch?.find(({ ok }) => Number(ok) === 0) ?? NO_CODE;
};

/** What a server refuses nothing of but by an error: to look for it costs a walk through the answer. */
const READS: ReadonlySet<string> = new Set(['find', 'getMore', 'count', 'distinct', 'listIndexes', 'killCursors']);

/** Classes that were seen. */
const classes = new WeakSet<object>();

/** Newer drivers hand on the class of the answer where older ones have their callback. */
const isCallback = (value: unknown): value is Callback => {
  if (typeof value !== 'function' || classes.has(value)) return false;
  const isClass = Object.getOwnPropertyDescriptor(value, 'prototype')?.writable === false;
  if (isClass) classes.add(value);
  return !isClass;
};

const MONGOOSE = scopeOf('mongoose').name;

/** mongodb 5 to 7. */
export const instrumentMongodb = (options: MongodbOptions): Off => {
  const mongo = new Database('mongodb', 'mongodb', options, mongoCode);

  const begin = (connection: unknown, namespace: unknown, name: string, command: unknown): Begun | undefined => {
    try {
      const operation = operationOf(name, Object(command) as Command);
      if (operation === undefined) return undefined;
      // An operation that mongoose announces has a span already, and is measured here.
      const part = currentScope() === MONGOOSE ? 'metric' : 'both';
      return mongo.start(serverOf(namespace, connection), operation, part);
    } catch {
      count(Counter.instrumentationErrors);
      return undefined;
    }
  };

  const endingOf =
    (span: Begun, isRead: boolean): Ending =>
    (error, answer) => {
      try {
        mongo.end(span, error ?? (isRead ? undefined : refusedIn(answer)));
      } catch {
        count(Counter.instrumentationErrors);
      }
    };

  const wrap = (command: Method): Method =>
    function (this: unknown, ...args) {
      const name = commandName(args[1]);
      const span = begin(this, args[0], name, args[1]);
      const ended = span?.isRecording === true ? endingOf(span, READS.has(name)) : undefined;
      const callback = args[3];
      const isCalledBack = isCallback(callback);
      if (isCalledBack) args[3] = boundFor(callerHere(), callback, ended);
      if (ended === undefined) return Reflect.apply(command, this, args);
      let result: unknown;
      try {
        result = Reflect.apply(command, this, args);
      } catch (error) {
        ended(error);
        throw error;
      }
      if (isCalledBack) return result;
      if (isThenable(result)) return endingWith(result, ended);
      // What stands between this and the driver is somebody else's.
      ended(undefined);
      return result;
    };

  return allOff([
    onModule<Classes<'Connection'>>('mongodb/lib/cmap/connection.js', options.module, ({ Connection }) =>
      replaceMethod(Connection?.prototype, 'command', wrap),
    ),
    // Before mongodb 6.4 a waiter for a connection is called back in the context of the call that gave one back.
    onModule<Classes<'ConnectionPool'>>('mongodb/lib/cmap/connection_pool.js', undefined, ({ ConnectionPool }) =>
      replaceMethod(ConnectionPool?.prototype, 'checkOut', callingBack),
    ),
  ]);
};
