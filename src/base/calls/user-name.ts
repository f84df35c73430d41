// The user that runs this process: the author of a triage unless another name is given.
import { userInfo } from 'node:os';

/** Name of the user of this process, for what is kept with a judgement. */
export const userName = (): string => process.env.USER || userInfo().username || 'unknown';
