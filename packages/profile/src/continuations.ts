// Labels across awaits: a promise is stamped with the scope it was made in, and the register holds it while a continuation of the
// promise runs. Costs tens of nanoseconds an await, so the hooks are there only while a profile is taken.
import { promiseHooks } from 'node:v8';
import { timers } from 'spanline/internal/base';
import { ownCode } from './own-frames.js';
import { makeCurrent, NO_SCOPE, register, type Scope } from './shared-state.js';
import type { Timeline } from './trampoline-history.js';

const endOwnCode = ownCode();

class Same {
  constructor(promise: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the derived class puts its private field onto what is returned here.
    return promise;
  }
}

// A private field: no reflection, inspection or comparison of the user's finds it, and it costs what a property costs.
class Stamp extends Same {
  #scope: Scope;

  constructor(promise: object, scope: Scope) {
    super(promise);
    this.#scope = scope;
  }

  static of(promise: object): Scope {
    return #scope in promise ? promise.#scope : NO_SCOPE;
  }
}

const stamp = (promise: object): void => {
  const scope = register.current;
  if (scope !== NO_SCOPE) new Stamp(promise, scope);
};

export interface Following {
  /**
   * To be called from the event loop, where no continuation runs: forgets those that never came to their end, because node:vm
   * terminated them at a time limit.
   */
  settle(): void;
  stop(): void;
  /** Continuations so far. */
  resumptions(): number;
}

/** Follow continuations until it is stopped; into a timeline too, where samples need one. */
export const followContinuations = (timeline?: Timeline): Following => {
  let around = NO_SCOPE;
  // A continuation that drains microtasks itself has others inside.
  const outside: Scope[] = [];
  let depth = 0;
  let isStopping = false;
  let resumptions = 0;

  const before = (promise: object): void => {
    resumptions++;
    if (depth++ > 0) outside.push(around);
    around = register.current;
    makeCurrent(Stamp.of(promise));
    timeline?.enter(register.current, depth > 1);
  };
  const after = (): void => {
    // The continuation that this profile was started in.
    if (depth === 0) return;
    timeline?.leave(depth > 1);
    makeCurrent(around);
    if (--depth > 0) around = outside.pop() ?? NO_SCOPE;
    else if (isStopping) stopHooks();
  };
  const removeHooks = promiseHooks.createHook({ init: stamp, before, after }) as () => void;
  let isStopped = false;
  const stopHooks = (): void => {
    // Node removes the hooks of somebody else when it is asked a second time.
    if (!isStopped) removeHooks();
    isStopped = true;
  };
  const settle = (): void => {
    if (depth > 0) timeline?.leave(false);
    depth = 0;
    outside.length = 0;
    makeCurrent(NO_SCOPE);
    if (isStopping) stopHooks();
  };
  return {
    settle,
    stop: () => {
      isStopping = true;
      // Inside a continuation the register is given back at its end, or it would hold this label for ever.
      if (depth === 0) stopHooks();
      else timers.setImmediate(settle).unref();
    },
    resumptions: () => resumptions,
  };
};

endOwnCode();
