// Trampolines: functions that call another function and must never be inlined by V8, or the frame that a sample is told apart by
// is not there. Each has source text and a name of its own; V8 does not tell closures of one text apart.
import { runInNewContext, runInThisContext } from 'node:vm';

/** Calls `fn` and leaves a frame of its own on the stack while it runs. */
export type Trampoline = <T>(fn: () => T) => T;

/** What keeps V8 from inlining. Neither way is promised by V8: a self-test decides. */
export type TrampolineKind = 'second-context' | 'padded';

/** The file name of every trampoline, as samples show it. */
export const TRAMPOLINE_URL = 'spanline:trampoline';

const PREFIX = 'trampoline_';

/** The name that samples, perf and eBPF show. */
const nameOf = (index: number): string => `${PREFIX}${index}`;

/** The index in a function name of {@link TRAMPOLINE_URL}; -1 for any other function. */
export const trampolineIndex = (functionName: string, url: string): number =>
  url === TRAMPOLINE_URL && functionName.startsWith(PREFIX) ? Number(functionName.slice(PREFIX.length)) : -1;

// More bytecode than V8 inlines (460 to 920 bytes), in a branch that is never taken.
const PADDING_STATEMENTS = 400;
const padding = `if (fn === undefined) {${'fn = [fn];'.repeat(PADDING_STATEMENTS)}}`;

const sourceOf = (kind: TrampolineKind, first: number, count: number): string => {
  const body = `${kind === 'padded' ? padding : ''} return fn();`;
  return `[${Array.from({ length: count }, (_, i) => `function ${nameOf(first + i)}(fn) { ${body} }`).join(',\n')}]`;
};

/** Trampolines number `first` and up. */
export const makeTrampolines = (kind: TrampolineKind, first: number, count: number): readonly Trampoline[] => {
  const source = sourceOf(kind, first, count);
  const options = { filename: TRAMPOLINE_URL };
  // TurboFan inlines no function of another context. Maglev does where it knows the target: see TrampolinePool.run.
  const made: unknown = kind === 'padded' ? runInThisContext(source, options) : runInNewContext(source, {}, options);
  return Array.from(made as ArrayLike<Trampoline>);
};
