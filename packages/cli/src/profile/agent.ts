// Loaded into a running process by `spanline profile attach`: profiles its main thread for a time and gives the profile back as text.
// Must leave nothing behind when it is done.
import { findSourceMap } from 'node:module';
import { openSourceMaps, openWriter, type ProfileFormat, profile, resolveSources } from '@spanline/profile';

export interface AttachOptions {
  readonly durationMs: number;
  readonly everyMs: number;
  readonly format: ProfileFormat;
  readonly sourceMaps: boolean;
}

export interface AttachAnswer {
  /** The file, in base64. */
  readonly file: string;
  readonly samples: number;
  readonly labelled: number;
}

let current: AbortController | undefined;

/** Profile this process; other calls meanwhile fail. */
export const attach = async ({ durationMs, everyMs, format, sourceMaps }: AttachOptions): Promise<AttachAnswer> => {
  // Before anything is waited for: an end that is asked for meanwhile must not be lost. A second caller, who is refused, must not take it over.
  const controller = new AbortController();
  current ??= controller;
  try {
    const writer = await openWriter(format);
    const maps = sourceMaps ? await openSourceMaps({ lookup: (url) => findSourceMap(url)?.payload }) : undefined;
    const taken = await profile({ durationMs, everyMs, signal: controller.signal });
    const file = Buffer.from(writer.write(maps === undefined ? taken : resolveSources(taken, maps))).toString('base64');
    return { file, samples: taken.counts.total, labelled: taken.counts.labelled };
  } finally {
    if (current === controller) current = undefined;
  }
};

/** End the profile before its time. */
export const finish = (): void => current?.abort();
