// What changed between two profiles, by label: shares of the CPU, not times, with the interval of each change and whether it is beyond noise.
import type { ProfileDiff } from '../../../api/profiles/answers.js';
import { get } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { Words } from '../../shell/breakable.js';
import { Answer } from '../../shell/states.js';
import { nameOf, percent, points } from './numbers.js';
import type { Choice } from './profile-choice.js';

const Changes = ({ diff, choice }: { diff: ProfileDiff; choice: Choice }) => (
  <>
    <div class="scroll">
      <table class="labels">
        <thead>
          <tr>
            <th>{diff.by}</th>
            <th class="number">before</th>
            <th class="number">after</th>
            <th class="number">points</th>
            <th class="number">95 % interval</th>
            <th class="number">p</th>
            <th>verdict</th>
          </tr>
        </thead>
        <tbody>
          {diff.changes.map(({ value, before, after, change, low, high, pValue, verdict }) => (
            <tr key={value}>
              <td class="value">
                <a href={choice.href({ by: diff.by, ...choice.ofValue(value) })}>
                  <Words text={nameOf(value)} />
                </a>
              </td>
              <td class="number">{percent(before)}</td>
              <td class="number">{percent(after)}</td>
              <td class="number">{points(change)}</td>
              <td class="number">
                {points(low)} to {points(high)}
              </td>
              <td class="number">{pValue < 0.001 ? pValue.toExponential(1) : pValue.toFixed(3)}</td>
              <td class={`profiles-${verdict}`}>{verdict}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    <p class="muted">
      Shares are compared, not times: the profiles may differ in length and load. “same” is within noise or below one
      point; p-values are corrected for the number of labels.
      {diff.omitted > 0 && ` ${diff.omitted} more labels are not shown.`}
    </p>
  </>
);

export const DiffTable = ({ choice }: { choice: Choice }) => {
  const { name, before, by } = choice;
  const key = JSON.stringify([name, before, by]);
  const answer = useRequest(key, (signal) => get<ProfileDiff>('profiles/diff', { name, before, by }, signal));
  return <Answer of={answer}>{(diff) => <Changes diff={diff} choice={choice} />}</Answer>;
};
