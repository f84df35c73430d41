// The CPU time of one trace over all profiles of the directory: the way from a span to its samples.
import type { TraceCpu } from '../../../api/profiles/answers.js';
import { get } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { hrefOf } from '../../shell/location.js';
import { Answer, Empty } from '../../shell/states.js';
import { milliseconds } from './numbers.js';

const MOST_SPANS = 50;

const Found = ({ id, cpu }: { id: string; cpu: TraceCpu }) => {
  const skipped = cpu.skipped > 0 && <p class="muted">{cpu.skipped} files were not looked into.</p>;
  if (cpu.profiles.length === 0)
    return (
      <Empty title="No profile has a sample of this trace">
        <p>It ran while no profile was taken, or for less than the time between two samples.</p>
        {skipped}
      </Empty>
    );
  return (
    <>
      <h1>
        CPU time of trace <a href={hrefOf('traces/show', { id })}>{id}</a>
      </h1>
      <ul>
        {cpu.profiles.map(({ name, cpuNs }) => (
          <li key={name}>
            <a href={hrefOf('profiles', { name, by: 'trace_id', value: id })}>{name}</a> {milliseconds(cpuNs)}
          </li>
        ))}
      </ul>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>span</th>
              <th class="number">CPU itself</th>
              <th class="number">error</th>
              <th class="number">samples</th>
            </tr>
          </thead>
          <tbody>
            {cpu.spans.slice(0, MOST_SPANS).map(({ spanId, profile, cpuNs, stderrNs, samples }) => (
              <tr key={spanId}>
                <td class="mono">
                  <a href={hrefOf('profiles', { name: profile, by: 'span_id', value: spanId })}>{spanId}</a>
                </td>
                <td class="number">{milliseconds(cpuNs)}</td>
                <td class="number">± {milliseconds(stderrNs)}</td>
                <td class="number">{samples}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {skipped}
    </>
  );
};

export const TracePanel = ({ id }: { id: string }) => {
  const answer = useRequest(id, (signal) => get<TraceCpu>('profiles/of-trace', { id }, signal));
  return <Answer of={answer}>{(cpu) => <Found id={id} cpu={cpu} />}</Answer>;
};
