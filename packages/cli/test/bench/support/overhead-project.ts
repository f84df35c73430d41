// A service in a project, and `spanline bench overhead` of it.
import { join } from 'node:path';
import { type Outcome, scratch, spanline } from '../../support/spanline.js';
import { Project } from './project.js';

/** Made anew for each file of tests: they share this module. */
export const useOverheadProject = () => {
  const dir = scratch();
  const project = new Project(join(dir, 'project'));
  const pids = join(dir, 'pids');
  project.write(
    'server.mjs',
    `import { createServer } from 'node:http';
import { appendFileSync } from 'node:fs';
appendFileSync(${JSON.stringify(pids)}, process.pid + '\\n');
createServer((request, response) => {
  if (request.url === '/never') return;
  const isRefused = request.url === '/no' || (request.url === '/key' && request.headers['x-key'] !== 'a: b');
  response.statusCode = isRefused ? 500 : 200;
  if (process.env.NODE_OPTIONS?.includes('preload')) for (let i = 0, end = process.argv.includes('slow') ? 3e6 : 0; i < end; i++) Math.sqrt(i);
  response.end('ok');
}).listen(process.argv[2] === '0' ? 0 : process.env.PORT);`,
  );

  /** `spanline bench overhead`, in this process, in rounds as short as they may be. */
  const overhead = (
    args: readonly string[],
    service: readonly string[] = [process.execPath, 'server.mjs'],
    env: NodeJS.ProcessEnv = {},
  ): Promise<Outcome> =>
    spanline(
      ['bench', 'overhead', '--round', '300ms', '--budget', '1s', '--connections', '2', ...args, '--', ...service],
      {
        cwd: project.dir,
        env: {
          OTEL_TRACES_EXPORTER: '',
          OTEL_EXPORTER_OTLP_ENDPOINT: '',
          // A round waits for what is sent behind it.
          OTEL_BSP_SCHEDULE_DELAY: '100',
          SPANLINE_ARCHIVE: '',
          ...env,
        },
      },
    );

  return { overhead, pids };
};
