// Calls that wait for an answer of a connection. One that the program destroys need call nobody back: their spans must not stay open then, nor their traces.
// That is heard until the last of them is over, also when the instrumentation is taken back meanwhile.
import { getOrMake } from '../../base/maps/maps.js';
import { InFlight, quiet } from '../channel.js';
import type { Ending } from '../ending.js';
import type { Method } from '../replace-method.js';

/** The calls of one instrumentation, by their connections. */
export class Unanswered extends InFlight {
  readonly #open = new WeakMap<object, Set<Ending>>();
  readonly #lost: object;

  /** `lost` is what calls fail by whose connection is destroyed. */
  constructor(lost: object) {
    super();
    this.#lost = lost;
  }

  /** `end`, to be called once: by what gets the answer, else by the end of `connection`. */
  follow(connection: object, end: Ending): Ending {
    const open = getOrMake(this.#open, connection, () => new Set<Ending>());
    const ended = quiet((error: unknown): void => {
      if (!open.delete(ended)) return;
      this.ended();
      end(error);
    });
    open.add(ended);
    this.begun();
    return ended;
  }

  /** In place of the method `destroy` of connections. */
  readonly destroying = (destroy: Method): Method => {
    const endAll = (connection: object): void => {
      for (const ended of [...(this.#open.get(connection) ?? [])]) ended(this.#lost);
    };
    return function (this: unknown, ...args) {
      try {
        return Reflect.apply(destroy, this, args);
      } finally {
        endAll(this as object);
      }
    };
  };
}
