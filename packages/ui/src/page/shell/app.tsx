// The frame around every view: navigation, theme, the list of keys that work now, and the views by their name in the address. Each view is loaded when it
// is first shown, so that the page starts small. A view that fails must not take the frame with it.

import { Component, type ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SourcesAnswer } from '../../api/answers.js';
import { useGet } from '../api/client.js';
import { useActiveKeys, useKeys } from './keys.js';
import { goTo, hrefOf, usePlace, type ViewProps } from './location.js';
import { Answer, Empty, Failure, type Load, Loaded } from './states.js';
import { useTheme } from './theme.js';

type Sources = ViewProps['sources'];

/** A view in the navigation. */
interface View {
  readonly name: string;
  readonly title: string;
  /** The key that goes there. */
  readonly key: string;
  /** Whether the server has anything for it. */
  readonly isServed: (sources: Sources) => boolean;
  readonly load: Load;
}

const hasTraces = ({ archive, snapshots }: Sources): boolean => archive || snapshots;

const VIEWS: readonly View[] = [
  {
    name: 'live',
    title: 'Live',
    key: '1',
    isServed: ({ archive, metrics }) => archive || metrics,
    load: () => import('../views/live/live.js'),
  },
  { name: 'traces', title: 'Traces', key: '2', isServed: hasTraces, load: () => import('../views/traces/traces.js') },
  { name: 'stalls', title: 'Stalls', key: '3', isServed: hasTraces, load: () => import('../views/stalls/stalls.js') },
  {
    name: 'profiles',
    title: 'Profiles',
    key: '4',
    isServed: ({ profiles }) => profiles,
    load: () => import('../views/profiles/profiles.js'),
  },
  {
    name: 'history',
    title: 'History',
    key: '5',
    isServed: ({ perf, history }) => perf || history,
    load: () => import('../views/history/history.js'),
  },
  {
    name: 'golden',
    title: 'Golden',
    key: '6',
    isServed: ({ gold }) => gold,
    load: () => import('../views/golden/golden.js'),
  },
];

/** The view of a name in the address; `traces/compare` belongs to Traces. */
const viewOf = (name: string): View | undefined => VIEWS.find((one) => one.name === name.split('/')[0]);

/**
 * Those that stand in the navigation: what the server has something for, and where one is, however one came there. Where it has nothing at all they
 * all do, each with the command that brings it.
 */
const shownViews = (sources: Sources, current: View | undefined): readonly View[] => {
  const shown = VIEWS.filter((view) => view.isServed(sources));
  return shown.length === 0 ? VIEWS : VIEWS.filter((view) => view === current || shown.includes(view));
};

/** The name of the view that an address without one means. */
const startOf = (sources: Sources): string => shownViews(sources, undefined)[0].name;

const KeyList = ({ close }: { close: () => void }) => {
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

interface GuardedProps {
  /** Where the page is: a view that failed is tried again when one goes elsewhere. */
  readonly place: string;
  readonly children: ComponentChildren;
}

class Guarded extends Component<GuardedProps, { error?: Error }> {
  override state: { error?: Error } = {};

  static override getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override componentDidUpdate({ place }: GuardedProps): void {
    if (place !== this.props.place && this.state.error !== undefined) this.#again();
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <>
        <Failure error={error} />
        <p class="state">
          <button type="button" onClick={() => this.#again()}>
            Try again
          </button>
        </p>
      </>
    );
  }

  #again(): void {
    this.setState({ error: undefined });
  }
}

export const App = () => {
  const { view: asked, parameters } = usePlace();
  const [theme, toggleTheme] = useTheme();
  const [isHelp, setHelp] = useState(false);
  const answer = useGet<SourcesAnswer>('sources');
  const sources = answer.value?.sources;
  const name = asked === '' && sources !== undefined ? startOf(sources) : asked;
  const view = viewOf(name);
  const shown = sources === undefined ? [] : shownViews(sources, view);
  useKeys([
    { key: '?', does: 'show this list', act: () => setHelp(true) },
    { key: 't', does: 'light or dark', act: toggleTheme },
    ...shown.map(({ key, name, title }) => ({ key, does: `go to ${title}`, act: () => goTo(name) })),
  ]);
  useEffect(() => {
    document.title = view === undefined ? 'spanline' : `${view.title} – spanline`;
  }, [view]);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header>
        <span class="brand">spanline</span>
        <nav aria-label="Views">
          {shown.map((one) => (
            <a key={one.name} href={hrefOf(one.name)} aria-current={one === view ? 'page' : undefined}>
              {one.title}
            </a>
          ))}
        </nav>
        <button type="button" onClick={toggleTheme} aria-label={`use the ${theme === 'dark' ? 'light' : 'dark'} theme`}>
          {theme === 'dark' ? '☀' : '☾'}
        </button>
        <button type="button" onClick={() => setHelp(true)} aria-label="keys">
          ?
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        <Answer of={answer}>
          {({ sources }) =>
            view === undefined ? (
              <Empty title={`There is no view ${name}`} />
            ) : (
              <Guarded key={view.name} place={hrefOf(name, parameters)}>
                <Loaded
                  load={view.load}
                  path={name.split('/').slice(1).join('/')}
                  parameters={parameters}
                  sources={sources}
                />
              </Guarded>
            )
          }
        </Answer>
      </main>
      {isHelp && <KeyList close={() => setHelp(false)} />}
    </>
  );
};
