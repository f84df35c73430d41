// Operations of mongoose, by its channels. Filters and documents never leave.
import { allOff, type Off } from '../channel.js';
import { traceChannel } from '../traced-channel.js';
import { codeUnder, Database, type DatabaseOptions, type Operation, type Server } from './database.js';

interface Message extends Server {
  readonly operation?: unknown;
  readonly collection?: unknown;
}

const CHANNELS = ['query', 'aggregate', 'cursor:next', 'model:save', 'model:insertMany', 'model:bulkWrite'];

const statusOf = codeUnder('code');

const operationOf = ({ operation, collection }: Message): Operation => {
  const name = typeof operation === 'string' ? operation : '';
  if (typeof collection !== 'string') return { text: '', operation: name, summary: name };
  return { text: '', operation: name, collection, summary: `${name} ${collection}`.trim() };
};

/** mongoose 9.7 and later. */
export const instrumentMongoose = (options: DatabaseOptions): Off => {
  const mongo = new Database('mongoose', 'mongodb', options);
  return allOff(
    CHANNELS.map((name) =>
      traceChannel<Message>(`mongoose:${name}`, {
        begin: (message) => mongo.start(message, operationOf(message)),
        finish: (span, { error }) => mongo.finish(span, error, statusOf),
      }),
    ),
  );
};
