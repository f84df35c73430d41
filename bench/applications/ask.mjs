// Asks an application over HTTP, one request after another or many at once, each with an id of its own that its server span has: as user agent.
import { Agent, request } from 'node:http';

export const AT_ONCE = 48;

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

/** The status and the body of one answer. */
const ask = (port, [path, { method = 'GET', headers = {}, body } = {}], id, more) =>
  new Promise((resolve, reject) => {
    const own = { 'user-agent': id, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) };
    const options = { agent, host: '127.0.0.1', port, path, method, headers: { ...headers, ...more, ...own } };
    const asked = request(options, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
      answer.on('end', () => resolve({ id, status: answer.statusCode, body: Buffer.concat(chunks).toString() }));
    });
    asked.on('error', reject).end(body);
  });

/** What is asked for, and by which id an answer and its trace are found. */
export const nameOf = ([path, { method = 'GET', body = '' } = {}]) => `${method} ${path} ${body.slice(0, 80)}`;

/** Ask for `requests` in turn, `count` in all, `atOnce` of them at a time; `more`: headers of all. The answers, with `asked`, in that order. */
export async function askAll(port, requests, { count = requests.length, atOnce = 1, prefix, more = {} }) {
  const answers = new Array(count);
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < count; i = next++) {
      const one = requests[i % requests.length];
      answers[i] = { asked: nameOf(one), ...(await ask(port, one, `${prefix}-${i}`, more)) };
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return answers;
}

export const close = () => agent.destroy();
