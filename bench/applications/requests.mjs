// Requests as the lists of applications write them.

/** What `fetch` takes for a body of JSON. */
export const send = (method, body, headers = {}) => ({
  method,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

/** A GraphQL operation at `path`. */
export const graphql = (query, path = '/graphql') => [path, send('POST', { query })];
