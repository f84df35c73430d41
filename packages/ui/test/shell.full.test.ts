// The frame of the page: every view is reached by link and key, both themes are clean for axe-core, narrow screens do not scroll sideways,
// nothing is loaded from elsewhere, and a token is asked for and then known.
import { describe, expect, test } from 'vitest';
import { buildFirst, scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/index.js';
import { accessibilityFaults } from './support/accessibility.js';
import { hasBrowser, SIZES, useBrowser } from './support/browser.js';
import { useServer } from './support/served.js';

const VIEWS = ['Live', 'Traces', 'Stalls', 'Profiles', 'History', 'Golden'];

describe.skipIf(!hasBrowser)('the frame of the page', () => {
  buildFirst();
  const { open, keepPicture, expectFaults } = useBrowser();
  const serve = useServer();

  test('each view without a source says what to do, in both themes and sizes', async () => {
    const url = await serve({});
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [size, viewport] of Object.entries(SIZES)) {
        const page = await open(url, { colorScheme, viewport });
        for (const view of VIEWS) {
          await page.getByRole('link', { name: view, exact: true }).click();
          // Until it is loaded there is nothing; what is in sight right after the click is of the view before.
          await page.locator('nav a[aria-current=page]', { hasText: view }).waitFor();
          await page.getByText('spanline ui --').waitFor();
          expect(await accessibilityFaults(page)).toEqual([]);
          expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        }
        await keepPicture(page, `empty-${colorScheme}-${size}`);
      }
    }
  });

  test('a view stands in the navigation when there is something for it, or when one is there', async () => {
    await using archive = await Archive.open(scratch()).then((made) =>
      Object.assign(made, { [Symbol.asyncDispose]: () => made.close() }),
    );
    const page = await open(`${await serve({ archive })}#/traces`);
    const links = page.getByRole('navigation').getByRole('link');
    await page.getByText('No trace meets this').waitFor();
    expect(await links.allTextContents()).toEqual(['Live', 'Traces', 'Stalls']);
    await page.keyboard.press('5');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('go to Stalls').waitFor();
    expect(await page.getByRole('dialog').getByText('go to History').count()).toBe(0);
    await page.keyboard.press('Escape');
    expect(new URL(page.url()).hash).toBe('#/traces');
    await page.evaluate(`location.hash = '#/history'`);
    await page.getByText('No history is open').waitFor();
    expect(await links.allTextContents()).toEqual(['Live', 'Traces', 'Stalls', 'History']);
    const other = await open(await serve({ profiles: scratch() }));
    await other.locator('nav a[aria-current=page]', { hasText: 'Profiles' }).waitFor();
    expect(await other.getByRole('navigation').getByRole('link').allTextContents()).toEqual(['Profiles']);
  });

  test('keys go to the views and list themselves', async () => {
    const page = await open(await serve({}));
    await page.getByText('No archive is open').waitFor();
    await page.keyboard.press('5');
    await page.getByText('No history is open').waitFor();
    expect(new URL(page.url()).hash).toBe('#/history');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('go to Golden').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    // What is behind the dialog gets no keys.
    await page.keyboard.press('6');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(new URL(page.url()).hash).toBe('#/history');
    // As keyboards send it that have the sign on a key with AltGr; with Ctrl alone it is the browser's.
    const send = (key: string, more: object) =>
      page.evaluate(`dispatchEvent(new KeyboardEvent('keydown', ${JSON.stringify({ key, ctrlKey: true, ...more })}))`);
    await send('6', {});
    await send('?', { altKey: true, modifierAltGraph: true });
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    expect(new URL(page.url()).hash).toBe('#/history');
    // Enter presses the button that has the focus.
    await page.getByRole('button', { name: /keys/i }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('t');
    await page.locator('html[data-theme=dark]').waitFor();
  });

  test('a token in the address is taken out of it and sent', async () => {
    const token = 'a-long-token/100%+==';
    const url = await serve({}, { token });
    for (const written of [encodeURIComponent(token), token]) {
      const page = await open(`${url}#token=${written}`);
      await page.getByText('No archive is open').waitFor();
      expect(page.url()).not.toContain('a-long-token');
    }
    // The browser logs each answer of 401.
    expectFaults();
    const stranger = await open(url);
    await stranger.getByRole('heading', { name: 'A token is needed' }).waitFor();
    await stranger.getByLabel('token').fill('mistyped');
    await stranger.keyboard.press('Enter');
    await stranger.getByRole('heading', { name: 'A token is needed' }).waitFor();
    expect(await accessibilityFaults(stranger)).toEqual([]);
    await stranger.getByLabel('token').fill(token);
    await stranger.getByRole('button', { name: 'Show' }).click();
    await stranger.getByText('No archive is open').waitFor();
    expect(stranger.url()).not.toContain('a-long-token');
  });

  test('the policy forbids what comes from elsewhere, and framing', async () => {
    const { headers } = await fetch(await serve({}));
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });
});
