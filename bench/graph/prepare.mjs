// node prepare.mjs SUBJECT: builds the files of a subject of the graph suite, on the Node it runs on.
const BUILDERS = {
  spanline: async () => {
    const { buildGraphs } = await import('./spanline-files.mjs');
    await buildGraphs(['hash', 'names', 'spans']);
    const { buildArchives } = await import('./archive-files.mjs');
    await buildArchives();
  },
  git: async () => (await import('./git-repository.mjs')).buildRepository(),
  lmdb: async () => (await import('./lmdb-store.mjs')).buildStores(),
  sqlite: async () => (await import('./sqlite-store.mjs')).buildStores(),
  bzr: async () => (await import('./breezy.mjs')).buildIndexes(),
};

await BUILDERS[process.argv[2]]();
