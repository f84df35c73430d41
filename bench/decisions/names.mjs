// Question: should a queue keep a name as a number (interned through a Map) or as a reference to the string?
// Answer: as a reference. The look-up costs 4 to 6 ns a span, more than all other bookkeeping, and would need a bound
// for names made at run time (node bench/decisions/names.mjs).
import { time } from './support.mjs';

const SIZE = 128;
const NAMES = ['parse', 'plan', 'read', 'join', 'sort', 'send'];
const ids = new Map();
const intern = (name) => {
  let id = ids.get(name);
  if (id === undefined) {
    id = ids.size;
    ids.set(name, id);
  }
  return id;
};
const references = Array.from({ length: SIZE }, () => '');
const numbers = Array.from({ length: SIZE }, () => 0);

time('keep a reference', 100, () => {
  for (let i = 0; i < 100; i++) references[i] = NAMES[i % 6];
});
time('intern and keep a number', 100, () => {
  for (let i = 0; i < 100; i++) numbers[i] = intern(NAMES[i % 6]);
});
