// Keeps the process alive while somebody waits for a delivery. Sockets and timers of reporters themselves never do, and
// neither does anything here once the work has settled.

/** Settles with `work`; until then the process does not end for lack of things to do. */
export const holdingProcess = async (work: Promise<void>): Promise<void> => {
  const hold = setInterval(() => {}, 1 << 30);
  try {
    await work;
  } finally {
    clearInterval(hold);
  }
};
