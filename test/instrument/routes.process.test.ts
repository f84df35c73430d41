// The route that answers: `http.route` and the name of the request's span, from each framework, with the prefixes of mounted routers.
import { createServer, type RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { instrument } from '../../src/instrument/index.js';
import { importLibrary, library } from './libraries.js';
import {
  ALL_OFF,
  exchange,
  instrumentByAnotherCopy,
  instrumentOnly,
  later,
  listen,
  recordedOf,
  serve,
} from './support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const ask = async (port: number, path: string, headers = '', method = 'GET'): Promise<string> =>
  exchange(port, `${method} ${path} HTTP/1.1\r\nhost: a\r\n${headers}connection: close\r\n\r\n`);

const routes = async (): Promise<readonly unknown[]> =>
  (await recordedOf('server')).map(({ name, properties }) => [
    name,
    properties['http.route'],
    properties['http.response.status_code'],
  ]);

test('fastify 5', async () => {
  instrumentOnly({ http: { client: false }, fastify: true });
  const fastify: Untyped = library('fastify')();
  fastify.get('/users/:id', async ({ params }: Untyped) => params);
  fastify.register(
    async (inner: Untyped) => {
      inner.get('/:word', (_: Untyped, reply: Untyped) => {
        setTimeout(() => reply.send('late'), 1);
      });
      inner.get('/broken', async () => {
        throw new Error('broken');
      });
    },
    { prefix: '/inner' },
  );
  const refuse = async (_: Untyped, reply: Untyped) => reply.code(401).send();
  fastify.get('/refused/:id', { onRequest: refuse }, async () => 'never');
  const querystring = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
  fastify.get('/wrong/:id', { schema: { querystring } }, async () => 'never');
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  const { port } = fastify.server.address();
  const paths = ['/users/7', '/inner/hello', '/inner/broken', '/refused/7', '/wrong/7', '/nowhere'];
  for (const path of paths) await ask(port, path);
  await fastify.close();
  expect(await routes()).toEqual([
    ['GET /users/:id', '/users/:id', 200],
    ['GET /inner/:word', '/inner/:word', 200],
    ['GET /inner/broken', '/inner/broken', 500],
    ['GET /refused/:id', '/refused/:id', 401],
    ['GET /wrong/:id', '/wrong/:id', 400],
    ['GET', undefined, 404],
  ]);
});

test.each(['express', 'express-4'])('%s', async (name) => {
  instrumentOnly({ http: { client: false }, express: true });
  const express: Untyped = library(name);
  const app = express();
  const inner = express.Router();
  app.use(express.json());
  app.get('/users/:id', (request: Untyped, response: Untyped) => response.json(request.params));
  inner.get('/:word', async (_: Untyped, response: Untyped) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    response.send('late');
  });
  inner.get('/', (_: Untyped, response: Untyped) => response.send('all'));
  app.use('/inner', inner);
  app.get(['/either', '/or'], (_: Untyped, response: Untyped) => response.send('one'));
  app.get(/^\/expression$/, (_: Untyped, response: Untyped) => response.send('matched'));
  app.get('/broken', () => {
    throw new Error('broken');
  });
  app.use((_error: unknown, _request: Untyped, response: Untyped, _next: unknown) => response.status(500).end());
  const { port } = await listen(createServer(app as RequestListener));
  const paths = ['/users/7', '/inner/hello', '/inner', '/or', '/expression', '/broken', '/nowhere'];
  for (const path of paths) await ask(port, path);
  expect(await routes()).toEqual([
    ['GET /users/:id', '/users/:id', 200],
    ['GET /inner/:word', '/inner/:word', 200],
    ['GET /inner', '/inner', 200],
    ['GET /either,/or', '/either,/or', 200],
    ['GET /^\\/expression$/', '/^\\/expression$/', 200],
    ['GET /broken', '/broken', 500],
    ['GET', undefined, 404],
  ]);
});

test('a request has its route where one copy of this package traces http and another one express', async () => {
  instrumentOnly({ http: { client: false } });
  const express: Untyped = library('express');
  await instrumentByAnotherCopy({ express: { module: express } });
  const app = express();
  app.get('/users/:id', (_: Untyped, response: Untyped) => response.send('fine'));
  const { url } = await serve(app);
  await (await fetch(`${url}/users/7`)).text();
  expect((await recordedOf('server')).map(({ name }) => name)).toEqual(['GET /users/:id']);
});

test.each(['express', 'express-4'])('%s: routers mounted at a path with parameters', async (name) => {
  const express: Untyped = library(name);
  instrumentOnly({ http: { client: false }, express: { module: express } });
  const app = express();
  const [team, member, plain] = [express.Router({ mergeParams: true }), express.Router(), express.Router()];
  member.get('/badge', (_: Untyped, response: Untyped) => response.send('badge'));
  member.get('/', (_: Untyped, response: Untyped) => response.send('member'));
  member.get('/broken/:id', () => {
    throw new Error('broken');
  });
  plain.get('/:id', (_: Untyped, response: Untyped) => response.send('plain'));
  team.use('/members/:member', member);
  team.use('/plain', plain);
  team.get('/size', (_: Untyped, response: Untyped) => response.send('size'));
  app.use('/teams/:team', (_request: Untyped, _response: Untyped, next: Untyped) => next());
  app.use('/teams/:team', team);
  app.use('/plain', plain);
  app.use((_error: unknown, _request: Untyped, response: Untyped, _next: unknown) => response.status(500).end());
  const { port } = await listen(createServer(app as RequestListener));
  const paths = ['/teams/red/members/7/badge', '/teams/blue/members/8', '/teams/red/size', '/teams/red/plain/7'];
  for (const path of [...paths, '/plain/7', '/teams/red/members/7/broken/9']) await ask(port, path);
  expect((await routes()).map((one) => (one as readonly unknown[])[1])).toEqual([
    '/teams/:team/members/:member/badge',
    '/teams/:team/members/:member',
    '/teams/:team/size',
    '/teams/:team/plain/:id',
    '/plain/:id',
    '/teams/:team/members/:member/broken/:id',
  ]);
});

const late = async (): Promise<string> => {
  await new Promise((resolve) => setTimeout(resolve, 1));
  return 'late';
};

const routesOf = async (app: Untyped, paths: readonly string[]): Promise<readonly unknown[]> => {
  const { port } = await listen(createServer(app as RequestListener));
  for (const path of paths) await ask(port, path);
  return (await routes()).map((one) => (one as readonly unknown[])[1]);
};

const answer = (_: Untyped, response: Untyped): void => response.end('fine');
const pass = (_request: Untyped, _response: Untyped, next: Untyped): void => next();

describe.each(['express', 'express-4'])('%s: no piece of the path', (name) => {
  const express: Untyped = library(name);
  const routerWith = (path: string): Untyped => express.Router({ mergeParams: true }).get(path, answer);

  test('handlers of parameters', async () => {
    instrumentOnly({ http: { client: false }, express: { module: express } });
    const app = express();
    app.param('user', pass);
    app.param('team', (_request: Untyped, _response: Untyped, next: Untyped) => setImmediate(next));
    app.get('/users/:user', pass, answer);
    app.use('/teams/:team', routerWith('/size'));
    app.route('/all/:user').all(pass).get(answer);
    expect(await routesOf(app, ['/users/7', '/teams/red/size', '/all/7'])).toEqual([
      '/users/:user',
      '/teams/:team/size',
      '/all/:user',
    ]);
  });

  test('mounted by a list, by an expression, in other letters, by a function of its own, in an application', async () => {
    instrumentOnly({ http: { client: false }, express: { module: express } });
    const app = express();
    const [lazy, sub] = [routerWith('/x'), express()];
    app.use(['/a/:t'], routerWith('/x'));
    app.use(/^\/re\/(\d+)/, routerWith('/x'));
    app.use('/letters/:t', routerWith('/x'));
    lazy.use('/deep/:d', routerWith('/x/:x'));
    app.use('/lazy/:l', (request: Untyped, response: Untyped, next: Untyped) => lazy(request, response, next));
    sub.get('/x/:x', answer);
    sub.get('/broken/:x', () => {
      throw new Error('broken');
    });
    sub.use('/deep/:d', express.Router().use('/more/:m', routerWith('/x')));
    app.use('/sub/:s', sub);
    app.use((_error: unknown, _request: Untyped, response: Untyped, _next: unknown) => response.status(500).end());
    const paths = ['/a/acme/x', '/re/12/x', '/LETTERS/acme/X/', '/lazy/1/x', '/lazy/1/deep/2/x/3', '/sub/1/x/2'];
    expect(await routesOf(app, [...paths, '/sub/1/broken/2', '/sub/1/deep/2/more/3/x'])).toEqual([
      '/a/:t/x',
      '/^\\/re\\/(\\d+)//x',
      '/letters/:t/x',
      '/lazy/:l/x',
      '/lazy/:l/deep/:d/x/:x',
      '/sub/:s/x/:x',
      '/sub/:s/broken/:x',
      '/sub/:s/deep/:d/more/:m/x',
    ]);
  });

  test('a router at two places', async () => {
    instrumentOnly({ http: { client: false }, express: { module: express } });
    const app = express();
    const twice = routerWith('/x');
    app.use('/first/:f', twice);
    app.use('/second/:s', express.Router().use('/inner', twice));
    expect(await routesOf(app, ['/first/1/x', '/second/2/inner/x'])).toEqual(['/first/:f/x', '/second/:s/inner/x']);
  });

  test('mounted in more places between two requests', async () => {
    instrumentOnly({ http: { client: false }, express: { module: express } });
    const app = express();
    const [outer, inner] = [express.Router({ mergeParams: true }), routerWith('/x')];
    outer.use('/inner/:i', inner);
    app.use('/first/:f', outer);
    const { port } = await listen(createServer(app as RequestListener));
    await ask(port, '/first/1/inner/2/x');
    app.use('/second/:s', outer);
    app.use('/third', express().use('/:t', inner));
    for (const path of ['/second/1/inner/2/x', '/third/3/x', '/first/1/inner/2/x']) await ask(port, path);
    expect((await routes()).map((one) => (one as readonly unknown[])[1])).toEqual([
      '/first/:f/inner/:i/x',
      '/second/:s/inner/:i/x',
      '/third/:t/x',
      '/first/:f/inner/:i/x',
    ]);
  });

  test('what is mounted and answers itself', async () => {
    instrumentOnly({ http: { client: false }, express: { module: express } });
    const app = express();
    const inner = express.Router();
    app.use((_request: Untyped, _response: Untyped, next: Untyped) => next());
    app.all(/.*/, pass);
    app.use('/:any', pass);
    app.use('/graphql', answer);
    inner.use('/health', answer);
    inner.use((request: Untyped, response: Untyped, next: Untyped) =>
      request.headers['x-key'] === undefined && request.url === '/refused' ? response.status(401).end() : next(),
    );
    app.use('/api/:version', inner);
    const paths = ['/graphql', '/graphql/7?a=b', '/api/1/health', '/api/1/refused'];
    expect(await routesOf(app, paths)).toEqual(['/graphql', '/graphql', '/api/:version/health', '/api/:version']);
  });

  test('what is mounted and answers itself, again and when more is mounted', async () => {
    instrumentOnly({ http: { client: false }, express: { module: express } });
    const app = express();
    const other = express();
    app.use('/graphql', answer);
    app.use('/:any', (_request: Untyped, response: Untyped) => response.end('any'));
    other.use('/:any', answer);
    const { port } = await listen(createServer(app as RequestListener));
    const paths = ['/graphql', '/graphql/7', '/GraphQL', '/graphql/8?a=b', '/graphqls', '/graphql'];
    for (const path of paths) await ask(port, path);
    app.use('/later', answer);
    for (const path of ['/graphql', '/:any']) await ask(port, path);
    await ask((await listen(createServer(other as RequestListener))).port, '/graphql');
    const found = ['/graphql', '/graphql', '/graphql', '/graphql', '/:any', '/graphql'];
    expect((await routes()).map((one) => (one as readonly unknown[])[1])).toEqual([
      ...found,
      '/graphql',
      '/:any',
      '/:any',
    ]);
  });

  test('what nobody answers', async () => {
    instrumentOnly({ http: { client: false }, express: { module: express } });
    const app = express();
    app.use('/api', pass, routerWith('/x'));
    expect(await routesOf(app, ['/api/nowhere', '/nowhere/7'])).toEqual([undefined, undefined]);
  });

  test('made before it was switched on: a template, or none', async () => {
    const app = express();
    app.get('/users/:id', answer);
    app.use('/plain', routerWith('/x/:x'));
    app.use('/teams/:team', routerWith('/x'));
    instrumentOnly({ http: { client: false }, express: true });
    const [own, plain, team] = await routesOf(app, ['/users/7', '/plain/x/7', '/teams/red/x']);
    expect([own, plain]).toEqual(['/users/:id', '/plain/x/:x']);
    expect(['/teams/:team/x', undefined]).toContain(team);
  });

  test('routers that are made and dropped are collected, also those that share what they mount', async () => {
    instrumentOnly({ http: { client: false }, express: { module: express } });
    const [inner, sub] = [routerWith('/x'), express()];
    const made: WeakRef<object>[] = [];
    for (let i = 0; i < 200; i++) made.push(new WeakRef(express.Router().use(pass, inner).use('/sub', sub)));
    const app = express().use('/kept/:kept', express.Router().use('/inner', inner));
    const left = (): number => {
      globalThis.gc?.();
      return made.filter((one) => one.deref() !== undefined).length;
    };
    // What the engine has in its hands is a few of them.
    await expect.poll(left).toBeLessThan(10);
    expect(await routesOf(app, ['/kept/7/inner/x'])).toEqual(['/kept/:kept/inner/x']);
  });

  test('switched off it names nothing', async () => {
    instrumentOnly({ http: { client: false } });
    expect(await routesOf(express().get('/users/:id', answer), ['/users/7'])).toEqual([undefined]);
  });

  test('routed as ever: no frame of ours, and none of channels, in a stack', async () => {
    instrumentOnly({ http: { client: false }, express: { module: express } });
    const stacks: unknown[] = [];
    const app = express().use(
      '/teams/:team',
      express.Router().get('/x', (_: Untyped, response: Untyped) => {
        stacks.push(new Error('where').stack);
        response.end();
      }),
    );
    await routesOf(app, ['/teams/red/x']);
    expect(stacks).toEqual([expect.stringContaining('node_modules')]);
    expect(stacks[0]).not.toMatch(/src\/instrument|diagnostics_channel/);
  });
});

const koaApp = (): Untyped => {
  const Koa = library('koa');
  const { Router } = library('@koa/router');
  const app = new Koa();
  const inner = new Router({ prefix: '/inner' });
  inner.use(async (ctx: Untyped, next: Untyped) => {
    if (ctx.get('x-key') === 'wrong') ctx.status = 401;
    else await next();
  });
  inner.get('/:word', async (ctx: Untyped) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    ctx.body = 'late';
  });
  const router = new Router();
  router.get('/users/me', (ctx: Untyped) => {
    ctx.body = 'me';
  });
  router.get('/users/:id', (ctx: Untyped) => {
    ctx.body = ctx.params;
  });
  router.get('/broken', () => {
    throw new Error('broken');
  });
  router.use(inner.routes());
  app.on('error', () => {});
  return app.use(router.routes()).use(router.allowedMethods());
};

test('koa', async () => {
  instrumentOnly({ http: { client: false }, koa: true });
  const { port } = await listen(createServer(koaApp().callback()));
  for (const path of ['/users/me', '/users/7', '/inner/hello', '/broken', '/nowhere']) await ask(port, path);
  await ask(port, '/inner/hello', 'x-key: wrong\r\n');
  await ask(port, '/users/7', '', 'DELETE');
  expect(await routes()).toEqual([
    ['GET /users/me', '/users/me', 200],
    ['GET /users/:id', '/users/:id', 200],
    ['GET /inner/:word', '/inner/:word', 200],
    ['GET /broken', '/broken', 500],
    ['GET', undefined, 404],
    ['GET /inner/:word', '/inner/:word', 401],
    ['DELETE', undefined, 405],
  ]);
});

test('koa: once it is off, its applications are as they were', async () => {
  const { disable } = instrument({ ...ALL_OFF, koa: true });
  later(disable);
  const app = koaApp();
  const before = Object.getOwnPropertyDescriptors(app.context);
  const { port } = await listen(createServer(app.callback()));
  await ask(port, '/users/me');
  disable();
  expect(Object.getOwnPropertyDescriptors(app.context)).toEqual(before);
});

test('koa: expressions, and routers and handlers that are mounted', async () => {
  instrumentOnly({ http: { client: false }, koa: true });
  const [Koa, mount] = [library('koa'), library('koa-mount')];
  const { Router } = library('@koa/router');
  const routerWith = (path: unknown): Untyped =>
    new Router()
      .get(path, (ctx: Untyped) => {
        ctx.body = 'fine';
      })
      .routes();
  const health = (ctx: Untyped): void => {
    ctx.body = 'up';
  };
  const inner = new Koa()
    .use(routerWith('/x/:x'))
    .use(mount('/deep', new Koa().use(routerWith('/')).use(routerWith('/y/:y'))));
  // The language goes from the path, which no prefix says.
  const language = async (ctx: Untyped, next: Untyped): Promise<void> => {
    ctx.path = ctx.path.replace(/^\/(?:de|en)\//, '/');
    await next();
  };
  const app = new Koa()
    .use(mount('/passed', (_: Untyped, next: Untyped) => next()))
    .use(mount('/health', health))
    .use(mount('/api', inner))
    .use(language)
    .use(routerWith(/^\/re\/(\d+)$/))
    .use(routerWith('/passed/:p'))
    .use(routerWith('/plain/:p'));
  const { port } = await listen(createServer(app.callback()));
  const paths = ['/health', '/api/x/1', '/api/deep', '/api/deep/y/2', '/api/nowhere', '/re/7', '/passed/1'];
  for (const path of [...paths, '/en/plain/1']) await ask(port, path);
  expect((await routes()).map((one) => (one as readonly unknown[])[1])).toEqual([
    '/health',
    '/api/x/:x',
    '/api/deep',
    '/api/deep/y/:y',
    undefined,
    '/^\\/re\\/(\\d+)$/',
    '/passed/:p',
    '/plain/:p',
  ]);
});

test('hapi: what a program has put around it is called on hapi', () => {
  const hapi = library('@hapi/hapi');
  const { server: original } = hapi;
  let receiver: unknown;
  hapi.server = function (this: unknown, options: unknown): unknown {
    receiver = this;
    return original(options);
  };
  try {
    const { disable } = instrument({ ...ALL_OFF, hapi: true });
    hapi.server();
    disable();
  } finally {
    hapi.server = original;
  }
  expect(receiver).toBe(hapi);
});

test('hapi: a server that was made before other options come', async () => {
  const { disable } = instrument({ ...ALL_OFF, hapi: true });
  const server: Untyped = new (library('@hapi/hapi').Server)({ port: 0, host: '127.0.0.1' });
  disable();
  instrumentOnly({ http: { client: false }, hapi: true });
  server.route({ method: 'GET', path: '/users/{id}', handler: () => 'fine' });
  await server.start();
  later(() => server.stop());
  await (await fetch(`${server.info.uri}/users/7`)).text();
  expect((await recordedOf('server')).map(({ name }) => name)).toEqual(['GET /users/{id}']);
});

test('hapi', async () => {
  instrumentOnly({ http: { client: false }, hapi: true });
  const { Server } = library('@hapi/hapi');
  const server: Untyped = new Server({ port: 0, host: '127.0.0.1' });
  await server.register({
    plugin: {
      name: 'inner',
      register: (inner: Untyped) => inner.route({ method: 'GET', path: '/{word}', handler: late }),
    },
    routes: { prefix: '/inner' },
  });
  const refuse = { method: (_: Untyped, toolkit: Untyped) => toolkit.response().code(401).takeover() };
  server.route([
    { method: 'GET', path: '/users/{id}', handler: () => 'fine' },
    { method: 'GET', path: '/refused/{id}', handler: () => 'never', options: { pre: [refuse] } },
    {
      method: 'GET',
      path: '/broken',
      handler: () => {
        throw new Error('broken');
      },
    },
  ]);
  await server.start();
  const paths = ['/users/7', '/inner/hello', '/refused/7', '/broken', '/nowhere/7'];
  for (const path of paths) await ask(server.info.port, path);
  await server.stop();
  expect(await routes()).toEqual([
    ['GET /users/{id}', '/users/{id}', 200],
    ['GET /inner/{word}', '/inner/{word}', 200],
    ['GET /refused/{id}', '/refused/{id}', 401],
    ['GET /broken', '/broken', 500],
    ['GET', undefined, 404],
  ]);
});

/** Real servers of hono, by either form of the package. */
const honoPort = async ({ Hono }: Untyped): Promise<number> => {
  const app = new Hono();
  const inner = new Hono();
  app.use(async (context: Untyped, next: Untyped) => {
    await next();
    context.header('x-seen', 'yes');
  });
  app.get('/users/me', (context: Untyped) => context.text('me'));
  app.get('/users/:id', (context: Untyped) => context.text(context.req.param('id')));
  inner.get('/:word', async (context: Untyped) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return context.text('late');
  });
  inner.get('/deep/broken', () => {
    throw new Error('broken');
  });
  app.route('/inner', inner);
  app.onError((_: unknown, context: Untyped) => context.text('broken', 500));
  const { createAdaptorServer } = library('@hono/node-server');
  return (await listen(createAdaptorServer({ fetch: app.fetch }))).port;
};

const HONO_ROUTES = [
  ['GET /users/me', '/users/me', 200],
  ['GET /users/:id', '/users/:id', 200],
  ['GET /inner/:word', '/inner/:word', 200],
  ['GET /inner/deep/broken', '/inner/deep/broken', 500],
  ['GET', undefined, 404],
];

describe('hono', () => {
  const asked = async (hono: Untyped): Promise<readonly unknown[]> => {
    const port = await honoPort(hono);
    for (const path of ['/users/me', '/users/7', '/inner/hello', '/inner/deep/broken', '/nowhere'])
      await ask(port, path);
    return routes();
  };

  test('loaded by require', async () => {
    instrumentOnly({ http: { client: false }, hono: true });
    expect(await asked(library('hono'))).toEqual(HONO_ROUTES);
  });

  test.each(['hono/tiny', 'hono/quick'])('%s', async (name) => {
    instrumentOnly({ http: { client: false }, hono: true });
    expect(await asked(library(name))).toEqual(HONO_ROUTES);
  });

  /** With a router that the program gives the application. */
  const routed = async ({ Hono }: Untyped, router: Untyped): Promise<readonly unknown[]> => {
    const app = new Hono({ router });
    app.use(async (_: Untyped, next: Untyped) => next());
    app.get('/users/:id', (context: Untyped) => context.text('fine'));
    app.basePath('/inner').all('/all/:a', (context: Untyped) => context.text('fine'));
    const { createAdaptorServer } = library('@hono/node-server');
    const { port } = await listen(createAdaptorServer({ fetch: app.fetch }));
    for (const path of ['/users/7', '/inner/all/7', '/nowhere']) await ask(port, path);
    return (await routes()).map((one) => (one as readonly unknown[])[1]);
  };
  const ROUTED = ['/users/:id', '/inner/all/:a', undefined];

  test.each([
    ['reg-exp', 'RegExpRouter'],
    ['linear', 'LinearRouter'],
    ['pattern', 'PatternRouter'],
    ['trie', 'TrieRouter'],
  ])('a router of its own: %s', async (name, exported) => {
    instrumentOnly({ http: { client: false }, hono: true });
    const { [exported]: Router } = library(`hono/router/${name}-router`);
    const app = library(name === 'linear' ? 'hono' : 'hono/hono-base');
    expect(await routed({ Hono: app.Hono ?? app.HonoBase }, new Router())).toEqual(ROUTED);
  });

  test('such a router, handed over', async () => {
    const modules = { ...(await importLibrary('hono')), ...(await importLibrary('hono/router/reg-exp-router')) };
    instrumentOnly({ http: { client: false }, hono: { module: modules } });
    expect(await routed(modules, new modules.RegExpRouter())).toEqual(ROUTED);
  });

  test('an ES module, handed over', async () => {
    const hono = await importLibrary('hono');
    instrumentOnly({ http: { client: false }, hono: { module: hono } });
    expect(await asked(hono)).toEqual(HONO_ROUTES);
  });
});

test('hono: handlers look as they did', () => {
  const { Hono } = library('hono');
  instrumentOnly({ hono: true });
  const app = new Hono();
  app.get(
    '/users/:id',
    Object.assign(
      function user(context: Untyped) {
        return context.text('fine');
      },
      { docs: 'of a user' },
    ),
  );
  const [[[[handler]]]] = app.router.match('GET', '/users/7');
  expect([handler.name, handler.length, handler.docs]).toEqual(['user', 1, 'of a user']);
});

test('hono: sub-applications with handlers of errors, and applications of others', async () => {
  const hono = library('hono');
  instrumentOnly({ http: { client: false }, hono: { module: hono } });
  const [app, inner, deep] = [new hono.Hono(), new hono.Hono(), new hono.Hono()];
  inner.use(async (_: Untyped, next: Untyped) => next());
  inner.get('/x/:x', (context: Untyped) => context.text('fine'));
  inner.all('/all/:a', (context: Untyped) => context.text('fine'));
  inner.get('/broken/:b', () => {
    throw new Error('broken');
  });
  inner.onError((_: unknown, context: Untyped) => context.text('broken', 500));
  deep.mount('/others', () => new Response('theirs'));
  deep.basePath('/based').mount('/others', () => new Response('theirs'));
  inner.route('/deep', deep);
  app.mount('/mounted', () => new Response('theirs'));
  app.route('/inner/:i', inner);
  const { createAdaptorServer } = library('@hono/node-server');
  const { port } = await listen(createAdaptorServer({ fetch: app.fetch }));
  const paths = [
    '/inner/1/x/2',
    '/inner/1/all/2',
    '/inner/1/broken/2',
    '/mounted/7',
    '/inner/1/deep/others/7',
    '/inner/1/deep/based/others/7',
  ];
  for (const path of [...paths, '/inner/1/nowhere']) await ask(port, path);
  expect((await routes()).map((one) => (one as readonly unknown[])[1])).toEqual([
    '/inner/:i/x/:x',
    '/inner/:i/all/:a',
    '/inner/:i/broken/:b',
    '/mounted/*',
    '/inner/:i/deep/others/*',
    '/inner/:i/deep/based/others/*',
    undefined,
  ]);
});

test('h3 2, with its plugin', async () => {
  instrumentOnly({ http: { client: false }, h3: true });
  const { H3, toNodeHandler } = await importLibrary('h3');
  const { tracingPlugin } = await importLibrary('h3/tracing');
  const app = new H3({ plugins: [tracingPlugin()], silent: true });
  app.use((_: unknown, next: Untyped) => next());
  app.get('/users/:id', (event: Untyped) => event.context.params);
  app.get('/broken', () => {
    throw new Error('broken');
  });
  const inner = new H3();
  inner.get('/:word', async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return 'late';
  });
  app.mount('/inner', inner);
  const { port } = await listen(createServer(toNodeHandler(app)));
  for (const path of ['/users/7', '/inner/hello', '/broken', '/nowhere']) await ask(port, path);
  expect(await routes()).toEqual([
    ['GET /users/:id', '/users/:id', 200],
    ['GET /inner/:word', '/inner/:word', 200],
    ['GET /broken', '/broken', 500],
    ['GET', undefined, 404],
  ]);
});
