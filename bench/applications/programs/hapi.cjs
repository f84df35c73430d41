// A list of parts on hapi and MongoDB's driver. It knows nothing of tracing.
const Hapi = require('@hapi/hapi');
const { MongoClient } = require('mongodb');

const main = async () => {
  const client = await MongoClient.connect(process.env.MONGODB, { maxPoolSize: 10 });
  const parts = client.db(process.env.DATABASE).collection('parts');
  const wanted = Array.from({ length: 10 }, (_, i) => ({ _id: i, name: `part ${i}`, isSpare: i % 2 === 0 }));
  for (const part of wanted) await parts.replaceOne({ _id: part._id }, part, { upsert: true });
  const server = Hapi.server({ port: Number(process.env.PORT), host: '127.0.0.1' });
  server.route([
    { method: 'GET', path: '/parts', handler: () => parts.find({ isSpare: true }).sort({ _id: 1 }).toArray() },
    {
      method: 'GET',
      path: '/parts/{id}',
      handler: async ({ params: { id } }, h) =>
        (await parts.findOne({ _id: Number(id) })) ?? h.response({ error: 'none' }).code(404),
    },
    {
      method: 'PUT',
      path: '/parts/{id}',
      handler: async ({ params: { id }, payload: { name } }) => {
        await parts.updateOne({ _id: Number(id) }, { $set: { name } });
        return parts.findOne({ _id: Number(id) });
      },
    },
  ]);
  await server.start();
};
main();
