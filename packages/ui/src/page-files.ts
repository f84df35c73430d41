// Serves the built page: a few files known at the start, read once, and nothing else of the disk. They tell nothing and are open; the data
// behind them is not. The page may load nothing from elsewhere: its content security policy says so.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { type Call, HttpError, type Route, sendBytes } from '@spanline/archive/internal';
import { packageRoot, SpanlineError } from 'spanline/internal/base';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** The same for clients that take brotli; compressed when it is first asked for. */
  compressed?: Buffer;
}

/** Where the built page lies in the package. */
const pageDirectory = (): string => join(packageRoot(import.meta.url, '@spanline/ui') ?? '', 'dist/ui');

const readFiles = (directory: string): Map<string, PageFile> => {
  try {
    // By their names: entries of a package that lies in an archive, as Yarn keeps it, do not tell their folder.
    const found = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    return new Map(
      found
        .filter((name) => statSync(join(directory, name)).isFile())
        .map((name) => [
          name.replaceAll('\\', '/'),
          { type: TYPES[extname(name)] ?? 'application/octet-stream', bytes: readFileSync(join(directory, name)) },
        ]),
    );
  } catch (cause) {
    throw new SpanlineError(
      'ERR_SPANLINE_NO_PAGE',
      `the page is not in ${directory}: in a checkout run npm run build, else install @spanline/ui again`,
      { cause },
    );
  }
};

const compressedOf = (file: PageFile): Buffer => {
  file.compressed ??= brotliCompressSync(file.bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  return file.compressed;
};

const sendFile = ({ request, response }: Call, name: string, file: PageFile | undefined): void => {
  if (file === undefined) throw new HttpError(404, 'there is nothing at this path');
  const takesBrotli = /\bbr\b/.test(String(request.headers['accept-encoding'] ?? ''));
  // Names of assets hold the hash of what they are.
  const isFixed = name.startsWith('assets/');
  sendBytes(response, 200, file.type, takesBrotli ? compressedOf(file) : file.bytes, {
    'content-security-policy': PAGE_POLICY,
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': isFixed ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
    ...(takesBrotli ? { 'content-encoding': 'br' } : {}),
  });
};

/** The routes of the page's own files. Throws `ERR_SPANLINE_NO_PAGE` when it was not built. */
export const pageRoutes = (directory = pageDirectory()): Route[] => {
  const files = readFiles(directory);
  const route = (path: string, nameOf: (call: Call) => string): Route => ({
    method: 'GET',
    path: path.split('/').slice(1),
    isOpen: true,
    isQuery: false,
    handle: (call) => sendFile(call, nameOf(call), files.get(nameOf(call))),
  });
  return [
    route('/ui', () => 'index.html'),
    route('/ui/*', ({ parts }) => parts[0]),
    route('/ui/assets/*', ({ parts }) => `assets/${parts[0]}`),
  ];
};
