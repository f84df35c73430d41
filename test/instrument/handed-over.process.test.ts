// A library that nobody has seen being loaded, as one inside a bundle, is traced where the program hands it over: by itself, or as the ES module that has it.
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { importLibrary, library } from './libraries.js';
import { collecting, inTrace } from './log/winston-cases.js';
import { contextsOf, exchange, instrumentOnly, listen, recordedOf } from './support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const forget = (name: string): void => {
  for (const path of Object.keys(library.cache))
    if (path.includes(`/node_modules/${name}/`)) delete library.cache[path];
};

/** A copy of the library that is not among what is loaded. */
const unseen = (name: string): Untyped => {
  forget(name);
  const copy = library(name);
  forget(name);
  return copy;
};

/** The namespace of an ES module around it. */
const around = (main: Untyped): Untyped => Object.freeze(Object.assign(Object.create(null), { default: main }));

const LOGGERS: Readonly<Record<string, (library: Untyped, lines: Untyped[]) => Untyped>> = {
  winston: ({ createLogger, format, transports }, lines) =>
    createLogger({ format: format.json(), transports: [new transports.Stream({ stream: collecting(lines) })] }),
  bunyan: ({ createLogger }, lines) => createLogger({ name: 'a', stream: collecting(lines) }),
  pino: (pino, lines) => pino({}, collecting(lines)),
};

describe.each([
  ['itself', (main: Untyped) => main],
  ['an ES module around it', around],
])('%s', (_, given) => {
  test.each(Object.keys(LOGGERS))('%s', (name) => {
    const main = unseen(name);
    instrumentOnly({ [name]: { module: given(main) } });
    const lines: Untyped[] = [];
    const logger = LOGGERS[name](main, lines);
    const ids = inTrace(() => logger.info('text'));
    expect(lines).toEqual([expect.objectContaining(ids)]);
  });

  test('bluebird', async () => {
    const bluebird = unseen('bluebird');
    instrumentOnly({ bluebird: { module: given(bluebird) } });
    const waiting: ((value: unknown) => void)[] = [];
    const settling = setInterval(() => {
      for (const settle of waiting.splice(0)) settle(1);
    }, 1);
    const seen = await contextsOf((note, done) =>
      new bluebird((resolve: (value: unknown) => void) => waiting.push(resolve)).then(() => note('called', done)),
    );
    clearInterval(settling);
    expect(seen).toEqual(['called: own']);
  });

  test('koa', async () => {
    const Koa = unseen('koa');
    const { Router } = await importLibrary('@koa/router');
    instrumentOnly({ http: { client: false }, koa: { module: given(Koa) } });
    const router = new Router().get('/users/:id', (ctx: Untyped) => {
      ctx.body = 'fine';
    });
    const { port } = await listen(createServer(new Koa().use(router.routes()).callback()));
    await exchange(port, 'GET /users/7 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    expect((await recordedOf('server')).map(({ name }) => name)).toEqual(['GET /users/:id']);
  });
});
