import { useState } from 'preact/hooks';
import type {
  NodeProcess,
  ProcessesAnswer,
  SnapshotFile,
  SnapshotsAnswer,
  TakenAnswer,
} from '../../../../api/answers.js';
import { post, type Requested, useGet } from '../../../api/client.js';
import { goTo, hrefOf, type ViewProps } from '../../../shell/location.js';
import { Answer, Empty, Failure } from '../../../shell/states.js';
import { moment, Scrolling, Table } from '../../../shell/texts.js';
import './snapshots.css';

const BYTES_PER_MIB = 2 ** 20;
const SWITCH_ON = 'SPANLINE_FLIGHT_RECORDER=60s,64MiB node --import spanline/register app.js';

interface Taking {
  /** The process that is asked now. */
  readonly pid?: number;
  readonly error?: Error;
}

type Take = (pid: number) => void;

const Row = ({ of: { pid, command, hasRecorder }, taking, take }: { of: NodeProcess; taking: Taking; take: Take }) => (
  <tr>
    <td class="number">{pid}</td>
    <td class="command mono">{command}</td>
    <td>{hasRecorder ? 'yes' : 'not to be seen from outside'}</td>
    <td>
      {hasRecorder === false ? (
        <code>spanline snapshot {pid}</code>
      ) : (
        <button
          type="button"
          disabled={taking.pid !== undefined}
          aria-label={`take a snapshot of process ${pid}`}
          onClick={() => take(pid)}
        >
          {taking.pid === pid ? 'Asking …' : 'Take a snapshot'}
        </button>
      )}
    </td>
  </tr>
);

const Processes = ({ of, taking, take }: { of: Requested<ProcessesAnswer>; taking: Taking; take: Take }) => (
  <Answer of={of}>
    {({ processes, omitted }) =>
      processes.length === 0 ? (
        <Empty title="No Node.js process of yours runs here" command={SWITCH_ON} />
      ) : (
        <Scrolling label="processes">
          <Table head={['process', 'command', 'flight recorder', 'snapshot']} align="rlll">
            {processes.map((one) => (
              <Row key={one.pid} of={one} taking={taking} take={take} />
            ))}
          </Table>
          {omitted > 0 && <p class="muted">{omitted} more processes are not listed.</p>}
        </Scrolling>
      )
    }
  </Answer>
);

const FileRow = ({ id, path, bytes, writtenUs }: SnapshotFile) => (
  <tr>
    <td>{moment(writtenUs)}</td>
    <td class="number">{(bytes / BYTES_PER_MIB).toFixed(1)} MiB</td>
    <td>
      <a href={hrefOf('traces', { snapshot: id })}>traces</a> · <a href={hrefOf('stalls', { snapshot: id })}>stalls</a>
    </td>
    <td class="mono">{path}</td>
  </tr>
);

const Files = ({ files, omitted, isTemporary }: SnapshotsAnswer) => (
  <>
    <h2>Snapshots</h2>
    <p>
      {isTemporary
        ? 'Those taken here go when the page’s server ends; --snapshots DIR keeps them.'
        : 'Those taken here are kept in the directory that --snapshots names.'}
    </p>
    {files.length === 0 ? (
      <p>There is none yet.</p>
    ) : (
      <Scrolling label="snapshots">
        <Table head={['written', 'size', 'look at', 'file']} align="lrll">
          {files.map((file) => (
            <FileRow key={file.id} {...file} />
          ))}
        </Table>
        {omitted > 0 && <p class="muted">{omitted} older snapshots are not listed.</p>}
      </Scrolling>
    )}
  </>
);

const Snapshots = ({ sources }: ViewProps) => {
  const [round, setRound] = useState(0);
  const [taking, setTaking] = useState<Taking>({});
  const isOpen = sources.snapshots;
  const processes = useGet<ProcessesAnswer>(isOpen && 'snapshots/processes', {}, round);
  const files = useGet<SnapshotsAnswer>(isOpen && 'snapshots', {}, round);
  if (!isOpen) return <Empty title="No snapshots are taken here" command="spanline ui --archive ./traces" />;
  const take: Take = (pid) => {
    setTaking({ pid });
    post<TakenAnswer>('snapshots/take', { pid }).then(
      ({ id }) => goTo('traces', { snapshot: id }),
      (error: Error) => setTaking({ error }),
    );
  };
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem('pid') as HTMLInputElement;
    take(field.valueAsNumber);
  };
  return (
    <>
      <h1>Snapshots of running processes</h1>
      <p>
        A process whose flight recorder is on writes what it holds of its last minute; traces, timeline and stalls are
        then looked at here. SIGUSR1 opens its inspector, which is closed again.
      </p>
      <form class="flow" onSubmit={send}>
        <label>
          process id <input name="pid" type="number" min={1} max={4_194_304} required size={8} />
        </label>
        <button type="submit" disabled={taking.pid !== undefined}>
          Take a snapshot
        </button>
        <button type="button" onClick={() => setRound(round + 1)}>
          Look again
        </button>
        <span role="status">{taking.pid !== undefined && `asking process ${taking.pid} …`}</span>
      </form>
      {taking.error !== undefined && <Failure error={taking.error} />}
      <h2>Node.js processes</h2>
      <Processes of={processes} taking={taking} take={take} />
      <Answer of={files}>{(found) => <Files {...found} />}</Answer>
    </>
  );
};
export default Snapshots;
