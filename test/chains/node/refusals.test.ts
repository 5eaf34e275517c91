import assert from 'node:assert/strict';
import {
  isSwitchedOff,
  type Meaning,
  maySwitchedOff,
  meaningOf,
  mostSaid,
  retryAfter_ms,
} from '../../../src/chains/node/jsonRpc.ts';

const said = (code: number | undefined, words: string) => ({ code, message: words, words });

describe('the meaning of nodes’ refusals', () => {
  const refusals: readonly (readonly [Meaning, number | undefined, string])[] = [
    // Alchemy, Infura, QuickNode, Base, BlockVision, Polygon, Chainstack, Solana's own, dRPC
    ['limited', 429, 'Your app has exceeded its compute units per second capacity.'],
    ['limited', -32005, 'project ID request rate exceeded'],
    ['limited', -32005, 'daily request count exceeded, request rate limited'],
    ['limited', -32007, '50/second request limit reached - reduce calls per second or upgrade your account'],
    ['limited', -32016, 'over rate limit'],
    ['limited', -32605, 'Rate Limit'],
    ['limited', -32090, 'Too many requests, reason: call rate limit exhausted, retry in 10s'],
    ['limited', -32005, "You've exceeded the RPS limit available on the current plan."],
    ['limited', 429, 'Too many requests for a specific RPC call'],
    ['limited', 15, 'Too many request, try again later'],
    ['limited', undefined, 'rate limited'],
    ['limited', -32005, 'limit exceeded'],
    // The same codes with other meanings: ranges of blocks, results, batches.
    ['final', -32005, 'query returned more than 10000 results. Try with this block range [0x1, 0x2].'],
    ['final', -32005, 'block range too large, max range: 2000'],
    ['final', -32614, 'eth_getLogs is limited to a 10,000 range'],
    ['final', -32602, 'query exceeds max block range 100000'],
    ['final', -32014, 'maximum 10 calls in 1 batch'],
    ['final', -32602, 'Too many inputs provided; max 5'],
    // Solana: a slot without a block is not a rate limit.
    ['final', -32007, 'Slot 1234 was skipped, or missing due to ledger jump to recent snapshot'],
    ['final', -32015, 'Transaction version (1) is not supported by the requesting client.'],
    ['lags', -32005, 'Node is behind by 42 slots'],
    ['final', -32016, 'Minimum context slot has not been reached'],
    ['lags', -32014, 'Block status not yet available for slot 1234'],
    ['lags', -32004, 'Block not available for slot 1234'],
    ['lags', -32000, 'header not found'],
    ['lags', -32000, 'unknown block'],
    ['lags', -32602, 'block range extends beyond current head block'],
    // geth up to 1.16 states no head.
    ['lags', -32000, 'invalid block range params'],
    ['final', -39001, 'finalized block not found'],
    ['passes', -32603, 'Internal error'],
    ['final', -32000, 'nonce too low'],
    ['final', 3, 'execution reverted'],
    ['final', -32000, 'already known'],
  ];
  for (const [meaning, code, words] of refusals) {
    it(`${meaning}: ${words}`, () => assert.equal(meaningOf(said(code, words)), meaning));
  }

  it('distinguishes a rate limit from a disabled method, as far as words allow', () => {
    for (const [code, words] of [
      [-32601, 'no'],
      [-32601, 'the method eth_getLogs does not exist/is not available'],
      [-32000, 'Method eth_getLogs is disabled'],
      [-32004, 'method is not whitelisted'],
    ] as const)
      assert.ok(isSwitchedOff(said(code, words)), words);
    for (const words of ['header not found', 'limit exceeded', 'execution reverted'])
      assert.ok(!isSwitchedOff(said(-32000, words)), words);
    assert.ok(maySwitchedOff(said(-32005, 'limit exceeded')));
    assert.ok(!maySwitchedOff(said(-32005, 'project ID request rate exceeded')));
  });
});

describe('the limits that nodes state', () => {
  const limits: readonly (readonly [number | undefined, string])[] = [
    [10, 'maximum 10 calls in 1 batch'],
    [3, 'Batch of more than 3 requests are not allowed on free tier'],
    [5, 'Too many inputs provided; max 5'],
    [10_000, 'eth_getLogs is limited to a 10,000 range'],
    [10_000, 'eth_getLogs is limited to 0 - 10000 blocks range'],
    [
      10,
      'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x3a75d20, 0x3a75d29].',
    ],
    [2_000, 'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit'],
    [10_000, 'range 1000000 exceeds limit of 10000'],
    [5_000, 'block range is larger than max block range, block range = 5120, max block range = 5000'],
    [1_024, 'block range is too wide (maximum 1024)'],
    [50_000, 'exceed maximum block range: 50000'],
    [100_000, 'query exceeds max block range 100000'],
    [2_000, 'block range too large, max is 2,000 blocks'],
    [10_000, 'ranges over 10000 blocks are not supported on freetier'],
    [1_000, 'invalid params Block range too large for public access: maximum 1000 blocks'],
    [1_000, 'Maximum allowed number of requested blocks is 1000'],
    [800, 'Max range: 800'],
    [2_000, 'invalid params range 9009594 is bigger than range limit 2000'],
    // Results are not blocks.
    [undefined, 'query returned more than 10000 results'],
    [undefined, 'query exceeds max results 20000, retry with the range 1-2'],
    [undefined, 'block range is too wide'],
    [undefined, 'limit exceeded'],
  ];
  for (const [most, words] of limits) it(`${most}: ${words}`, () => assert.equal(mostSaid(words), most));
});

describe('the waiting time that nodes request', () => {
  it('is in seconds, a date by their own clock, or words', () => {
    assert.equal(retryAfter_ms({ 'retry-after': '3' }, ''), 3_000);
    assert.equal(retryAfter_ms({ 'retry-after': '0' }, ''), 0);
    const date = 'Sun, 22 Nov 2026 01:20:00 GMT';
    assert.equal(retryAfter_ms({ 'retry-after': 'Sun, 22 Nov 2026 01:20:07 GMT', date }, ''), 7_000);
    assert.equal(retryAfter_ms({ 'retry-after': 'Sun, 22 Nov 2026 01:19:00 GMT', date }, ''), 0);
    assert.equal(retryAfter_ms({}, 'Too many requests, reason: call rate limit exhausted, retry in 10s'), 10_000);
    assert.equal(retryAfter_ms({}, 'try again in 250ms'), 250);
  });

  it('is unknown without a readable statement', () => {
    for (const header of ['soon', '-1', ''])
      assert.equal(retryAfter_ms({ 'retry-after': header }, 'slow down'), undefined);
    assert.equal(retryAfter_ms({ 'retry-after': 'Sun, 22 Nov 2026 01:20:07 GMT' }, ''), undefined);
  });
});
