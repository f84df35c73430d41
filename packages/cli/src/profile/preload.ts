// Loaded into a program by `spanline profile run` before the program's own code, which waits for it.
import { started } from './profile-child.js';

await started;
