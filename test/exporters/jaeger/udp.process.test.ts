// Over real UDP sockets: everything arrives when something listens, and nothing counts as delivered when nothing does.
import { afterEach, describe, expect, test } from 'vitest';
import { JaegerReporter, type JaegerUdpOptions } from '../../../src/exporters/jaeger.js';
import type { SpanRecord } from '../../../src/record/record.js';
import { samples } from '../../support/samples.js';
import { batchOf, numberedRecords, record } from '../support/records.js';
import { type DecodedBatch, decodeBinaryPacket, decodeCompactPacket } from './support/decode.js';
import { closedPort, startAgent, type UdpAgent } from './support/udp-agent.js';

const PROTOCOLS: [JaegerUdpOptions['protocol'], (packet: Buffer) => DecodedBatch][] = [
  ['thrift-compact-udp', decodeCompactPacket],
  ['thrift-binary-udp', decodeBinaryPacket],
];

const MANY = samples(10_000, 50_000);

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const agentOn = async (port?: number, host?: string): Promise<UdpAgent> => {
  const agent = await startAgent(port, host);
  cleanUps.push(() => agent.close());
  return agent;
};

const reporterTo = (options: JaegerUdpOptions): JaegerReporter => {
  const reporter = new JaegerReporter({ host: '127.0.0.1', ...options });
  cleanUps.push(() => reporter.shutdown());
  return reporter;
};

const names = (spans: readonly SpanRecord[]): string[] => spans.map((one) => one.name);
const refused = expect.objectContaining({ code: 'ERR_SPANLINE_UDP_REFUSED', retryable: true });

describe.each(PROTOCOLS)('%s', (protocol, decode) => {
  const namesIn = (agent: UdpAgent): string[] =>
    agent.packets.flatMap((packet) => decode(packet).spans.map((one) => one.operationName));

  test('spans of several traces arrive with their process', async () => {
    const agent = await agentOn();
    const reporter = reporterTo({ protocol, port: agent.port });
    const traces = [numberedRecords(3), numberedRecords(2)];
    await reporter.report(batchOf(traces));
    await reporter.report(batchOf([numberedRecords(1)], { serviceName: 'later', attributes: {} }));
    await agent.until((packets) => packets.length === 2);
    const [first, second] = agent.packets.map(decode);
    expect(names(traces.flat())).toEqual(first.spans.map((one) => one.operationName));
    expect([first.serviceName, second.serviceName]).toEqual(['shop', 'later']);
    expect(reporter.stats()).toMatchObject({ packetsSent: 2, spansSent: 6, refused: 0, spansTooLarge: 0 });
  });

  test('a span too large is counted once and told of once, its neighbours arrive', async () => {
    const agent = await agentOn();
    const reporter = reporterTo({ protocol, port: agent.port });
    const warnings: Error[] = [];
    const onWarning = (warning: Error): unknown => warnings.push(warning);
    process.on('warning', onWarning);
    cleanUps.push(() => process.off('warning', onWarning));
    const large = record({ name: 'large', properties: ['blob', 'x'.repeat(70_000)] });
    const spans = [...numberedRecords(4), large, ...numberedRecords(4), large];
    await reporter.report(batchOf([spans]));
    await agent.until((packets) => packets.length === 1);
    expect(namesIn(agent)).toEqual(names(spans.filter((one) => one !== large)));
    expect(reporter.stats()).toMatchObject({ spansSent: 8, spansTooLarge: 2 });
    expect(reporter.lastError).toMatch(/"large".* needs 70\d\d\d bytes and maxPacketBytes is 65000/);
    expect(warnings.map((warning) => (warning as NodeJS.ErrnoException).code)).toEqual(['ERR_SPANLINE_SPAN_TOO_LARGE']);
  });

  test.each([1, 2, 3, 2000])(
    'nothing listens: a report of %i spans fails, and all of it arrives once something does',
    async (count) => {
      const port = await closedPort();
      const reporter = reporterTo({ protocol, port, maxPacketBytes: 512 });
      const batch = batchOf([numberedRecords(count)]);
      await expect(reporter.report(batch)).rejects.toThrow(refused);
      await expect(reporter.report(batch)).rejects.toThrow(refused);
      expect(reporter.stats()).toMatchObject({ packetsSent: 0, spansSent: 0, refused: 2 });
      const agent = await agentOn(port);
      await reporter.report(batch);
      await agent.until((packets) => packets.length === reporter.stats().packetsSent);
      expect(namesIn(agent)).toEqual(names(numberedRecords(count)));
      expect(reporter.stats()).toMatchObject({ spansSent: count });
    },
  );

  test('an agent that goes away in the middle: the retry sends only what did not arrive', async () => {
    const first = await startAgent();
    const reporter = reporterTo({ protocol, port: first.port, maxPacketBytes: 600 });
    const spans = numberedRecords(3000);
    const large = record({ name: 'large', properties: ['blob', 'x'.repeat(1000)] });
    spans[2] = large;
    const batch = batchOf([spans]);
    const report = reporter.report(batch);
    const isRefused = expect(report).rejects.toThrow(refused);
    await first.until((packets) => packets.length >= 100);
    await first.close();
    await isRefused;
    const before = namesIn(first);
    const { packetsSent } = reporter.stats();
    const second = await agentOn(first.port);
    await reporter.report(batch);
    await second.until((packets) => packets.length === reporter.stats().packetsSent - packetsSent);
    const after = namesIn(second);
    const wanted = names(spans.filter((one) => one !== large));
    // Between the two lies what the closing socket had not read: that is lost, and nobody can know.
    expect(before).toEqual(wanted.slice(0, before.length));
    expect(after).toEqual(wanted.slice(-after.length));
    expect(after.length).toBeLessThan(wanted.length - 50);
    expect(reporter.stats()).toMatchObject({ spansSent: wanted.length, spansTooLarge: 1 });
  });

  test(`${MANY} spans arrive, none twice`, async () => {
    const agent = await agentOn();
    const reporter = reporterTo({ protocol, port: agent.port });
    const properties = ['http.method', 'GET', 'rows', 123, 'table', 'orders'];
    const spans = numberedRecords(MANY, properties);
    await reporter.report(batchOf([spans.slice(0, MANY / 2), spans.slice(MANY / 2)]));
    const sent = reporter.stats().packetsSent;
    await agent.until((packets) => packets.length === sent);
    expect(namesIn(agent)).toEqual(names(spans));
    for (const packet of agent.packets) expect(packet.length).toBeLessThanOrEqual(65_000);
  });

  test('the event loop goes round while a large report is sent', async () => {
    const agent = await agentOn();
    const reporter = reporterTo({ protocol, port: agent.port });
    let rounds = 0;
    let isOver = false;
    const count = (): void => {
      rounds++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await reporter.report(batchOf([numberedRecords(20_000)]));
    isOver = true;
    expect(rounds).toBeGreaterThan(reporter.stats().packetsSent / 4);
  });
});

const compact = 'thrift-compact-udp';

test('reports that overlap are sent one after the other', async () => {
  const agent = await agentOn();
  const reporter = reporterTo({ protocol: compact, port: agent.port, maxPacketBytes: 600 });
  const batches = [batchOf([numberedRecords(500)]), batchOf([numberedRecords(400)]), batchOf([numberedRecords(300)])];
  await Promise.all(batches.map((batch) => reporter.report(batch)));
  await agent.until((packets) => packets.length === reporter.stats().packetsSent);
  const arrived = agent.packets.flatMap((packet) => decodeCompactPacket(packet).spans.map((one) => one.operationName));
  expect(arrived).toEqual(batches.flatMap((batch) => names(batch.traces[0].spans)));
});

test('an aborted report stops and says why', async () => {
  const agent = await agentOn();
  const reporter = reporterTo({ protocol: compact, port: agent.port });
  const abort = new AbortController();
  const report = reporter.report(batchOf([numberedRecords(50_000)], undefined, abort.signal));
  const stopped = expect(report).rejects.toThrow('enough');
  await agent.until((packets) => packets.length >= 1);
  abort.abort(new Error('enough'));
  await stopped;
  expect(reporter.stats().spansSent).toBeLessThan(50_000);
});

test('a host that does not exist is an error that may be retried', async () => {
  const reporter = reporterTo({ protocol: compact, host: 'nowhere.invalid', port: 6831 });
  await expect(reporter.report(batchOf([numberedRecords(1)]))).rejects.toMatchObject({
    code: 'ERR_SPANLINE_UDP',
    retryable: true,
    message: expect.stringContaining('nowhere.invalid:6831'),
  });
});

test('IPv6', async () => {
  const agent = await agentOn(0, '::1');
  const reporter = reporterTo({ protocol: compact, host: '::1', port: agent.port });
  await reporter.report(batchOf([numberedRecords(1)]));
  await agent.until((packets) => packets.length === 1);
});

test('what is reported while the process exits still goes out of an open socket', async () => {
  const agent = await agentOn();
  const reporter = reporterTo({ protocol: compact, port: agent.port });
  expect(() => reporter.reportSync?.(batchOf([numberedRecords(1)]), 1000)).toThrow(
    expect.objectContaining({ code: 'ERR_SPANLINE_UDP_CLOSED' }),
  );
  await reporter.report(batchOf([numberedRecords(1)]));
  reporter.reportSync?.(batchOf([numberedRecords(700)]), 1000);
  await agent.until((packets) => packets.length === reporter.stats().packetsSent);
  expect(reporter.stats()).toMatchObject({ spansSent: 701 });
});

test('while the process exits a socket that failed says why, not only that it is closed', async () => {
  const unheard = reporterTo({ protocol: compact, port: await closedPort() });
  await expect(unheard.report(batchOf([numberedRecords(1)]))).rejects.toThrow(refused);
  expect(() => unheard.reportSync?.(batchOf([numberedRecords(1)]), 1000)).toThrow(refused);
  const lost = reporterTo({ protocol: compact, host: 'nowhere.invalid', port: 6831 });
  await expect(lost.report(batchOf([numberedRecords(1)]))).rejects.toThrow('nowhere.invalid');
  expect(() => lost.reportSync?.(batchOf([numberedRecords(1)]), 1000)).toThrow(/nowhere\.invalid:6831 failed/);
});
