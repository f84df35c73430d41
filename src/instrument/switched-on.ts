// What is switched on in this thread, by name: each instrumentation once, however often it is asked for, and by which copy of this
// package. Two at a time would make two spans of one request and send two contexts with it.
import { state } from '../context/process-state.js';
import type { Off } from './channel.js';
import { type Propagator, w3c } from './propagator.js';

/** An instrumentation as somebody asked for it. */
export interface Wish {
  /** It came with options, which hold before one that came without. */
  readonly hasOptions: boolean;
  /** Undefined where none was given: that of another one, if there is one. */
  readonly propagator: Propagator | undefined;
  start(propagator: Propagator): Off;
}

interface Switch {
  /** The newest last. */
  readonly wishes: Wish[];
  active: Wish | undefined;
  /** What the active one was started with, where somebody gave one. */
  propagator?: Propagator | undefined;
  off: Off | undefined;
}

/** Shared by every copy of this package in the thread; an older one has none. */
const switches = (): Map<string, Switch> => {
  state.instrumentations ??= new Map<string, Switch>();
  return state.instrumentations as Map<string, Switch>;
};

/** The newest one with options, else the one that was there first: nothing begins anew for one that asks for no more. */
const chosen = ({ wishes }: Switch): Wish | undefined =>
  wishes.findLast(({ hasOptions }) => hasOptions) ?? wishes.at(0);

const propagatorFor = ({ wishes }: Switch, wish: Wish | undefined): Propagator | undefined =>
  wish?.propagator ?? wishes.findLast(({ propagator }) => propagator !== undefined)?.propagator;

const update = (one: Switch): void => {
  const wish = chosen(one);
  const propagator = propagatorFor(one, wish);
  if (wish === one.active && propagator === one.propagator) return;
  one.off?.();
  one.off = undefined;
  one.active = undefined;
  if (wish === undefined) return;
  one.off = wish.start(propagator ?? w3c);
  one.active = wish;
  one.propagator = propagator;
};

/** Switches the instrumentation `name` on, or its options over, until it is taken back. */
export const switchOn = (name: string, wish: Wish): Off => {
  const all = switches();
  const one: Switch = all.get(name) ?? { wishes: [], active: undefined, off: undefined };
  all.set(name, one);
  const takeBack = (): void => {
    const at = one.wishes.indexOf(wish);
    if (at < 0) return;
    one.wishes.splice(at, 1);
    update(one);
  };
  one.wishes.push(wish);
  try {
    update(one);
  } catch (error) {
    takeBack();
    throw error;
  }
  return takeBack;
};
