export default defineEventHandler(async (event) => {
  const id = getRouterParam(event, 'id');
  if (id === '9') throw createError({ statusCode: 404, statusMessage: 'none' });
  return { title: `book ${id}` };
});
