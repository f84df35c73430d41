// The page in Debian's chromium: how long it takes until it shows what it was asked for, and how long its frames take. Times are the page's own.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { chromiumPath as executablePath } from '../../scripts/lib/chromium.mjs';

const VIEWPORT = { width: 1280, height: 800 };
const TIMEOUT_MS = 120_000;

/** A browser, to be closed. */
export const openBrowser = () => {
  if (!existsSync(executablePath))
    throw new Error(`no ${executablePath} here: apt-get install chromium, or name another by CHROMIUM`);
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync'];
  return chromium.launch({ executablePath, args });
};

/** A page of its own, with nothing in any cache. */
const withPage = async (browser, work) => {
  const context = await browser.newContext({ viewport: VIEWPORT });
  try {
    return await work(await context.newPage(), context);
  } finally {
    await context.close();
  }
};

/** Milliseconds from the begin of loading until `isShown`, JavaScript of the page, has been true for two frames: by then it is drawn. */
const shown = (page, isShown) =>
  page.evaluate(`new Promise((done, fail) => {
    setTimeout(() => fail(new Error('not shown in time: ' + document.body.innerText.slice(0, 500))), ${TIMEOUT_MS});
    const look = () => {
      if (!(${isShown})) requestAnimationFrame(look);
      else requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
    };
    look();
  })`);

/** Milliseconds from the begin of loading to the drawn view. */
export const loadMs = (browser, url, isShown) =>
  withPage(browser, async (page) => {
    await page.goto(url);
    return shown(page, isShown);
  });

/**
 * What each frame does, by name; JavaScript of the page, `i` counts the frames. Keys are what a user holds down.
 */
export const MOVES = {
  zoom: `press(i % 20 < 10 ? '+' : '-')`,
  pan: `press(i < 4 ? '+' : i % 20 < 10 ? ']' : '[')`,
  scroll: `document.querySelector('.rows').scrollTop += 60`,
  step: `press('ArrowDown')`,
};

/** Between so many frames of which the times are taken. */
const FRAMES = 240;

const run = (move) => `new Promise((done) => {
  const press = (key) => dispatchEvent(new KeyboardEvent('keydown', { key }));
  const times = [];
  let last;
  let i = 0;
  const frame = (now) => {
    if (last !== undefined) times.push(now - last);
    last = now;
    if (i === ${FRAMES}) return done(times);
    ${move};
    i++;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})`;

/** Times of frames in milliseconds while one moves in a view, and the time that the page's thread worked for one of them. */
export const frames = (browser, url, isShown, move) =>
  withPage(browser, async (page, context) => {
    await page.goto(url);
    await shown(page, isShown);
    // What is asked behind the view is answered by then.
    await page.waitForLoadState('networkidle');
    const session = await context.newCDPSession(page);
    await session.send('Performance.enable');
    const busyMs = async () => {
      const { metrics } = await session.send('Performance.getMetrics');
      return 1000 * metrics.find(({ name }) => name === 'TaskDuration').value;
    };
    const before = await busyMs();
    const times = await page.evaluate(run(MOVES[move]));
    return { times, workMs: ((await busyMs()) - before) / times.length };
  });
