// The demo's last step with --ui: the page over what it has made, until Ctrl-C. The command opens the browser itself.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Run the command in the terminal, to its end. Ctrl-C reaches it too, and ends it in order. */
export const showPage = async (args: readonly string[]): Promise<void> => {
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  const child = spawn(process.execPath, ['dist/esm/cli/main.js', ...args], { stdio: 'inherit' });
  const passOn = (): void => void child.kill('SIGTERM');
  process.once('SIGTERM', passOn);
  const [code] = await once(child, 'exit');
  process.off('SIGINT', ignore);
  if (code !== 0) process.exitCode = 1;
};
