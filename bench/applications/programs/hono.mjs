// A list of books on hono and postgres.js, of ES modules. It knows nothing of tracing.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import postgres from 'postgres';

const { DATABASE, POSTGRES_HOST, POSTGRES_PORT, PORT } = process.env;
const place = { host: POSTGRES_HOST, port: Number(POSTGRES_PORT), database: DATABASE, user: 'test' };
const sql = postgres({ ...place, max: 10, onnotice: () => {} });
await sql`create table if not exists books (id int primary key, title text)`;
await sql`insert into books select i, 'book ' || i from generate_series(1, 10) i on conflict do nothing`;

const books = new Hono()
  .get('/', async (c) => c.json(await sql`select id, title from books order by id limit 5`))
  .get('/:id', async (c) => {
    const [book] = await sql`select id, title from books where id = ${c.req.param('id')}`;
    return book === undefined ? c.notFound() : c.json(book);
  })
  .post('/:id', async (c) => {
    const { title } = await c.req.json();
    const [book] = await sql.begin(async (tx) => {
      await tx`update books set title = ${title} where id = ${c.req.param('id')}`;
      return tx`select id, title from books where id = ${c.req.param('id')}`;
    });
    return c.json(book);
  });
serve({ fetch: new Hono().route('/books', books).fetch, port: Number(PORT), hostname: '127.0.0.1' });
