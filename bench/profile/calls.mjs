// Cases of one call: what it costs to run a tiny function in a label, and to await in one. The function and the await are in the figure;
// the subject `bare` shows what they cost alone. It is always the same, which V8 learns; where a case
// says `any function`, it is not.

export const work = { done: 0 };

export const tiny = () => {
  work.done++;
};

/** Four functions in turn: too many for V8 to know which is called. */
export const several = [
  () => {
    work.done++;
  },
  () => {
    work.done += 2;
  },
  () => {
    work.done += 3;
  },
  () => {
    work.done += 4;
  },
];

/** `start` runs once, before the first call. */
const afterStart = (start, body) => {
  let isStarted = false;
  return (repeats) => {
    if (isStarted) return body(repeats);
    isStarted = true;
    return Promise.resolve(start()).then(() => body(repeats));
  };
};

/** `body(repeats)` makes so many calls. A loop of its own for each subject: what one teaches the optimiser is not the next one's. */
export const callCase = (name, n, body, { start = () => {}, note } = {}) => ({
  name,
  n,
  note,
  opsPerRun: 1,
  run: afterStart(start, body),
});

/** A function that awaits so many times, for the body of a case. */
export const awaitMany = async (repeats) => {
  for (let i = 0; i < repeats; i++) await undefined;
};
