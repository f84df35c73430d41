// What a command on a bucket finds in its environment: the account of the server, and a cache and spools below a directory of the test.
import { join } from 'node:path';
import type { RunningVersitygw } from '../../../../test/support/versitygw.js';

/** The variables; where nothing else is set, no archive and no token are. */
export const bucketEnvironment = (server: RunningVersitygw, directory: string): Record<string, string> => {
  const { endpoint, accessKeyId, secretAccessKey, region } = server;
  return {
    ...{ AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
    ...{ AWS_REGION: region, XDG_CACHE_HOME: join(directory, 'cache'), SPANLINE_SPOOL: join(directory, 'spools') },
    ...{ SPANLINE_ARCHIVE: '', SPANLINE_TOKEN: '' },
  };
};
