// Traces of the same shape together. Two of the groups are chosen to be compared.
import type { GroupRow, GroupsAnswer } from '../../../../api/answers.js';
import { useGet } from '../../../api/client.js';
import { goTo, hrefOf, type ViewProps } from '../../../shell/location.js';
import { Answer, Empty } from '../../../shell/states.js';
import { duration, Scrolling, Table } from '../../../shell/texts.js';
import { chosenIn, searchOf, toggled, useTraceLinks } from '../address.js';
import './groups.css';

interface Choice {
  readonly chosen: readonly string[];
  readonly toggle: (digest: string) => void;
}

const Row = ({ group, chosen, toggle }: { group: GroupRow } & Choice) => {
  const { digest, name, service, count, errorCount, spanCount, p50Us, p99Us, slowestId, shape } = group;
  const isChosen = chosen.includes(digest);
  const links = useTraceLinks();
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          checked={isChosen}
          disabled={!isChosen && chosen.length >= 2}
          aria-label={`compare ${name}, shape ${digest.slice(0, 8)}`}
          onChange={() => toggle(digest)}
        />
      </td>
      <td class="number">{count}</td>
      <td class="number">{duration(p50Us)}</td>
      <td class="number">
        <a href={links.hrefOf(slowestId)} title="the slowest of them">
          {duration(p99Us)}
        </a>
      </td>
      <td class={errorCount > 0 ? 'number failed' : 'number'}>{errorCount}</td>
      <td class="number">{spanCount}</td>
      <td>{service}</td>
      <td>
        <details>
          <summary>{name || '(no name)'}</summary>
          <pre>{shape}</pre>
        </details>
      </td>
    </tr>
  );
};

const Groups = ({ parameters }: ViewProps) => {
  const search = searchOf(parameters);
  const chosen = chosenIn(parameters);
  const answer = useGet<GroupsAnswer>('groups', search);
  const toggle = (digest: string): void => goTo('traces/groups', { ...search, ...toggled(chosen, digest) }, true);
  const [a, b] = chosen.map((digest) => `group:${digest}`);
  return (
    <>
      <h1>Traces by shape</h1>
      <p>
        Traces that did the same are one group, however long they took. Choose two to see what differs.{' '}
        <a href={hrefOf('traces', search)}>All traces of this search</a>
      </p>
      <p role="status">
        {b !== undefined ? (
          <a href={hrefOf('traces/compare', { ...search, a, b })}>Compare the two</a>
        ) : (
          `${chosen.length} of 2 chosen`
        )}
      </p>
      <Answer of={answer}>
        {({ groups, traceCount, isFull }) =>
          groups.length === 0 ? (
            <Empty title="No trace meets this" />
          ) : (
            <>
              <p>
                {groups.length} shapes of {traceCount} traces{isFull && ', the newest; there may be more'}
              </p>
              <Scrolling label="groups">
                <Table
                  class="groups"
                  head={['compare', 'traces', 'p50', 'p99', 'failed', 'spans', 'service', 'name and shape']}
                  align="lrrrrrll"
                >
                  {groups.map((group) => (
                    <Row key={group.digest} group={group} chosen={chosen} toggle={toggle} />
                  ))}
                </Table>
              </Scrolling>
            </>
          )
        }
      </Answer>
    </>
  );
};
export default Groups;
