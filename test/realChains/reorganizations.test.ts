/** Reorganizations of real EVM chains: a node forgets its newest blocks, and the transactions in them. */
import assert from 'node:assert/strict';
import { parseUnits } from 'viem';
import { describeOnReal } from '../support/realNodes.ts';
import { createRealWorld } from '../support/realWorld.ts';
import { createSandbox } from '../support/sandbox.ts';
import { createFaultTrials, raisedSince } from './faultTrials.ts';

const chainIds = [8453, 1] as const;

describeOnReal(['GETH'], 'a chain that goes back', () => {
  const sandbox = createSandbox({ chains: chainIds, onRealNodes: true });
  const world = createRealWorld(sandbox);
  const trials = createFaultTrials(sandbox, [
    [8453, 1],
    [1, 8453],
  ]);
  const { customers } = trials;
  before(async () => assert.equal(await sandbox.start(), 'ready', sandbox.printed()));
  after(() => sandbox.destroy());

  for (const blocks of [1, 2]) {
    it(`by ${blocks}: each payment completes once`, () =>
      trials.survive(`set back by ${blocks}`, chainIds, async () => {
        for (const id of chainIds) await world.setBack(id, blocks);
      }));
  }

  it('by 40, past what counted as final: an alarm names the lost payin, nobody is paid twice, and new payments complete', async () => {
    const before = await trials.alarms();
    const lost = customers.newOrder(8453, 1);
    await trials.serve(lost);
    await sandbox.follow(lost.payment.id);
    await world.setBack(8453, 40);
    const began_ms = performance.now();
    await sandbox.until(async () => ((await trials.alarms()).get('payinLost') ?? 0) > 0);
    await trials.untilReady();
    const ready_s = Math.round((performance.now() - began_ms) / 1_000);
    const next = customers.newOrder(8453, 1);
    await trials.serve(next);
    await sandbox.follow(next.payment.id);
    for (const { receiver, amount } of [lost, next]) {
      assert.equal(await sandbox.balance(1, 'USDC', receiver), parseUnits(amount, 6));
    }
    const alarms = raisedSince(before, await trials.alarms());
    trials.note({ family: 'evm', scenario: 'set back by 40', payments: 2, ready_s, alarms });
  });

  it('leaves every payment whole', trials.allAreWhole);
});
