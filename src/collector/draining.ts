// Waits for pipelines and retires them. A reporter that rejects or hangs must not affect the caller.
import type { Pipeline } from './pipeline.js';

/** Wait until what was pushed before `mark` is out of this process. */
export const drained = async (pipeline: Pipeline, mark: number): Promise<void> => {
  await pipeline.whenSettled(mark);
  try {
    await pipeline.reporter.flush?.();
  } catch (error) {
    pipeline.lastError = String(error);
  }
};

/** Stop a pipeline and release its reporter, once: every call waits for the same release. */
export const retire = (pipeline: Pipeline): Promise<void> => {
  pipeline.released ??= release(pipeline);
  return pipeline.released;
};

const release = async (pipeline: Pipeline): Promise<void> => {
  pipeline.close();
  try {
    await pipeline.reporter.shutdown?.();
  } catch (error) {
    pipeline.lastError = String(error);
  }
};
