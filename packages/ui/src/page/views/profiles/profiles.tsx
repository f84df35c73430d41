// CPU profiles by label: which profile, which samples of it, and how to look at them, or the CPU time of one trace, or of one span of it, over all
// profiles of the directory. What is chosen stands in the address.

import { useState } from 'preact/hooks';
import type { ProfileFile, ProfileList, ProfileTable, TraceCpu, TraceOfSpan } from '../../../api/profiles/answers.js';
import { getBytes, saveBytes, useGet } from '../../api/client.js';
import { Select, type SelectProps } from '../../shell/controls.js';
import { hrefOf, type ViewProps } from '../../shell/location.js';
import { Answer, Empty } from '../../shell/states.js';
import { Table } from '../../shell/texts.js';
import { FlameView } from './flame-view.js';
import { DiffTable, LabelTable } from './label-table.js';
import { Choice, LOOKS, milliseconds, nameOf, timeOf } from './profile-choice.js';
import './profiles.css';

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
        <Table head={['span', 'CPU itself', 'error', 'samples', 'in the waterfall']} align="lrrrl">
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
        </Table>
      </div>
      {skipped}
    </>
  );
};

export const TracePanel = ({ id, span }: Which) => {
  const answer = useGet<TraceCpu>('profiles/of-trace', { id });
  return <Answer of={answer}>{(cpu) => <Found id={id} span={span} cpu={cpu} />}</Answer>;
};

const LOOK_TITLES = { flame: 'Flame graph', table: 'Table' } as const;
/** All labels of a sample together, which the server calls so. */
const WHOLE = 'label';

interface FilesProps extends Pick<SelectProps, 'label' | 'value' | 'change'> {
  readonly files: readonly ProfileFile[];
  /** What no file is called, where none may be chosen. */
  readonly none?: string;
}

const Files = ({ files, none, ...select }: FilesProps) => (
  <Select
    of={[
      ...(none === undefined ? [] : [['', none] as const]),
      ...files.map(({ name, writtenMs }) => [name, `${name} · ${timeOf(writtenMs)}`] as const),
    ]}
    {...select}
  />
);

/** From the samples of a span back to it: samples know its id, and the profile which trace it is of. */
const BackToSpan = ({ name, span }: { name: string; span: string }) => {
  const { value } = useGet<TraceOfSpan>('profiles/trace-of', { name, span });
  return value === undefined ? null : <a href={hrefOf('traces/show', { id: value.traceId, span })}>show the span</a>;
};

/** Which samples: by key and value. A key is chosen here, a value in the table. */
const Samples = ({ choice }: { choice: Choice }) => {
  const { name, by = WHOLE, value } = choice;
  const keys = useGet<ProfileTable>('profiles/table', { name });
  const known = [...new Set([WHOLE, by, ...(keys.value?.keys ?? [])])];
  return (
    <>
      <Select
        label="by label"
        value={by}
        of={known.map((key) => [key, key === WHOLE ? 'all labels together' : key])}
        change={(key) => choice.change({ by: key, value: undefined, none: undefined })}
      />
      {value !== undefined && (
        <span class="profiles-chip">
          <span class="mono">
            {by === WHOLE ? '' : `${by} = `}
            {nameOf(value)}
          </span>
          {by === 'trace_id' && <a href={hrefOf('traces/show', { id: value })}>show the trace</a>}
          {by === 'span_id' && value !== '' && <BackToSpan name={name} span={value} />}
          <button type="button" onClick={() => choice.change({ ...choice.ofValue(undefined), look: choice.look })}>
            All samples
          </button>
        </span>
      )}
    </>
  );
};

/** The profile as a file for speedscope, which shows what this page does not: samples in the order of time, and a function among its callers. */
const SaveForSpeedscope = ({ choice: { name, by } }: { choice: Choice }) => {
  const [failure, setFailure] = useState('');
  const save = async (): Promise<void> => {
    setFailure('');
    saveBytes(await getBytes('profiles/speedscope', { name, by }), `${name}.speedscope.json`);
  };
  return (
    <span>
      <button type="button" onClick={() => save().catch((error: Error) => setFailure(error.message))}>
        Save for speedscope
      </button>{' '}
      <a href="https://www.speedscope.app" rel="noreferrer">
        speedscope.app
      </a>
      {failure !== '' && <span role="alert"> {failure}</span>}
    </span>
  );
};

const Shown = ({ choice }: { choice: Choice }) => {
  if (choice.look === 'table') return choice.before ? <DiffTable choice={choice} /> : <LabelTable choice={choice} />;
  return <FlameView choice={choice} />;
};

const Profile = ({ list, parameters }: { list: ProfileList; parameters: ViewProps['parameters'] }) => {
  const { files, omitted } = list;
  const name = parameters.name ?? files[0]?.name;
  if (name === undefined)
    return (
      <Empty
        title="The directory has no profile yet"
        command="spanline profile run --continuous --out ./profiles -- node app.js"
      />
    );
  const choice = new Choice(parameters, name);
  return (
    <>
      <h1>Profiles</h1>
      <div class="flow">
        <Files files={files} value={name} label="profile" change={(next) => choice.change({ name: next })} />
        <Files
          files={files}
          value={choice.before ?? ''}
          none="nothing"
          label="compared with"
          change={(before) => choice.change({ before })}
        />
        <Samples choice={choice} />
        {omitted > 0 && <span class="muted">{omitted} older profiles are not listed</span>}
      </div>
      <nav class="looks" aria-label="Ways of looking">
        {LOOKS.map((look) => (
          <a key={look} href={choice.href({ look })} aria-current={look === choice.look ? 'page' : undefined}>
            {look === 'table' && choice.before ? 'What changed' : LOOK_TITLES[look]}
          </a>
        ))}
        <SaveForSpeedscope choice={choice} />
      </nav>
      <Shown choice={choice} />
    </>
  );
};

const Profiles = ({ sources, parameters }: ViewProps) => {
  const isOpen = sources.profiles;
  const list = useGet<ProfileList>(isOpen && !parameters.trace && 'profiles/list');
  if (!isOpen) return <Empty title="No directory of profiles is open" command="spanline ui --profiles ./profiles" />;
  if (parameters.trace) return <TracePanel id={parameters.trace} span={parameters.span} />;
  return <Answer of={list}>{(found) => <Profile list={found} parameters={parameters} />}</Answer>;
};
export default Profiles;
