// Profiles reach a sink one after the other; what it has no room for is dropped, what it fails at is counted, and it is asked again.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { LabelledProfile } from '../src/labelled-profile.js';
import { ProfileDelivery } from '../src/sinks/profile-sink.js';
import { shop } from './support/sampled.js';

test('never two at once, in order, two at most', async () => {
  const [first, second, third, fourth] = [1, 2, 3, 4].map((seed) => shop(seed));
  const taken: LabelledProfile[] = [];
  let inside = 0;
  let max = 0;
  const delivery = new ProfileDelivery(async (profile) => {
    max = Math.max(max, ++inside);
    for (let i = 0; i < 3; i++) await turn();
    taken.push(profile);
    inside--;
  });
  for (const each of [first, second, third]) delivery.give(each);
  await delivery.settled();
  delivery.give(fourth);
  await delivery.settled();
  expect(max).toBe(1);
  expect(taken.map((each) => [first, second, third, fourth].indexOf(each))).toEqual([0, 1, 3]);
  expect(delivery).toMatchObject({ profiles: 3, dropped: 1, sinkErrors: 0, lastSinkError: undefined });
});

test('failures, now or later, are counted and hold up nothing', async () => {
  let calls = 0;
  const delivery = new ProfileDelivery((): void | Promise<void> => {
    calls++;
    if (calls === 1) throw new Error('now');
    if (calls === 2) return Promise.reject(new Error('later'));
  });
  for (let i = 0; i < 3; i++) {
    delivery.give(shop());
    await delivery.settled();
  }
  expect(delivery).toMatchObject({ profiles: 1, dropped: 0, sinkErrors: 2, lastSinkError: { message: 'later' } });
});
