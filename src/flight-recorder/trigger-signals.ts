// Which signals can ask for a snapshot, and what becomes of the process then: the default actions of signals(7), with what Node changes of
// them. A table alone: it listens to nothing.
import { constants } from 'node:os';

// A process without a listener goes on. SIGUSR2 is the exception: it would end the process, and is what Node's own options take
// to ask for a report or a heap snapshot, where the process goes on.
const GOES_ON: readonly string[] = [
  'SIGUSR2',
  'SIGCHLD',
  'SIGCONT',
  'SIGINFO',
  'SIGPIPE',
  'SIGURG',
  'SIGWINCH',
  'SIGXFSZ',
];

const UNSAFE = 'no JavaScript may run after it';
const STOPS = 'it stops a process, which would go on if somebody listened';
const UNHEARD = 'no process can listen to it';

const WHY_NOT: Readonly<Record<string, string>> = {
  SIGKILL: UNHEARD,
  SIGSTOP: UNHEARD,
  SIGTSTP: STOPS,
  SIGTTIN: STOPS,
  SIGTTOU: STOPS,
  SIGBUS: UNSAFE,
  SIGFPE: UNSAFE,
  SIGILL: UNSAFE,
  SIGSEGV: UNSAFE,
  SIGUSR1: 'it opens the inspector of Node',
  SIGPROF: 'CPU profiles need it',
};

/** Why `signal` cannot ask for a snapshot, as the end of a sentence; undefined where it can. */
export const whyNoSignal = (signal: unknown): string | undefined => {
  if (typeof signal !== 'string' || !Object.hasOwn(constants.signals, signal)) {
    return 'must be the name of a signal of this system, such as SIGUSR2';
  }
  const why = Object.hasOwn(WHY_NOT, signal) ? WHY_NOT[signal] : undefined;
  return why === undefined ? undefined : `cannot be ${signal}, for ${why}: take another one, such as SIGUSR2`;
};

/** Whether it ends a process that does not listen to it. */
export const endsByDefault = (signal: NodeJS.Signals): boolean => !GOES_ON.includes(signal);
