// Frames of this room on the stacks of users' code. A flame graph without labels must look as if there were none.

/** Functions of one script of ours. */
export interface OwnFrames {
  /** As V8 names the script; undefined in a bundle that became CommonJS, whose frames stay in the graph. */
  readonly url: string | undefined;
  readonly names: readonly string[];
}

/** Tells whether a frame is one of these. */
export const ownFrames = (all: readonly OwnFrames[]): ((functionName: string, url: string) => boolean) => {
  const byUrl = new Map<string, Set<string>>();
  for (const { url, names } of all) {
    if (url === undefined) continue;
    byUrl.set(url, new Set([...(byUrl.get(url) ?? []), ...names]));
  }
  return (functionName, url) => byUrl.get(url)?.has(functionName) ?? false;
};
