// What lies between two commits: the commits after the first up to the second, and how the values of the query differ between the two.
import type { SourceName, StepAnswer } from '../../../api/history/answers.js';
import { get } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { Breakable } from '../../shell/breakable.js';
import { Answer } from '../../shell/states.js';
import { counted, dayOf, figure, percent } from '../../shell/units.js';

const Found = ({ answer, title }: { answer: StepAnswer; title: string }) => (
  <>
    <h3>
      {counted(answer.commits.numbers.length + answer.left, 'commit')} {title}
    </h3>
    <ul>
      {answer.commits.hashes.map((hash, i) => (
        <li key={hash}>
          <code>{hash}</code> <span class="muted">{dayOf(answer.commits.times[i] ?? null)}</span>
        </li>
      ))}
    </ul>
    {answer.left > 0 && <p class="muted">{answer.left} older ones are not listed.</p>}
    <h3>Values before and after</h3>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
    <section class="scroll" aria-label="Values before and after" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Series</th>
            <th scope="col" class="number">
              Before
            </th>
            <th scope="col" class="number">
              After
            </th>
            <th scope="col" class="number">
              Change
            </th>
          </tr>
        </thead>
        <tbody>
          {answer.compared.map((one) => (
            <tr key={one.key}>
              <td class="key">
                <Breakable text={one.key} />
              </td>
              <td class="number">{figure(one.before)}</td>
              <td class="number">{figure(one.after)}</td>
              <td class={`number ${one.verdict}`}>{percent(one.change)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {answer.compared.length === 0 && <p class="muted">No series of the query has a value at both commits.</p>}
      {answer.comparedLeft > 0 && <p class="muted">{answer.comparedLeft} more: narrow the query.</p>}
    </section>
  </>
);

/** `from` and `to` are numbers of commits; `title` says which commits those are. */
export const Between = ({
  source,
  from,
  to,
  query,
  title,
}: {
  source: SourceName;
  from: number;
  to: number;
  query: string;
  title: string;
}) => {
  const answer = useRequest(`${source} ${from} ${to} ${query}`, (signal) =>
    get<StepAnswer>('history/step', { source, from, to, query }, signal),
  );
  return <Answer of={answer}>{(value) => <Found answer={value} title={title} />}</Answer>;
};
