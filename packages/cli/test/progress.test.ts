// Progress is one line on a terminal that is gone at the end, and nothing at all anywhere else.
import { expect, test } from 'vitest';
import { Progress } from '../src/output.js';

const stream = (isTTY: boolean, columns = 20) => {
  const written: string[] = [];
  return {
    written,
    stream: {
      isTTY,
      columns,
      write: (text: string | Uint8Array) => {
        written.push(String(text));
        return true;
      },
    },
  };
};

test('on a terminal: drawn over itself, cut to its width, taken away', () => {
  const { stream: terminal, written } = stream(true);
  const progress = new Progress(terminal);
  progress.show('history.jsonl: 1000 of 8000 entries');
  // Too soon to be drawn.
  progress.show('history.jsonl: 2000 of 8000 entries');
  progress.clear();
  progress.clear();
  expect(written).toEqual(['\r\x1b[2Khistory.jsonl: 1000', '\r\x1b[2K']);
});

test('names with control characters cannot move the cursor', () => {
  const { stream: terminal, written } = stream(true, 80);
  new Progress(terminal).show('a\x1b[2Jb\nc');
  expect(written).toEqual(['\r\x1b[2Ka\\x1b[2Jb\\nc']);
});

test('in a pipe: nothing', () => {
  const { stream: pipe, written } = stream(false);
  const progress = new Progress(pipe);
  progress.show('history.jsonl');
  progress.clear();
  expect(written).toEqual([]);
});
