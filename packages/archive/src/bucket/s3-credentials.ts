// Who asks, where and how: credentials, region and endpoint by the options, AWS's standard variables, its files and its providers, which refresh. What
// expires must be fetched again before it does; a secret must never be in a message, nor half of one be mixed with half of another.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { attempt, missingPackage, timers } from 'spanline/internal/base';
import { type BucketError, bucketError } from './bucket-error.js';

/** What a request is signed with. */
export interface BucketCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** When they are good no longer. */
  readonly expiration?: Date | undefined;
}

/** Gives credentials as they are now. */
export type CredentialsProvider = () => Promise<BucketCredentials>;

/** Set, and not to nothing. */
const variable = (...names: string[]): string | undefined =>
  names.map((name) => process.env[name]).find((value) => value !== undefined && value !== '');

/** The settings of the profile in AWS's configuration file. */
const profileSettings = (): ReadonlyMap<string, string> => {
  const settings = new Map<string, string>();
  const profile = variable('AWS_PROFILE') ?? 'default';
  const wanted = new Set([`profile ${profile}`, ...(profile === 'default' ? ['default'] : [])]);
  // A user without an entry and without HOME has no home folder either.
  const text = attempt(() => readFileSync(variable('AWS_CONFIG_FILE') ?? join(homedir(), '.aws/config'), 'utf8')) ?? '';
  let isWanted = false;
  for (const line of text.split(/\r?\n/)) {
    const section = /^\s*\[\s*(.*?)\s*\]/.exec(line)?.[1];
    if (section !== undefined) isWanted = wanted.has(section.replace(/\s+/g, ' '));
    const [, name, value] = (isWanted && /^(\w+)\s*=\s*(.*?)\s*$/.exec(line)) || [];
    if (name !== undefined && value !== '') settings.set(name, value);
  }
  return settings;
};

/** Where the store is. */
export const regionAndEndpoint = (given: {
  readonly region?: string | undefined;
  readonly endpoint?: string | undefined;
}): { readonly region: string; readonly endpoint: string | undefined } => {
  const region = given.region ?? variable('AWS_REGION', 'AWS_DEFAULT_REGION');
  const endpoint = given.endpoint ?? variable('AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL');
  if (region !== undefined && endpoint !== undefined) return { region, endpoint };
  const settings = profileSettings();
  return {
    region: region ?? settings.get('region') ?? 'us-east-1',
    endpoint: endpoint ?? settings.get('endpoint_url'),
  };
};

const fromVariables = (): BucketCredentials | undefined => {
  const accessKeyId = variable('AWS_ACCESS_KEY_ID');
  const secretAccessKey = variable('AWS_SECRET_ACCESS_KEY');
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: variable('AWS_SESSION_TOKEN') };
};

const WHAT_TO_SET =
  'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give a profile, a role or another source that AWS knows';

const fromSdk = async (name: string): Promise<BucketCredentials> => {
  const failed = (message: string, options: ErrorOptions): BucketError =>
    bucketError('NO_CREDENTIALS', message, options);
  let provide: CredentialsProvider;
  try {
    const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
    provide = defaultProvider();
  } catch (cause) {
    throw missingPackage(
      cause,
      '@aws-sdk/credential-provider-node',
      `${name} with credentials that are not in the environment`,
      (message, options) => failed(`${message}; or ${WHAT_TO_SET}`, options),
    );
  }
  try {
    return await provide();
  } catch (cause) {
    throw failed(`there are no credentials for ${name}: ${WHAT_TO_SET} (${(cause as Error).name})`, { cause });
  }
};

/** Credentials are fetched again so long before they expire. */
const MARGIN_MS = 60_000;

/** Keeps credentials, and fetches them again in time. */
export class Credentials {
  readonly #provide: CredentialsProvider;
  #known: BucketCredentials | undefined;
  #fetching: Promise<BucketCredentials> | undefined;

  /** `name` is the archive's, for messages. */
  constructor(name: string, provide?: CredentialsProvider) {
    this.#provide = provide ?? (async () => fromVariables() ?? (await fromSdk(name)));
  }

  async get(): Promise<BucketCredentials> {
    const { expiration } = this.#known ?? {};
    const isGood = expiration === undefined || expiration.getTime() - timers.wallMs() > MARGIN_MS;
    if (this.#known !== undefined && isGood) return this.#known;
    this.#fetching ??= this.#provide().finally(() => {
      this.#fetching = undefined;
    });
    this.#known = await this.#fetching;
    return this.#known;
  }

  /** The store refused these: they are fetched again, unless that has happened meanwhile. */
  forget(refused: BucketCredentials): void {
    if (this.#known === refused) this.#known = undefined;
  }
}
