// Answers orders, and asks the next service for them where there is one. It knows nothing of tracing.
const express = require('express');

const { PORT, NEXT } = process.env;
const app = express();
app.get('/orders/:id', async (request, response) => {
  const answer = NEXT === undefined ? undefined : await fetch(`${NEXT}/orders/${request.params.id}`);
  response.status(answer?.status ?? (request.params.id === '0' ? 503 : 200)).json({ id: request.params.id });
});
app.listen(Number(PORT), '127.0.0.1', () => console.log('ready'));
