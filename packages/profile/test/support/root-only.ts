// The call tree of made profiles that are about labels and times: a root and nothing else.
import type { ProfileNodes } from '../../src/labelled-profile.js';

export const ROOT_ONLY: ProfileNodes = {
  count: 1,
  parent: Int32Array.of(-1),
  functionName: ['(root)'],
  url: [''],
  line: Int32Array.of(0),
  column: Int32Array.of(0),
};
