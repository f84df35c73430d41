// `node --import spanline/register app.js`: as a module it lets the program wait until everything is there.
import { started } from './index.js';

await started;

export { started };
