// Subject: git's commit-graph, read through the git command. Its ids are git's own; it keeps the tree and the date of each commit too.
import { statSync } from 'node:fs';
import { commitGraphPath, git, repositoryPath, writeCommitGraph } from './git-repository.mjs';
import { describe, nodesOf } from './nodes.mjs';
import { check, childCpuSeconds, countCase, runCase } from './support.mjs';

const repository = repositoryPath();
const VERSION = git(['--version']).toString().trim();

/** A git command; the CPU time is that of git. */
const timed = (body) => {
  const before = childCpuSeconds();
  const since = performance.now();
  const done = body();
  const seconds = (performance.now() - since) / 1000;
  return { done, seconds, cpu: before === undefined ? undefined : childCpuSeconds() - before };
};

/** Milliseconds of a git command that does nothing with commits. */
const startMs = () => {
  const samples = Array.from({ length: 10 }, () => timed(() => git(['-C', repository, 'rev-parse', '--git-dir'])));
  return Math.min(...samples.map(({ seconds }) => seconds)) * 1000;
};

const walkCase = (name, command, count) =>
  runCase({
    name,
    n: 'hash',
    unit: 'ms',
    note: () => `git ${command.join(' ')}; ${startMs().toFixed(1)} ms of it is the start of the process`,
    body: () =>
      timed(() => {
        check(name, count(git(['-C', repository, ...command])), nodesOf('hash').keys.length);
      }),
  });

const linesIn = (bytes) => {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
  return lines;
};

export const subject = 'git';
export const cases = [
  countCase({
    name: 'file-hash',
    n: 'commits',
    unit: 'bytes',
    note: () => `${VERSION}; ${describe('hash')}; 28 bytes of each are its tree and its date`,
    body: () => statSync(commitGraphPath()).size / nodesOf('hash').keys.length,
  }),
  walkCase('walk-ordinals', ['rev-list', '--count', '--all'], (bytes) => Number(bytes.toString())),
  walkCase('walk-names', ['rev-list', '--all'], linesIn),
  runCase({
    name: 'build',
    n: 'hash',
    unit: 'nodes/s',
    note: 'git commit-graph write --reachable: commits are read from a pack and parsed',
    body: () =>
      timed(() => {
        writeCommitGraph();
        return nodesOf('hash').keys.length;
      }),
  }),
];
