// A FerretDB of its own for a test, which speaks MongoDB's protocol and keeps its data in SQLite, in a new folder.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFerretdb, HOW_TO_GET } from '../../../scripts/lib/ferretdb.mjs';
import { freePort, isListening } from '../../../scripts/lib/local-ports.mjs';
import { provided } from '../../support/built-with-go.js';

const { program, reason } = await provided({
  name: 'FerretDB',
  script: 'build-ferretdb.mjs',
  howToGet: HOW_TO_GET,
  find: findFerretdb,
});

/** Whether there is one here. */
export const hasFerretdb = program !== undefined;
if (!hasFerretdb) console.info(`skipped: ${reason}`);

export interface Ferretdb {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

export const startFerretdb = async (): Promise<Ferretdb> => {
  const folder = mkdtempSync(join(tmpdir(), 'spanline-ferretdb-'));
  const port = await freePort();
  const server = spawn(program as string, [`127.0.0.1:${port}`, folder], { stdio: 'ignore' });
  while (!(await isListening(port))) await new Promise((resolve) => setTimeout(resolve, 50));
  return {
    url: `mongodb://127.0.0.1:${port}/shop`,
    port,
    async stop() {
      const gone = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGTERM');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
