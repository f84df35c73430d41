// A route with a parameter behind express, its JSON parser and a mounted router. It knows nothing of tracing.
const express = require('express');

const router = express.Router();
router.get('/items/:id', (request, response) => {
  response.json({ id: request.params.id, name: `item ${request.params.id}`, tags: ['a', 'b'] });
});
const app = express();
app.use(express.json());
app.use('/api', router);
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
