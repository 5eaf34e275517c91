import assert from 'node:assert/strict';
import { prefersHtml } from '../../src/api/accept.ts';
import { errorType } from '../../src/api/errors.ts';
import { startWorld } from './world.ts';

/** Maximum size that Node allows for all headers together. */
const long = 'a/b;q=0.1,'.repeat(1_400);

describe('HTTP: the Accept header', () => {
  it('chooses JSON for programs and HTML for browsers', () => {
    for (const html of [
      undefined,
      '',
      '*/*',
      'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      'text/html, application/json',
      'text/*, application/json;q=0.9',
      'image/webp',
      'application/json;q=0',
    ])
      assert.equal(prefersHtml(html), true, html);
    for (const json of [
      'application/json',
      'application/json, text/plain, */*',
      'APPLICATION/JSON, text/html',
      'text/html;q=0.5, application/json',
      'text/html;q=0, */*',
    ])
      assert.equal(prefersHtml(json), false, json);
  });

  it('is read only as far as browsers and programs write, so that no header costs much', async () => {
    const before = process.cpuUsage();
    for (let n = 0; n < 1_000; n += 1) {
      assert.equal(prefersHtml(`${long}application/json`), true);
      assert.equal(errorType(`${long}application/problem+json`), 'application/json; charset=utf-8');
    }
    const used_ms = process.cpuUsage(before).user / 1_000;
    assert.ok(used_ms < 1_000, `2,000 long headers took ${used_ms} ms of a processor`);
  });

  for (const path of ['/dashboard/nothing', '/pay/nothing', '/pay/nothing/live']) {
    it(`is read no further on ${path}`, async () => {
      const { url, stop } = await startWorld();
      try {
        const answer = await fetch(`${url}${path}`, { headers: { Accept: `${long}application/json` } });
        assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
      } finally {
        await stop();
      }
    });
  }
});
