// What is asked of every version of tRPC, by its server of its own.
import { describe, expect, test } from 'vitest';
import { Span } from '../../src/index.js';
import { instrument } from '../../src/instrument/index.js';
import { library } from './libraries.js';
import { ALL_OFF, instrumentOnly, later, listen, recorded } from './support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const SECRET = 'hunter2';

export const describeTrpc = (name: string): void => {
  const { initTRPC, TRPCError } = library(name) as Untyped;

  const routerOf = (): Untyped => {
    const t = initTRPC.context().create();
    const late = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      Span.startWithLocalParent('work').end();
    };
    const guarded = t.procedure.use(({ path, next }: Untyped) => {
      if (path === 'users.secret') throw new TRPCError({ code: 'UNAUTHORIZED', message: SECRET });
      return next();
    });
    const users = t.router({
      byId: guarded.query(async ({ ctx }: Untyped) => {
        await late();
        return { id: 7, ctx: typeof ctx };
      }),
      add: t.procedure.mutation(() => {
        throw new RangeError(SECRET);
      }),
      secret: guarded.query(() => 'never'),
    });
    return { t, router: t.router({ users }) };
  };

  describe(name, () => {
    test('a procedure of several that were put together is one span', async () => {
      instrumentOnly({ trpc: { module: library(name) } });
      const [one, two] = [initTRPC.create(), initTRPC.create()];
      const waiting = one.procedure.use(async ({ next }: Untyped) => {
        await new Promise(setImmediate);
        return next();
      });
      // tRPC 10 has the second name alone.
      const concat = 'concat' in waiting ? 'concat' : 'unstable_concat';
      const procedure = waiting[concat](two.procedure).query(() => 7);
      const caller = one.router({ procedure }).createCaller({});
      expect(await Span.root('request').runToEnd(() => caller.procedure())).toBe(7);
      expect((await recorded()).map((span) => span.name)).toEqual(['request', 'procedure']);
    });

    test('a procedure that asks for itself with another input is a span each time', async () => {
      instrumentOnly({ trpc: { module: library(name) } });
      const t = initTRPC.create();
      const down = t.procedure
        .input(Number)
        .query(({ input }: Untyped): unknown => (input === 0 ? 'there' : caller.down(input - 1)));
      const caller = t.router({ down }).createCaller({});
      expect(await Span.root('request').runToEnd(() => caller.down(2))).toBe('there');
      expect((await recorded()).map((span) => span.name)).toEqual(['request', 'down', 'down', 'down']);
    });

    test('middleware that gives nothing has failed as ever, and so has its span', async () => {
      instrumentOnly({ trpc: { module: library(name) } });
      const { t } = routerOf();
      const forgetful = t.procedure.use(async ({ next }: Untyped) => void (await next())).query(() => 7);
      const silent = t.procedure.query(() => Promise.reject(undefined));
      const caller = t.router({ forgetful, silent }).createCaller({});
      for (const one of ['forgetful', 'silent']) {
        const asked = Span.root('request').runToEnd(() => caller[one]());
        await expect(asked).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' });
      }
      expect(
        (await recorded())
          .filter((span) => span.name !== 'request')
          .map((span) => [span.name, span.status.code, span.properties['error.type']]),
      ).toEqual(['forgetful', 'silent'].map((one) => [one, 'error', 'INTERNAL_SERVER_ERROR']));
    });

    test('a procedure is a span below its request, and of a batch each is', async () => {
      instrumentOnly({ http: { client: false }, trpc: { module: library(name) } });
      const { createHTTPHandler } = library(`${name}/adapters/standalone`);
      const { createServer } = await import('node:http');
      const { router } = routerOf();
      const handler = createHTTPHandler({ router, createContext: () => ({ a: 1 }) });
      const { url } = await listen(createServer(handler));
      const batch = await (await fetch(`${url}/users.byId,users.secret?batch=1&input={}`)).json();
      expect(batch).toMatchObject([
        { result: { data: { id: 7, ctx: 'object' } } },
        { error: { data: { code: 'UNAUTHORIZED' } } },
      ]);
      await fetch(`${url}/users.add`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
      const spans = await recorded();
      const parentOf = (id: string): string | undefined => spans.find(({ spanId }) => spanId === id)?.name;
      expect(
        spans
          .filter(({ kind, name: own }) => kind === 'internal' && own !== '')
          .map(({ name: own, parentSpanId, status, properties }) =>
            [own, parentOf(parentSpanId), status.code, properties['rpc.response.status_code'] ?? ''].join(', '),
          )
          .sort(),
      ).toEqual([
        'users.add, POST, error, INTERNAL_SERVER_ERROR',
        'users.byId, GET, unset, OK',
        'users.secret, GET, unset, UNAUTHORIZED',
        'work, users.byId, unset, ',
      ]);
      const [add] = spans.filter((span) => span.name === 'users.add');
      expect(add.properties).toEqual({
        'rpc.system.name': 'trpc',
        'rpc.method': 'users.add',
        'rpc.response.status_code': 'INTERNAL_SERVER_ERROR',
        'error.type': 'INTERNAL_SERVER_ERROR',
      });
      expect(JSON.stringify(spans)).not.toContain(SECRET);
    });

    test('sixteen at once, each in its own trace; none outside of one, and none when it is off', async () => {
      const { disable } = instrument({ ...ALL_OFF, trpc: { module: library(name) } });
      later(disable);
      const { t, router } = routerOf();
      const caller = t.createCallerFactory === undefined ? router.createCaller({}) : t.createCallerFactory(router)({});
      await Promise.all(
        Array.from({ length: 16 }, (_, i) => Span.root(`request ${i}`).runToEnd(() => caller.users.byId())),
      );
      const spans = await recorded();
      const made = spans.filter((span) => span.name === 'users.byId');
      const parents = made.map(
        ({ traceId, parentSpanId }) =>
          spans.find((span) => span.spanId === parentSpanId && span.traceId === traceId)?.name,
      );
      expect(parents.sort()).toEqual(Array.from({ length: 16 }, (_, i) => `request ${i}`).sort());
      await caller.users.byId();
      disable();
      await Span.root('request').runToEnd(() => caller.users.byId());
      expect((await recorded()).map((span) => span.name)).toEqual(['request', 'work']);
    });
  });
};
