// Ends a server that was started in a folder of its own. It must be gone before its folder is, or it writes there again.
import { once } from 'node:events';
import { rmSync } from 'node:fs';

/** Ask `server` to end by `signal`, wait until it has, and remove `folder`. */
export async function endServer(server, signal, folder) {
  const gone = once(server, 'exit');
  server.kill(signal);
  await gone;
  rmSync(folder, { recursive: true, force: true });
}
