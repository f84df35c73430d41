// The demo's last step with --ui: the page over what it has made, until Ctrl-C, while the service goes on answering. The command opens the browser
// itself.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Archive, ArchiveReporter } from '@spanline/archive';
import { setReporter, shutdown } from 'spanline';
import { TimelineWriter } from './keep-timeline.js';
import { keepAsking } from './load.js';

/** Run the command in the terminal, to its end. Ctrl-C reaches it too, and ends it in order. */
const runPage = async (args: readonly string[]): Promise<void> => {
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  const child = spawn(process.execPath, ['packages/cli/dist/esm/main.js', ...args], { stdio: 'inherit' });
  const passOn = (): void => void child.kill('SIGTERM');
  process.once('SIGTERM', passOn);
  const [code] = await once(child, 'exit');
  process.off('SIGINT', ignore);
  if (code !== 0) process.exitCode = 1;
};

/** Serve the page of the traces in `directory`, which go on to come. */
export const showPage = async (
  args: readonly string[],
  directory: string,
  port: number,
  queries: readonly string[],
): Promise<void> => {
  const archive = await Archive.open(directory);
  const timeline = new TimelineWriter(archive);
  setReporter([new ArchiveReporter(archive), timeline]);
  const stop = new AbortController();
  const load = keepAsking(port, queries, stop.signal);
  await runPage(args);
  stop.abort();
  await load;
  await shutdown();
  timeline.stop();
  await archive.close();
};
