// A route with a parameter and a schema behind fastify. It knows nothing of tracing.
const fastify = require('fastify')();

const schema = {
  response: { 200: { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } } },
};
fastify.get('/api/items/:id', { schema }, async ({ params: { id } }) => ({ id, name: `item ${id}` }));
fastify.listen({ port: 0, host: '127.0.0.1' }).then(() => process.send({ port: fastify.server.address().port }));
