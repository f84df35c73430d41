// Where an object of an S3-compatible store is. Keys are any text: they must reach the server as they are, never as a path that
// somebody tidies up.
import { BadOptionsError } from '../graph-error.js';

/** An object's place. */
export interface S3Location {
  readonly bucket: string;
  readonly key: string;
}

/** The parts of `s3://bucket/key`. */
export const parseS3Location = (text: string): S3Location => {
  const match = /^s3:\/\/([^/]+)\/(.+)$/s.exec(text);
  if (match === null) throw new BadOptionsError(`${text} is no place of an object: write s3://bucket/key`);
  const [, bucket, key] = match;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,253}$/.test(bucket)) throw new BadOptionsError(`${bucket} is no name of a bucket`);
  if (key.split('/').some((part) => part === '.' || part === '..')) {
    throw new BadOptionsError(`the key ${key} cannot be asked for over HTTP: . and .. vanish from paths`);
  }
  return { bucket, key };
};

const encodeKey = (key: string): string =>
  key
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`))
    .join('/');

/** The address of an object: at `endpoint` when there is one, else at Amazon's store in `region`. */
export const s3Address = ({ bucket, key }: S3Location, region: string, endpoint: string | undefined): string => {
  if (endpoint !== undefined) {
    if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) {
      throw new BadOptionsError(`the endpoint ${endpoint} is no http or https address`);
    }
    return `${endpoint.replace(/\/+$/, '')}/${bucket}/${encodeKey(key)}`;
  }
  if (!/^[a-z0-9-]{1,63}$/.test(region)) throw new BadOptionsError(`${region} is no region`);
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  // A certificate of the store covers one label before its name.
  return bucket.includes('.')
    ? `https://${host}/${bucket}/${encodeKey(key)}`
    : `https://${bucket}.${host}/${encodeKey(key)}`;
};
