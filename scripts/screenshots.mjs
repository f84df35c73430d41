// npm run screenshots: the pictures of README.md, of what `npm run demo -- --ui` shows, in Debian's chromium. They are made by hand when the page has
// changed, and are not part of the package. Must not draw anything that the demo has not made.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser } from '../bench/page/browser.mjs';
import { failWith, root } from './lib/run.mjs';

const FOLDER = join(root, 'docs/images');
const MAX_BYTES = 100_000;
/** Of WebP; text is clear. */
const QUALITY = 85;
const VIEWPORT = { width: 1280, height: 800 };

/** What Live has to show needs some seconds. */
const WARM_UP_MS = 20_000;

const first = (page, selector) => page.locator(selector).first();

const PICTURES = {
  live: {
    hash: 'live',
    async show(page) {
      await page.getByRole('heading', { name: 'The last minute' }).waitFor();
      await page.waitForTimeout(WARM_UP_MS);
    },
  },
  // From the stall that was planted to a request that waited for it.
  trace: {
    hash: 'stalls',
    async show(page) {
      const cards = page.locator('.stall').filter({ has: page.getByRole('link', { name: 'GET /report' }) });
      await cards
        .getByRole('link', { name: /^query (?!report)/ })
        .first()
        .click();
      await first(page, 'canvas').waitFor();
    },
  },
  profile: {
    hash: 'profiles?by=query',
    show: (page) => first(page, 'canvas').waitFor(),
  },
  history: {
    hash: 'history',
    show: (page) => first(page, '.plot canvas').waitFor(),
  },
};

/** The demo, serving its page, and the address of that. */
async function startDemo() {
  const demo = spawn(process.execPath, [join(root, 'scripts/demo.mjs'), '--ui'], {
    cwd: root,
    env: { ...process.env, JAEGER_ENDPOINT: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const text of demo.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += text;
    const url = /^http:\S+\/ui(?=#|$)/m.exec(output)?.[0];
    if (url !== undefined) {
      demo.stdout.resume();
      return { demo, url };
    }
  }
  throw new Error(`the demo ended without its page:\n${output}`);
}

async function picture(browser, url, name, { hash, show }) {
  const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' });
  await page.goto(`${url}#/${hash}`);
  await show(page);
  // Two frames after the data is there it is drawn.
  await page.waitForTimeout(500);
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await page.close();
  const bytes = Buffer.from(data, 'base64');
  const path = `docs/images/${name}.webp`;
  if (bytes.length > MAX_BYTES) throw new Error(`${path} would have ${bytes.length} bytes, more than ${MAX_BYTES}`);
  writeFileSync(join(root, path), bytes);
  console.log(`${path}  ${bytes.length} bytes`);
}

async function main() {
  mkdirSync(FOLDER, { recursive: true });
  const { demo, url } = await startDemo();
  const browser = await openBrowser();
  try {
    for (const [name, how] of Object.entries(PICTURES)) await picture(browser, url, name, how);
  } finally {
    await browser.close();
    const ended = once(demo, 'exit');
    demo.kill('SIGTERM');
    await ended;
  }
}

await main().catch(failWith);
