// Opens an address in the user's browser with the command that the system has for it. It must never fail a program: the address is printed too.
import { spawn } from 'node:child_process';

const COMMANDS: Readonly<Partial<Record<NodeJS.Platform, readonly [command: string, ...args: string[]]>>> = {
  darwin: ['open'],
  // `start` takes its first quoted argument for a title.
  win32: ['cmd', '/c', 'start', '""'],
};

/** Ask the system to show an address. Nothing is reported: on a machine without a screen there is nothing to open. */
export const openBrowser = (url: string): void => {
  const [command, ...args] = COMMANDS[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
};
