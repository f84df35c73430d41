// What test files of a run share (global-setup.ts), as a worker asks for it.
import { get } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Shared {
  /** Google's Bigtable emulator: `host` is HOST:PORT. */
  readonly emulator: { readonly host: string };
  /** Chromium as a server of Playwright's: `endpoint` is for `chromium.connect`. */
  readonly browser: { readonly endpoint: string };
}

/** Resolves with what is there to use; starts it where this run has not yet. */
export const shared = async <Name extends keyof Shared>(name: Name): Promise<Shared[Name]> =>
  new Promise((resolve, reject) => {
    get(`${process.env.SPANLINE_TEST_SHARED}/${name}`, async (response) => {
      const answer = await text(response);
      if (response.statusCode === 200) resolve(JSON.parse(answer) as Shared[Name]);
      else reject(new Error(answer));
    }).on('error', reject);
  });
