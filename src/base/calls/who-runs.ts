// Who runs this process: that is who triages unless another name is given.
import { userInfo } from 'node:os';

/** Name of the user of this process, for what is kept with a judgement. */
export const whoRuns = (): string => process.env.USER || userInfo().username || 'unknown';
