// The first span of the process that is made current for what follows, behind an `await`: its caller must not begin inside of it.

import { Span, setReporter } from 'spanline';

setReporter({ name: 'nothing', report: () => {} });

const job = async (): Promise<string | undefined> => {
  await null;
  const scope = Span.root('job').enter();
  const inside = Span.current()?.name;
  await null;
  scope[Symbol.dispose]();
  return inside;
};

const inside = await job();
console.log(JSON.stringify({ inside, after: Span.current()?.name ?? 'none' }));
