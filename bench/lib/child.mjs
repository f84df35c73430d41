// A benchmark child: imports one subject, then gives rounds as its parent asks for them, so that the parent can take
// turns between subjects. Arguments: the subject's module. A subject exports `subject` (its name) and `cases`.
import { Runner } from './case.mjs';

const send = (message) => process.send(message);

try {
  const { subject, cases } = await import(process.argv[2]);
  const runners = cases.map((test) => new Runner(test));
  process.on('message', async ({ index, timing }) => {
    try {
      send({ ...(await runners[index].round(timing)), note: cases[index].note });
    } catch (error) {
      send({ error: `${cases[index].name} ${cases[index].n}: ${error.stack}` });
    }
  });
  send({ subject, cases: cases.map(({ name, n, unit = 'ns' }) => ({ name, n, unit })) });
} catch (error) {
  send({ error: error.stack });
}
