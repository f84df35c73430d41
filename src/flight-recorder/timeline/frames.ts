// Frames of a stack as the addon gives them: function, script and line of each, innermost first. Pure functions, called in the middle of any
// code while a sample is taken: they must not throw, and must not call the program's own code.
//
// What a stack goes by where there is room for one function, the same wherever stacks are shown. Over frames for people, as files keep them.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../base/packages.js';

/** Function, script, line; function, script, line... */
export type RawFrames = readonly (string | number)[];

const FIELDS = 3;
const SHOWN_FRAMES = 5;
const MAX_NAME = 100;

/** Where the code of this library lies, as paths and as URLs. In a bundle it cannot be distinguished from its user's. */
const ownFolders = (): string[] => {
  const root = packageRoot();
  if (root === undefined) return [];
  // Packages beside it, in a checkout.
  return ['dist', 'src', 'packages'].flatMap((folder) => {
    const path = join(root, folder, '/');
    return [path, pathToFileURL(path).href];
  });
};
// Before the first sample: it reads files.
const OWN_FOLDERS = ownFolders();
/** Another copy of it, and packages beside it. */
const INSTALLED = '/node_modules/spanline/dist/';
const BESIDE = '/node_modules/@spanline/';

const isOwn = (script: string): boolean => {
  if (script.includes(INSTALLED) || script.includes(BESIDE)) return true;
  for (const folder of OWN_FOLDERS) if (script.startsWith(folder)) return true;
  return false;
};

/**
 * Whether a place is Node's, or WebAssembly: Node's own, as in `fetch`, cannot be distinguished from the program's, which the function around it names
 * as well.
 */
const isSystem = (script: string): boolean => script.startsWith('node:') || script.startsWith('wasm:');

/** Whether a frame has a script that is not Node's. */
const isNotNodes = (script: string | number): boolean =>
  typeof script === 'string' && script !== '' && !isSystem(script);

/** Whether a frame is the program's or another package's. */
const isUsers = (script: string | number): boolean => isNotNodes(script) && !isOwn(script as string);

/** Where the outermost frame of the program is; without one that of this library, such as a report by a timer; -1 where all are Node's. */
export const outermostFrame = (frames: RawFrames): number => {
  let own = -1;
  for (let i = frames.length - FIELDS; i >= 0; i -= FIELDS) {
    if (isUsers(frames[i + 1])) return i;
    if (own < 0 && isNotNodes(frames[i + 1])) own = i;
  }
  return own;
};

/** Where the innermost frame of the program is; 0 where all are Node's or this library's. */
export const innermostFrame = (frames: RawFrames): number => {
  for (let i = 0; i < frames.length; i += FIELDS) if (isUsers(frames[i + 1])) return i;
  return 0;
};

/** Whether both are in the same function, at whatever line. */
export const isSameFunction = (a: RawFrames, i: number, b: RawFrames, j: number): boolean =>
  a[i] === b[j] && a[i + 1] === b[j + 1];

const baseName = (script: string): string => {
  const path = script.split('?', 1)[0];
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
};

const shownFrame = (name: string, script: string, line: number): string => {
  const shown = name === '' ? '(anonymous)' : name.slice(0, MAX_NAME);
  if (script === '') return shown;
  const place = isSystem(script) ? script : `${isOwn(script) ? OWN_SCHEME : ''}${baseName(script)}`;
  return `${shown} ${place.slice(-MAX_NAME)}:${line}`;
};

/** The innermost frames for people, `parse app.js:12`, among them the innermost of the program; this library's are `run spanline:core.js:7`. */
export const shownFrames = (frames: RawFrames): string[] => {
  const shown: string[] = [];
  const users = innermostFrame(frames);
  for (let i = 0; i < frames.length && shown.length < SHOWN_FRAMES; i += FIELDS) {
    const at = shown.length === SHOWN_FRAMES - 1 ? Math.max(i, users) : i;
    shown.push(shownFrame(String(frames[at]), String(frames[at + 1]), Number(frames[at + 2])));
  }
  return shown;
};

/** Begins the place of a frame of this library, as `node:` begins that of Node's. */
const OWN_SCHEME = 'spanline:';

/** A frame of Node's, of WebAssembly or of this library: it shows how something was called, not what. */
const IS_OF_THE_WAY = /(?:^| )(?:node|wasm|spanline):\S+:\d+$/;

/** The stack from the innermost function of the program outwards; all of it where there is none. */
export const namedStack = (shown: readonly string[]): readonly string[] => {
  const at = shown.findIndex((frame) => !IS_OF_THE_WAY.test(frame));
  return at < 0 ? shown : shown.slice(at);
};

/** The innermost function that is neither Node's nor WebAssembly's nor this library's; the innermost of all where there is none. '' for an empty stack. */
export const stackName = (shown: readonly string[]): string => namedStack(shown)[0] ?? '';
