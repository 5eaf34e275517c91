/** Causes of a 503: the operator finds them in readiness, metrics and the log. */
import assert from 'node:assert/strict';
import { Unavailable } from '../../commands/ports.ts';
import { instant } from '../../domain/time.ts';
import { RpcFailed } from '../../src/chains/node/jsonRpc.ts';
import { ChainUnavailable } from '../../src/chains/node/nodes.ts';
import { createUnavailableReasons } from '../../src/workers/health/unavailable.ts';

describe('the reason of a 503', () => {
  let now_ms = 0;
  const alarms: { readonly reason: string; readonly facts: object; readonly message: string }[] = [];
  const warnings: object[] = [];
  const reasons = createUnavailableReasons({ now: () => instant(now_ms) }, {
    alarm: (reason: string, facts: object, message: string) => alarms.push({ reason, facts, message }),
    logger: { warn: (facts: object) => warnings.push(facts) },
  } as never);
  const refused = new RpcFailed('node 1 (rpc.example)', 'getFeeStats', 'refused', 'no parameters accepted', -32602);
  const unavailable = () =>
    new Unavailable('Stellar cannot be asked', 5, { cause: new ChainUnavailable(1500, [refused]) });

  beforeEach(() => {
    now_ms += 3_600_000;
    [alarms.length, warnings.length] = [0, 0];
  });

  it('is an alarm with the node, the method and its answer', () => {
    reasons.report(unavailable());
    const [alarm] = alarms;
    const facts = { chainId: 1500, node: 'node 1 (rpc.example)', method: 'getFeeStats' };
    assert.deepEqual(alarm?.facts, { ...facts, answer: 'refused: no parameters accepted' });
    assert.equal(alarm?.reason, 'chainUnanswered');
    assert.match(alarm?.message ?? '', /got 503.*node 1 \(rpc\.example\).*getFeeStats.*no parameters accepted/);
  });

  it('is reported once a minute, and each method separately', () => {
    reasons.report(unavailable());
    reasons.report(unavailable());
    assert.equal(alarms.length, 1);
    reasons.report(new ChainUnavailable(1500, [new RpcFailed('node 1', 'getLedgerEntries', 'unreachable', 'none')]));
    assert.equal(alarms.length, 2);
    now_ms += 60_000;
    reasons.report(unavailable());
    assert.equal(alarms.length, 3);
  });

  it('is shown by readiness for a minute, without the host', () => {
    assert.equal(reasons.ofChain(1500), undefined);
    reasons.report(unavailable());
    assert.equal(reasons.ofChain(1500), 'node 1 getFeeStats: refused: no parameters accepted');
    assert.equal(reasons.ofChain(501), undefined);
    now_ms += 60_000;
    assert.equal(reasons.ofChain(1500), undefined);
  });

  it('keeps no more than 300 characters of a node’s answer', () => {
    reasons.report(new ChainUnavailable(1, [new RpcFailed('node 1', 'eth_call', 'refused', 'x'.repeat(10_000))]));
    const { facts } = alarms[0] ?? assert.fail('no alarm was raised');
    assert.equal((facts as { readonly answer: string }).answer.length, 300);
  });

  it('is a line in the log if no chain is the reason', () => {
    for (const _ of [1, 2]) reasons.report(new Unavailable('Postgres cannot answer now'));
    assert.deepEqual([alarms.length, warnings], [0, [{ reason: 'Unavailable: Postgres cannot answer now' }]]);
  });
});
