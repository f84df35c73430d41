// An index on a server is opened in one request.
import { expect, test } from 'vitest';
import { HttpTransport } from '../../src/container/transport/http-transport.js';
import { GraphIndex } from '../../src/index/graph-index.js';
import { startRangeServer } from '../container/support/range-server.js';
import { buildBytes, collect, entriesOf } from './support/model-index.js';

test('an index on a server that was not asked for its size is opened in one request', async () => {
  const model = new Map([['["a","b"]', { value: 'v', references: [[], []] }]]);
  const server = await startRangeServer(await buildBytes(entriesOf(model)));
  try {
    const index = await GraphIndex.open(new HttpTransport(server.url));
    expect(await collect(index.iterEntries([['a', 'b']]))).toEqual(model);
    expect(server.requests).toHaveLength(1);
    await index.close();
  } finally {
    await server.close();
  }
});
