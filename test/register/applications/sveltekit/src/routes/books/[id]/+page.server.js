// Fetches from an endpoint of the same application, which is answered without a request.
export const load = async ({ params, fetch }) => ({ book: await (await fetch(`/api/books/${params.id}`)).json() });
