// The program that only loads @spanline/archive, and with it the graph format and the core: what `SPANLINE_ARCHIVE` adds to a start.
import '../../packages/archive/dist/esm/index.js';
