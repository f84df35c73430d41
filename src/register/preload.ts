// The entry `spanline/register` as a module, `node --import spanline/register app.js`: the program begins when everything is there.
import { started } from './index.js';

await started;

export { started };
