// Handlers of NestJS have the route of the express or fastify below them, with the prefixes of the application and of their controller; guards that
// refuse and handlers that throw too.
import { expect, test } from 'vitest';
import { Span } from '../../src/index.js';
import { library } from './libraries.js';
import { exchange, instrumentOnly, later, recorded } from './support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

library('reflect-metadata');
const { Controller, Get, Module, UseGuards, ForbiddenException } = library('@nestjs/common') as Untyped;
const { NestFactory } = library('@nestjs/core') as Untyped;

/** Decorators as TypeScript's older ones call them. */
const decorate = (target: Untyped, name: string, ...decorators: Untyped[]): void => {
  const descriptor = Object.getOwnPropertyDescriptor(target.prototype, name);
  for (const one of decorators) one(target.prototype, name, descriptor);
};

const current: (string | undefined)[] = [];
class Users {
  async one(): Promise<string> {
    await null;
    current.push(Span.current()?.name);
    return 'one';
  }
  refused(): string {
    return 'never';
  }
  broken(): never {
    throw new ForbiddenException();
  }
}
class Refuse {
  canActivate(): boolean {
    return false;
  }
}
Controller('users')(Users);
decorate(Users, 'one', Get(':id'));
decorate(Users, 'refused', Get(':id/refused'), UseGuards(Refuse));
decorate(Users, 'broken', Get(':id/broken'));
class App {}
Module({ controllers: [Users] })(App);

test.each([
  ['express', 'ExpressAdapter'],
  ['fastify', 'FastifyAdapter'],
])('on %s', async (platform, adapter) => {
  instrumentOnly({ http: { client: false }, express: true, fastify: true });
  current.length = 0;
  const Adapter = (library(`@nestjs/platform-${platform}`) as Untyped)[adapter];
  const app = await NestFactory.create(App, new Adapter(), { logger: false });
  app.setGlobalPrefix('api');
  await app.listen(0, '127.0.0.1');
  later(() => app.close());
  const { port } = app.getHttpServer().address();
  for (const path of ['/api/users/7', '/api/users/7/refused', '/api/users/7/broken', '/nowhere'])
    await exchange(port, `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
  const requests = (await recorded()).filter(({ kind }) => kind === 'server');
  expect(requests.map(({ name, properties }) => [name, properties['http.response.status_code']])).toEqual([
    ['GET /api/users/:id', 200],
    ['GET /api/users/:id/refused', 403],
    ['GET /api/users/:id/broken', 403],
    ['GET', 404],
  ]);
  expect(current).toEqual(['GET']);
});
