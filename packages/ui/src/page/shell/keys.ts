// Keys that work everywhere: each view registers its own while it is shown. A key must never act while the user types into a field, nor be taken
// from what scrolls or moves by itself and has the focus: the attribute data-own-keys says so.
import { useLayoutEffect, useState } from 'preact/hooks';

/** A key as `KeyboardEvent.key` names it, what it does in a few words, and the doing. */
interface Key {
  readonly key: string;
  readonly does: string;
  readonly act: (event: KeyboardEvent) => void;
}

const active = new Set<readonly Key[]>();
const watchers = new Set<() => void>();

/** A box that is ticked takes no text. */
const TEXTS = 'input:not([type=checkbox], [type=radio]), textarea, select';

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches(TEXTS));

const OWN = /^(Arrow|Page|Home$|End$|Enter$| $)/;
const PRESSES = /^(Enter| )$/;
const PRESSED = 'button, a[href], input, summary';

/** Whether the focus lies in something that uses this key itself. */
const isOwn = ({ target, key }: KeyboardEvent): boolean =>
  target instanceof Element &&
  ((OWN.test(key) && target.closest('[data-own-keys]') !== null) ||
    (PRESSES.test(key) && target.closest(PRESSED) !== null));

/** A command of the browser or of the system. On many keyboards signs such as brackets are typed with Alt, which some systems call Ctrl and Alt. */
const isCommand = (event: KeyboardEvent): boolean => {
  if (event.getModifierState('AltGraph') || (event.altKey && /^[^\p{L}\p{N}\s]$/u.test(event.key)))
    return event.metaKey;
  return event.ctrlKey || event.metaKey || event.altKey;
};

const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null;

const onKey = (event: KeyboardEvent): void => {
  if (isCommand(event) || isDialogOpen() || (isTyping(event) && event.key !== 'Escape') || isOwn(event)) return;
  for (const keys of [...active].reverse()) {
    const found = keys.find(({ key }) => key === event.key);
    if (found === undefined) continue;
    event.preventDefault();
    found.act(event);
    return;
  }
};
addEventListener('keydown', onKey);

/** Have these keys while the component is shown. Later components go before earlier ones. */
export const useKeys = (keys: readonly Key[]): void => {
  // Before the next frame: who sees a view may press its keys.
  useLayoutEffect(() => {
    active.add(keys);
    for (const watch of watchers) watch();
    return () => {
      active.delete(keys);
      for (const watch of watchers) watch();
    };
  });
};

/** All keys of now, for the list of help. */
export const useActiveKeys = (): readonly Key[] => {
  const [, draw] = useState(0);
  useLayoutEffect(() => {
    const watch = (): void => draw((count) => count + 1);
    watchers.add(watch);
    return () => {
      watchers.delete(watch);
    };
  }, []);
  return [...active].flat();
};
