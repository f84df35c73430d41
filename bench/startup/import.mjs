// The program that only loads spanline.
import '../../dist/esm/index.js';
