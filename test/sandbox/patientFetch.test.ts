/** The sandbox's programs obey Retry-After, like any correct caller. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { patientFetch } from '../../sandbox/patientFetch.ts';
import { onStop } from '../support/hooks.ts';

describe('calling a service that is away for a moment', () => {
  async function serve(answers: readonly (readonly [status: number, headers: Record<string, string>])[]) {
    let asked = 0;
    const server = createServer((_request, response) => {
      const [status, headers] = answers[Math.min(asked, answers.length - 1)] ?? [500, {}];
      asked += 1;
      response.writeHead(status, headers).end(String(asked));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onStop(async () => void server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked: () => asked };
  }

  it('repeats the request at the time that a 503 states', async () => {
    const { url } = await serve([
      [503, { 'retry-after': '0' }],
      [503, { 'retry-after': '0' }],
      [200, {}],
    ]);
    const answer = await patientFetch(url);
    assert.deepEqual([answer.status, await answer.text()], [200, '3']);
  });

  it('accepts every other answer, and a 503 without a time', async () => {
    for (const status of [404, 429, 500, 503]) {
      const { url, asked } = await serve([[status, {}]]);
      assert.deepEqual([(await patientFetch(url)).status, asked()], [status, 1]);
    }
  });

  it('gives up after sixty tries', async () => {
    const { url, asked } = await serve([[503, { 'retry-after': '0' }]]);
    assert.deepEqual([(await patientFetch(url)).status, asked()], [503, 60]);
  });
});
