// What comes of a request that is sent comes in the context of whoever sent it, of however many on one connection: of `http`, `http2` and undici.
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import http2, { type ClientHttp2Stream, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { library } from '../libraries.js';
import { contextsOf, instrumentOnly, type Job, later, serve, when } from '../support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const own = (events: readonly string[]): readonly string[] => events.map((event) => `${event}: own`).sort();

describe('http', () => {
  /** Those that wait for `answerNext`. */
  const waiting: ServerResponse[] = [];
  afterEach(() => void waiting.splice(0));
  const answerNext = async (): Promise<void> => {
    await when(() => waiting.length > 0);
    waiting.shift()?.end('late');
  };

  const server = () =>
    serve((request, response) => {
      if (request.url === '/hang') waiting.push(response);
      else request.resume().on('end', () => response.end('answer'));
    });

  /** One connection for all. */
  const agentOf = (options = {}): http.Agent => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1, ...options });
    later(() => agent.destroy());
    return agent;
  };

  const answered =
    (port: number, agent: http.Agent): Job =>
    (note, done) => {
      const request = http.request({ port, host: '127.0.0.1', agent, method: 'POST' }, (response) => {
        note('answer');
        response.on('data', () => note('data')).on('end', () => note('end'));
        response.on('close', () => note('answer close'));
      });
      request.on('socket', () => note('socket')).on('finish', () => note('finish'));
      request.on('close', () => note('close', done));
      request.write('a', () => note('written'));
      request.end('b', () => note('ended'));
    };
  const EVENTS = ['answer', 'answer close', 'close', 'data', 'end', 'ended', 'finish', 'socket', 'written'];

  test('an answer', async () => {
    instrumentOnly({ http: { server: false } });
    const { port } = await server();
    const agent = agentOf();
    // Those at once wait for the connection; the last one finds it free.
    for (const callers of [3, 1]) expect(await contextsOf(answered(port, agent), callers)).toEqual(own(EVENTS));
  });

  test('of a request that is not traced', async () => {
    instrumentOnly({ http: { server: false, client: { ignore: () => true } } });
    const { port } = await server();
    expect(await contextsOf(answered(port, agentOf()))).toEqual(own(EVENTS));
  });

  test('of a caller outside any span', async () => {
    instrumentOnly({ http: { server: false } });
    const { port } = await server();
    const agent = agentOf();
    await contextsOf(answered(port, agent), 1);
    const seen = new Set<unknown>();
    await new Promise<void>((resolve) => {
      const note: Parameters<Job>[0] = (_, then) => {
        seen.add(Span.current()?.name);
        then?.();
      };
      answered(port, agent)(note, resolve);
    });
    expect(seen).toEqual(new Set([undefined]));
  });

  test('a time that is up, given before and afterwards', async () => {
    instrumentOnly({ http: { server: false } });
    const { port } = await server();
    const agent = agentOf();
    for (const timeout of [undefined, 20]) {
      const job: Job = (note, done) => {
        const request = http.get({ port, host: '127.0.0.1', agent, timeout, path: '/hang' }, (response) =>
          response.resume(),
        );
        request.on('timeout', () => note('timeout', answerNext)).on('close', done);
        if (timeout === undefined) request.setTimeout(20, () => note('its callback'));
      };
      const events = timeout === undefined ? ['its callback', 'timeout'] : ['timeout'];
      for (const callers of [3, 1]) expect(await contextsOf(job, callers)).toEqual(own(events));
    }
  });

  test('on a connection that another one opened, and whose time the agent bounds', async () => {
    instrumentOnly({ http: { server: false } });
    const { port } = await server();
    const agent = agentOf({ timeout: 20 });
    const job: Job = (note, done) => {
      const request = http.request({ port, host: '127.0.0.1', agent, method: 'POST', path: '/hang' }, (response) =>
        response.resume(),
      );
      request.on('timeout', () => note('timeout', answerNext)).on('close', () => note('close', done));
      request.on('finish', () => note('finish')).end('body', () => note('ended'));
    };
    Span.root('opener').runToEnd(() => {
      const given = http.get({ port, host: '127.0.0.1', agent }).on('error', () => {});
      given.destroy();
    });
    expect(await contextsOf(job, 1)).toEqual(own(['close', 'ended', 'finish', 'timeout']));
  });

  test('given up, while it waits and while it hangs', async () => {
    instrumentOnly({ http: { server: false } });
    const { port, server: serving } = await server();
    const agent = agentOf();
    const given = new AbortController();
    serving.once('request', () => given.abort());
    const job: Job = (note, done) => {
      const request = http.get({ port, host: '127.0.0.1', agent, path: '/hang', signal: given.signal });
      request.on('error', () => note('error')).on('close', () => note('close', done));
    };
    expect(await contextsOf(job)).toEqual(own(['close', 'error']));
  });
});

describe('http2', () => {
  const sessionOf = async (
    answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  ): Promise<http2.ClientHttp2Session> => {
    const server = http2.createServer().on('stream', answer);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    later(() => server.close());
    const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    session.on('error', () => {});
    later(() => session.destroy());
    return session;
  };

  const listening = (stream: ClientHttp2Stream, note: Parameters<Job>[0], done: () => void): ClientHttp2Stream => {
    for (const event of ['response', 'data', 'end', 'trailers', 'aborted', 'error'] as const) {
      stream.on(event, () => note(event));
    }
    return stream.on('close', () => note('close', done));
  };

  const answer = (stream: ServerHttp2Stream): void => {
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-last': '1' }));
    stream.respond({}, { waitForTrailers: true });
    stream.end('answer');
  };

  // The first ones wait for the connection.
  test.each([false, true])('an answer with trailers, of a call that is ignored: %s', async (isIgnored) => {
    instrumentOnly({ http2: { server: false, client: { ignore: () => isIgnored } } });
    const session = await sessionOf(answer);
    const job: Job = (note, done) => {
      const stream = listening(session.request({ ':method': 'POST' }), note, done);
      stream.write('a', () => note('written'));
      stream.end('b', () => note('ended'));
    };
    const events = ['close', 'data', 'end', 'ended', 'response', 'trailers', 'written'];
    for (let round = 0; round < 2; round++) expect(await contextsOf(job)).toEqual(own(events));
  });

  test('given up by a signal, and with its session', async () => {
    instrumentOnly({ http2: { server: false } });
    for (const isSession of [false, true]) {
      let hanging = 0;
      const given = new AbortController();
      const session: http2.ClientHttp2Session = await sessionOf((stream) => {
        stream.on('error', () => {}).respond();
        if (++hanging < 3) return;
        if (isSession) session.destroy(new Error('mine'));
        else given.abort();
      });
      const job: Job = (note, done) => {
        const stream = session.request({ ':path': '/' }, { signal: given.signal });
        stream.on('error', () => note('error')).on('close', () => note('close', done));
      };
      expect(await contextsOf(job)).toEqual(own(['close', 'error']));
    }
  });
});

describe('undici', () => {
  const jobs: Readonly<Record<string, (client: Untyped) => Job>> = {
    'a body, by listeners': (client) => async (note, done) => {
      const { body } = await client.request({ path: '/', method: 'GET' });
      body.on('data', () => note('data')).on('end', () => note('end'));
      body.on('close', () => note('close', done));
    },
    'a callback': (client) => (note, done) =>
      client.request({ path: '/', method: 'GET' }, (_: unknown, { body }: { body: IncomingMessage }) => {
        note('callback');
        body.on('data', () => note('data')).on('end', () => note('end', done));
      }),
    'a stream': (client) => (note, done) => {
      const target = (): Writable => {
        note('made');
        return new Writable({
          write(_chunk, _encoding, next) {
            note('write', next);
          },
          final(next) {
            note('final', next);
          },
        });
      };
      client.stream({ path: '/', method: 'GET' }, target, () => note('callback', done));
    },
    'a pipeline': (client) => (note, done) => {
      const handle = ({ body }: { body: IncomingMessage }): IncomingMessage => {
        note('handle');
        return body;
      };
      const through = client.pipeline({ path: '/', method: 'GET' }, handle).end();
      through.on('data', () => note('data')).on('end', () => note('end', done));
    },
    'an error': (client) => (note, done) =>
      client.request({ path: '/cut', method: 'GET' }, (_: unknown, { body }: { body: IncomingMessage }) => {
        body.on('error', () => note('error')).on('close', () => note('close', done));
        body.resume();
      }),
  };
  const EVENTS: Readonly<Record<string, readonly string[]>> = {
    'a body, by listeners': ['close', 'data', 'end'],
    'a callback': ['callback', 'data', 'end'],
    'a stream': ['callback', 'final', 'made', 'write'],
    'a pipeline': ['data', 'end', 'handle'],
    'an error': ['close', 'error'],
  };

  test.each(Object.keys(jobs))('%s', async (name) => {
    instrumentOnly({ undici: true });
    const { url } = await serve((request, response) => {
      response.write('some');
      setImmediate(() => (request.url === '/cut' ? response.destroy() : response.end('more')));
    });
    const { Client } = library('undici');
    const client = new Client(url);
    later(() => client.destroy());
    expect(await contextsOf(jobs[name](client))).toEqual(own(EVENTS[name]));
  });

  test('taken back, its requests are as they were', async () => {
    const requests: object[] = [];
    const { Client } = library('undici');
    const { url } = await serve((_, response) => response.end());
    const client = new Client(url);
    later(() => client.destroy());
    const ask = async (): Promise<unknown> => {
      const { body } = await client.request({ path: '/', method: 'GET' });
      await body.dump();
      return Object.getPrototypeOf(requests.at(-1)).onComplete;
    };
    const { subscribe, unsubscribe } = await import('node:diagnostics_channel');
    const heard = (message: unknown): void => void requests.push((message as { request: object }).request);
    subscribe('undici:request:create', heard);
    later(() => unsubscribe('undici:request:create', heard));
    const before = await ask();
    const { instrument } = await import('../../../src/instrument/index.js');
    const instrumentation = instrument({ http: false });
    expect(await ask()).not.toBe(before);
    instrumentation.disable();
    expect(await ask()).toBe(before);
  });
});
