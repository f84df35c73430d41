// The changes of the series shown, as a table: what the lines in the plot say, for keyboard and screen reader too.
import type { ChangeAnswer } from '../../../api/history/answers.js';
import { Breakable, figure, percent, Table } from '../../shell/texts.js';
import { shortHash } from './series.js';

const SHOWN = 500;

interface ChangesProps {
  readonly changes: readonly ChangeAnswer[];
  /** The change whose step is open. */
  readonly isSelected: (change: ChangeAnswer) => boolean;
  readonly select: (change: ChangeAnswer) => void;
}

export const Changes = ({ changes, isSelected, select }: ChangesProps) => {
  if (changes.length === 0) return <p>No lasting change in these series.</p>;
  return (
    <section class="scroll" aria-label="Changes">
      <Table head={['Commit', 'What', 'Change', 'Before', 'After', 'Triage', 'Series']} align="llrrrll">
        {changes.slice(0, SHOWN).map((change) => (
          <tr key={`${change.commit} ${change.key}`}>
            <td>
              <button type="button" class="mono" aria-pressed={isSelected(change)} onClick={() => select(change)}>
                {shortHash(change.hash)}
              </button>
            </td>
            <td class={change.kind}>{change.kind}</td>
            <td class="number">{percent(change.change)}</td>
            <td class="number">{figure(change.before)}</td>
            <td class="number">{figure(change.after)}</td>
            <td class={change.status}>{change.status}</td>
            <td class="key">
              <Breakable text={change.key} />
            </td>
          </tr>
        ))}
      </Table>
      {changes.length > SHOWN && <p class="muted">{changes.length - SHOWN} more: narrow the query.</p>}
    </section>
  );
};
