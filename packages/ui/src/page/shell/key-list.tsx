// The list of keys that work now.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useActiveKeys } from './keys.js';

export const KeyList = ({ close }: { close: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const keys = useActiveKeys();
  return (
    // The event of its closing comes later than the closing: who asks for the list between the two would not get it.
    <dialog ref={dialog} onCancel={close} onSubmit={close} onClose={close} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {keys.map(({ key, does }) => (
          <div key={key}>
            <dt>
              <kbd>{key === ' ' ? 'Space' : key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
};
