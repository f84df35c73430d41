// The CPU time of one trace, or of one span of it, over all profiles of the directory: the way from a span to its samples.
import type { TraceCpu } from '../../../api/profiles/answers.js';
import { get } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { hrefOf } from '../../shell/location.js';
import { Answer, Empty } from '../../shell/states.js';
import { milliseconds } from './numbers.js';

const MAX_SPANS = 50;

interface Which {
  readonly id: string;
  /** Only this span of it. */
  readonly span?: string;
}

const Found = ({ id, span, cpu }: Which & { cpu: TraceCpu }) => {
  const skipped = cpu.skipped > 0 && <p class="muted">{cpu.skipped} files were not looked into.</p>;
  const spans = span === undefined ? cpu.spans : cpu.spans.filter(({ spanId }) => spanId === span);
  if (spans.length === 0)
    return (
      <Empty title={`No profile has a sample of this ${span === undefined ? 'trace' : 'span'}`}>
        <p>It ran while no profile was taken, or for less than the time between two samples.</p>
        <p>
          <a href={hrefOf('traces/show', { id, span })}>Show the trace</a>
        </p>
        {skipped}
      </Empty>
    );
  return (
    <>
      <h1>
        CPU time of {span === undefined ? 'trace' : `span ${span} of trace`}{' '}
        <a href={hrefOf('traces/show', { id, span })}>{id}</a>
      </h1>
      {span === undefined ? (
        <ul>
          {cpu.profiles.map(({ name, cpuNs }) => (
            <li key={name}>
              <a href={hrefOf('profiles', { name, by: 'trace_id', value: id })}>{name}</a> {milliseconds(cpuNs)}
            </li>
          ))}
        </ul>
      ) : (
        <p>
          <a href={hrefOf('profiles', { trace: id })}>All spans of the trace</a>
        </p>
      )}
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>span</th>
              <th class="number">CPU itself</th>
              <th class="number">error</th>
              <th class="number">samples</th>
              <th>in the waterfall</th>
            </tr>
          </thead>
          <tbody>
            {spans.slice(0, MAX_SPANS).map(({ spanId, profile, cpuNs, stderrNs, samples }) => (
              <tr key={spanId}>
                <td class="mono">
                  <a href={hrefOf('profiles', { name: profile, by: 'span_id', value: spanId })}>{spanId}</a>
                </td>
                <td class="number">{milliseconds(cpuNs)}</td>
                <td class="number">± {milliseconds(stderrNs)}</td>
                <td class="number">{samples}</td>
                <td>
                  <a href={hrefOf('traces/show', { id, span: spanId })} aria-label={`show span ${spanId}`}>
                    show
                  </a>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {skipped}
    </>
  );
};

export const TracePanel = ({ id, span }: Which) => {
  const answer = useRequest(id, (signal) => get<TraceCpu>('profiles/of-trace', { id }, signal));
  return <Answer of={answer}>{(cpu) => <Found id={id} span={span} cpu={cpu} />}</Answer>;
};
