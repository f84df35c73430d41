// speedscope in a frame, for what the flame graph here cannot do: time order, sandwich. Its own requests carry no token: the page fetches the
// profile and hands it over as a blob: URL, which it takes back when the frame goes.
import { useEffect, useState } from 'preact/hooks';
import { getBytes } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { Answer } from '../../shell/states.js';
import type { Choice } from './profile-choice.js';

const Frame = ({ bytes, name }: { bytes: ArrayBuffer; name: string }) => {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type: 'application/json' }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes]);
  if (url === undefined) return null;
  const fragment = `profileURL=${encodeURIComponent(url)}&title=${encodeURIComponent(name)}`;
  // A new address behind # alone would not load the frame again.
  return (
    <iframe key={url} class="speedscope" title={`speedscope: ${name}`} src={`/ui/speedscope/index.html#${fragment}`} />
  );
};

export const SpeedscopeFrame = ({ choice }: { choice: Choice }) => {
  const { name, by } = choice;
  const answer = useRequest(`${name} ${by}`, (signal) => getBytes('profiles/speedscope', { name, by }, signal));
  return <Answer of={answer}>{(bytes) => <Frame bytes={bytes} name={name} />}</Answer>;
};
