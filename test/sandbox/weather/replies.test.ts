import assert from 'node:assert/strict';
import { type Script, weatherBefore } from './scripted.ts';

const script: Script = { eth_chainId: '0x1', eth_getLogs: [], eth_call: '0x01' };

describe('rate limits', () => {
  it('state when to try again: in seconds', async () => {
    // Slow enough that the three calls are within one unit's time on any machine.
    const node = await weatherBefore('evm', script, { rateLimit: { perSecond: 0.001, burst: 2, form: 'seconds' } });
    assert.equal(await node.result('eth_chainId'), '0x1');
    assert.equal(await node.result('eth_chainId'), '0x1');
    const { status, headers } = await node.ask('eth_chainId');
    assert.equal(status, 429);
    const wait_s = Number(headers.get('retry-after'));
    assert.ok(wait_s > 0 && wait_s <= 1_000, `${wait_s} s`);
  });

  it('state it as a date', async () => {
    const node = await weatherBefore('evm', script, { rateLimit: { perSecond: 0.01, burst: 0, form: 'date' } });
    const { status, headers } = await node.ask('eth_chainId');
    assert.equal(status, 429);
    assert.ok(Date.parse(headers.get('retry-after') ?? '') > Date.now() + 50_000);
  });

  it('state it in a body of JSON-RPC, with the provider’s code', async () => {
    const node = await weatherBefore('evm', script, {
      rateLimit: { perSecond: 1, burst: 0, form: 'body', code: -32005 },
    });
    const { status, error } = await node.ask('eth_chainId');
    assert.deepEqual([status, error?.code], [200, -32005]);
  });

  it('state nothing but 429', async () => {
    const node = await weatherBefore('evm', script, { rateLimit: { perSecond: 1, burst: 0, form: 'bare' } });
    const { status, headers, text } = await node.ask('eth_chainId');
    assert.deepEqual([status, headers.get('retry-after'), text], [429, null, 'Too Many Requests']);
  });

  it('count units, and each call of a batch', async () => {
    const limit = { perSecond: 1, burst: 60, units: { eth_getLogs: 20 }, form: 'bare' } as const;
    const node = await weatherBefore('evm', script, { rateLimit: limit });
    const call = { jsonrpc: '2.0', method: 'eth_getLogs', params: [] };
    assert.equal(
      (
        await node.post([
          { ...call, id: 1 },
          { ...call, id: 2 },
          { ...call, id: 3 },
        ])
      ).status,
      200,
    );
    assert.equal((await node.ask('eth_getLogs')).status, 429);
  });
});

describe('broken answers', () => {
  it('are pages for people', async () => {
    const node = await weatherBefore('evm', script, { htmlBody: { status: 403 } });
    const { status, headers, text } = await node.ask('eth_chainId');
    assert.deepEqual([status, headers.get('content-type')], [403, 'text/html']);
    assert.match(text, /^<!DOCTYPE html>/);
  });

  for (const body of ['', '{}'] as const) {
    it(`are empty: "${body}"`, async () => {
      const node = await weatherBefore('evm', script, { emptyBody: { body } });
      const { status, text } = await node.ask('eth_chainId');
      assert.deepEqual([status, text], [200, body]);
    });
  }

  it('break off', async () => {
    const node = await weatherBefore('evm', script, { cutBody: {} });
    await assert.rejects(node.ask('eth_chainId'));
  });

  it('are those of a gateway without a back end', async () => {
    const node = await weatherBefore('evm', script, { unavailable: { status: 502 } });
    assert.equal((await node.ask('eth_chainId')).status, 502);
  });

  it('are late', async () => {
    const node = await weatherBefore('evm', script, { slow: { most_ms: 20 } });
    assert.equal(await node.result('eth_chainId'), '0x1');
  });
});

describe('batches', () => {
  const calls = (count: number) =>
    Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] }));

  it('are answered one by one, in their order', async () => {
    const node = await weatherBefore('evm', script, {});
    const { text } = await node.post(calls(3));
    assert.deepEqual(
      (JSON.parse(text) as { id: number; result: string }[]).map(({ id, result }) => [id, result]),
      [0, 1, 2].map((id) => [id, '0x1']),
    );
  });

  it('are refused when they are too large', async () => {
    const node = await weatherBefore('evm', script, { batchLimit: { calls: 2 } });
    assert.match((await node.post(calls(3))).text, /batch too large/);
    assert.ok(Array.isArray(JSON.parse((await node.post(calls(2))).text)));
  });
});

describe('a quirk', () => {
  it('affects some methods, and some calls: the same ones with the same seed', async () => {
    const fates = async () => {
      const quirk = { chance: 0.5, methods: ['eth_call'] };
      const node = await weatherBefore('evm', script, { unavailable: quirk }, 'monday');
      const seen = [];
      for (let asked = 0; asked < 20; asked++) seen.push((await node.ask('eth_call')).status);
      assert.equal((await node.ask('eth_chainId')).status, 200);
      return seen;
    };
    const first = await fates();
    assert.deepEqual([...new Set(first)].sort(), [200, 503]);
    assert.deepEqual(await fates(), first);
  });

  it('is switched on and off while the node runs, from another process too', async () => {
    const node = await weatherBefore('evm', script, {});
    const { result } = await node.ask('weather_change', [{ unavailable: { status: 502 }, lag: { blocks: 1 } }]);
    assert.deepEqual(result, { unavailable: { status: 502 }, lag: { blocks: 1 } });
    assert.equal((await node.ask('eth_chainId')).status, 502);
    assert.deepEqual(await node.result('weather_change', [{ unavailable: null }]), { lag: { blocks: 1 } });
    assert.equal((await node.ask('eth_chainId')).status, 200);
    assert.deepEqual(await node.result('weather_calls'), { eth_chainId: 2 });
  });

  it('is refused and changes nothing if it does not exist, or not there', async () => {
    const node = await weatherBefore('stellar', { getHealth: {} }, {});
    await assert.rejects(node.result('weather_change', [{ hail: {} }]), /hail is no quirk: choose from slow, /);
    await assert.rejects(
      node.result('weather_change', [{ rangeLimit: { blocks: 1 } }]),
      /a quirk of evm, not of stellar/,
    );
    assert.deepEqual(node.inForce(), {});
  });

  it('passes the chain’s refusals on, and ends the connection where the chain is gone', async () => {
    const node = await weatherBefore('evm', script, {});
    const { error } = await node.ask('eth_mystery');
    assert.deepEqual(error, { code: -32601, message: 'eth_mystery is not in the script' });
  });
});
