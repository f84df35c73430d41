// A shop on NestJS (express 5) and TypeORM over MySQL's protocol. It knows nothing of tracing.
require('reflect-metadata');
const { Controller, Get, Inject, Module, NotFoundException, Param, Post, Body } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const { getDataSourceToken, TypeOrmModule } = require('@nestjs/typeorm');
const { EntitySchema } = require('typeorm');

const id = { type: Number, primary: true, generated: true };
const Author = new EntitySchema({ name: 'Author', tableName: 'authors', columns: { id, name: { type: String } } });
const Book = new EntitySchema({
  name: 'Book',
  tableName: 'books',
  columns: { id, title: { type: String } },
  relations: { author: { type: 'many-to-one', target: 'Author', eager: true } },
});

class Books {
  constructor(source) {
    this.source = source;
    this.books = source.getRepository('Book');
  }
  list() {
    return this.books.find({ order: { id: 'ASC' }, take: 5 });
  }
  async one(number) {
    const book = await this.books.findOneBy({ id: Number(number) });
    if (book === null) throw new NotFoundException();
    return book;
  }
  /** Two statements in a transaction, and what it looks for first. */
  rename(number, { title }) {
    return this.source.transaction(async (manager) => {
      const book = await manager.findOneByOrFail('Book', { id: Number(number) });
      return manager.save('Book', { ...book, title });
    });
  }
}

// Decorators as a compiler of TypeScript calls them.
const method = (name, ...decorators) => {
  const descriptor = Object.getOwnPropertyDescriptor(Books.prototype, name);
  for (const decorate of decorators) decorate(Books.prototype, name, descriptor);
};
Inject(getDataSourceToken())(Books, undefined, 0);
method('list', Get());
Param('id')(Books.prototype, 'one', 0);
method('one', Get(':id'));
Param('id')(Books.prototype, 'rename', 0);
Body()(Books.prototype, 'rename', 1);
method('rename', Post(':id'));
Controller('books')(Books);

const [database, port] = [process.env.DATABASE, Number(process.env.MYSQL_PORT)];
const server = { type: 'mysql', host: '127.0.0.1', port, username: 'root', database };
class Shop {}
Module({
  imports: [TypeOrmModule.forRoot({ ...server, entities: [Author, Book], synchronize: true, poolSize: 10 })],
  controllers: [Books],
})(Shop);

const main = async () => {
  const app = await NestFactory.create(Shop, { logger: false });
  app.enableShutdownHooks();
  const source = app.get(getDataSourceToken());
  if ((await source.getRepository('Author').count()) === 0) {
    const author = await source.getRepository('Author').save({ name: 'Astrid' });
    for (const title of ['Pippi', 'Ronja', 'Madita']) await source.getRepository('Book').save({ title, author });
  }
  await app.listen(Number(process.env.PORT), '127.0.0.1');
};
main();
