// The server of the page alone, where no archive's server carries it, and the browser that shows it. The server must listen to nobody but this
// machine, unless it has a token. Opening the browser must never fail a program: the address is printed too.
import { spawn } from 'node:child_process';
import {
  Guard,
  RequestHandler,
  type RunningHttpServer,
  resolveHttpOptions,
  startHttpServer,
} from '@spanline/archive/internal';
import type { UiSources } from './sources.js';
import { uiRoutes } from './ui-routes.js';

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

/** Where the page is served. */
export interface UiServerOptions {
  /** Address to listen on; any but this machine's own wants a token. */
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly token?: string;
  readonly allowedHosts?: readonly string[];
  /** Version of the package, for the page to show. */
  readonly version: string;
}

/** Serve the page over its sources, which stay open when it closes. `BadOptionsError` for wrong options, `TransportError` when it cannot listen. */
export const createUiServer = async (
  sources: UiSources,
  { version, ...options }: UiServerOptions,
): Promise<RunningHttpServer> => {
  const resolved = resolveHttpOptions(options);
  const guard = new Guard(resolved.token, resolved.allowedHosts, []);
  return startHttpServer(new RequestHandler(uiRoutes(sources, version, true), guard, resolved), resolved);
};
