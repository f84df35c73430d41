// Asks the system to show an address in its browser. The address must never be an argument of a program, which every user of the machine can read: it
// holds the token. It is in a file for this user alone that leads there, and is removed again. Nothing here may fail a program, and nothing is
// reported: on a machine without a screen there is nothing to open, and the address is printed too.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attempt, timers } from 'spanline/internal/base';

const COMMANDS: Readonly<Partial<Record<NodeJS.Platform, readonly [command: string, ...args: string[]]>>> = {
  darwin: ['open'],
  // `start` takes its first quoted argument for a title.
  win32: ['cmd', '/c', 'start', '""'],
};

/** Milliseconds after which a browser has read the file. */
const READ_MS = 60_000;

/** A page that leads to the address, and stays out of the browser's history. */
const pageTo = (url: string): string => {
  const address = JSON.stringify(url).replaceAll('<', '\\u003c');
  return `<!doctype html><meta charset="utf-8"><title>spanline</title><script>location.replace(${address})</script>\n`;
};

/** Its file, which is removed after a while, or when this process exits. */
const fileTo = (url: string): string => {
  // Its mode is 0700.
  const directory = mkdtempSync(join(tmpdir(), 'spanline-open-'));
  const remove = (): void => {
    process.off('exit', remove);
    attempt(() => rmSync(directory, { recursive: true, force: true }));
  };
  process.on('exit', remove);
  timers.setTimeout(remove, READ_MS).unref();
  const file = join(directory, 'open.html');
  writeFileSync(file, pageTo(url), { mode: 0o600 });
  return file;
};

/** Ask the system to show an address. */
export const openBrowser = (url: string): void => {
  attempt(() => {
    const [command, ...args] = COMMANDS[process.platform] ?? ['xdg-open'];
    const child = spawn(command, [...args, fileTo(url)], { stdio: 'ignore', detached: true });
    child.on('error', () => {});
    child.unref();
  });
};
