// The current frame of the async context, read and set by V8's own functions, which optimised code has inline. Only Node with frames has
// a use for them; whether this one has frames is found by the self-test, not here.
import { loadFastCall } from '../clock/binding.js';

const native = loadFastCall().module;

/** Whether this Node gives access to its frames at all. */
export const hasAccess = native?.currentFrame !== undefined && native.setFrame !== undefined;

const none = (): undefined => undefined;

/** What is current; undefined outside any context. */
export const currentFrame: () => unknown = native?.currentFrame ?? none;

/** Make `frame`, which Node will ask as it asks a Map, the current one. */
export const setFrame: (frame: unknown) => void = native?.setFrame ?? none;
