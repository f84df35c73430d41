// Frames of a stack as the addon gives them: function, script and line of each, innermost first. Pure functions, called in the middle of any
// code while a sample is taken: they must not throw, and must not call the program's own code.

/** Function, script, line; function, script, line... */
export type RawFrames = readonly (string | number)[];

const FIELDS = 3;
const SHOWN_FRAMES = 5;
const MAX_NAME = 100;

/** Whether a frame is the program's or a package's, not Node's. */
const isUsers = (script: string | number): boolean =>
  typeof script === 'string' && script !== '' && !script.startsWith('node:');

/** Where the outermost frame is that is not Node's own; -1 without one. */
export const outermostFrame = (frames: RawFrames): number => {
  for (let i = frames.length - FIELDS; i >= 0; i -= FIELDS) if (isUsers(frames[i + 1])) return i;
  return -1;
};

/** Where the innermost frame is that is not Node's own; 0 without one. */
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
  const place = script.startsWith('node:') ? script : baseName(script);
  return `${shown} ${place.slice(-MAX_NAME)}:${line}`;
};

/** The innermost frames for people, `parse app.js:12`, among them the innermost that is not Node's own. */
export const shownFrames = (frames: RawFrames): string[] => {
  const shown: string[] = [];
  const users = innermostFrame(frames);
  for (let i = 0; i < frames.length && shown.length < SHOWN_FRAMES; i += FIELDS) {
    const at = shown.length === SHOWN_FRAMES - 1 ? Math.max(i, users) : i;
    shown.push(shownFrame(String(frames[at]), String(frames[at + 1]), Number(frames[at + 2])));
  }
  return shown;
};

/** What a stack goes by where there is room for one function: the innermost that is not Node's own. '' for none. */
export const stackName = (shown: readonly string[]): string =>
  shown.find((frame) => !/ node:\S+:\d+$/.test(frame)) ?? shown[0] ?? '';
