import assert from 'node:assert/strict';
import { parseEther } from 'viem';
import type { Clock } from '../../commands/ports.ts';
import type { PayoutRail, Signer } from '../../commands/transferPorts.ts';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import type { TokenRef } from '../../domain/payment/events.ts';
import { instant, plus } from '../../domain/time.ts';
import type { TreasuryEvent } from '../../domain/treasury/events.ts';
import { treasury as treasuryDecider, treasuryInstance } from '../../domain/treasury/state.ts';
import { fund } from '../../sandbox/tokens.ts';
import { createEvmPayoutRail } from '../../src/chains/evm/payouts/rail.ts';
import { createEvmSigner } from '../../src/chains/evm/signer/signer.ts';
import { createSpending } from '../../src/chains/money/spending.ts';
import { type SelfTestDeps, selfTestPayment } from '../../tools/selfTestPayment.ts';
import { evmConfig } from '../chains/evm/world.ts';
import { solanaWorld } from '../chains/solana/world.ts';
import { payingWorld } from '../chains/stellar/paying.ts';
import { chainClient, isolatedAnvil, treasury, treasuryKey } from '../support/anvil.ts';
import { processes } from '../support/processes.ts';

const { signal } = new AbortController();
const spending = createSpending({ perTransfer_usd: 10n, perHour_usd: 1_000n }, { now: () => instant(0) });
const tokenOf = (chainId: ChainId): TokenRef => chainOf(chainId).tokens[0] as TokenRef;
const cent = (chainId: ChainId) => 10n ** BigInt(tokenOf(chainId).decimals - 2);

/** @param go advances the chain between two polls */
function operator(rail: PayoutRail, signer: Signer, go: () => Promise<unknown>) {
  const { start, store, typesIn, clock, time } = processes({ now: instant(Date.now()) });
  const steps: string[] = [];
  const passing: Clock = {
    now: clock.now,
    async sleep(duration_ms) {
      time.now = plus(time.now, duration_ms);
      await go();
    },
  };
  const deps: SelfTestDeps = {
    handle: start(),
    clock: passing,
    rail,
    signer,
    by: 'operator:test',
    tell: (step) => steps.push(step),
  };
  const stream = `treasury-${treasuryInstance(rail.chainId, rail.account)}`;
  const amount = cent(rail.chainId as ChainId);
  return {
    steps,
    store,
    deps,
    types: () => typesIn(stream),
    confirmed: async () =>
      (await store.read(stream)).at(-1)?.data as Extract<TreasuryEvent, { type: 'SweepConfirmed' }>['data'],
    pay: (more: Partial<SelfTestDeps> = {}) =>
      selfTestPayment({ ...deps, ...more }, tokenOf(rail.chainId as ChainId), amount, signal),
  };
}

describe('paying a cent to oneself', () => {
  describe('on an EVM chain', () => {
    const world = async () => {
      const { rpcUrl } = await isolatedAnvil(8453);
      const client = chainClient(rpcUrl);
      await fund(rpcUrl, 8453, treasury, { gas: parseEther('1'), tokens: { USDC: cent(8453) } });
      const depths = { final: 2, finalLarge: 2, payout: 2 };
      const rail = createEvmPayoutRail({ ...evmConfig(8453, [rpcUrl]), depths }, treasury);
      const signer = createEvmSigner({ privateKey: treasuryKey, spending });
      return { client, rail, signer, ...operator(rail, signer, () => client.mine({ blocks: 1 })) };
    };

    it('takes a nonce in the log, records the bytes before they are sent, and reports its finality', async () => {
      const { pay, types, steps, client } = await world();
      const { hash, blockNumber, took_ms } = await pay();
      const receipt = await client.getTransactionReceipt({ hash: hash as `0x${string}` });
      assert.deepEqual([receipt.blockNumber, receipt.status], [blockNumber, 'success']);
      assert.ok(took_ms > 0);
      assert.deepEqual(await types(), ['TreasuryOpened', 'NonceAssigned', 'SweepSigned', 'SweepConfirmed']);
      assert.deepEqual(steps, [`signed: ${hash}`, 'sent', 'mined; it waits to be final']);
      await pay();
      assert.equal((await types()).filter((type) => type === 'NonceAssigned').length, 2);
    });

    it('continues with the nonce of a run that was interrupted before its bytes were sent', async () => {
      const { pay, rail, types, client } = await world();
      const cutOff = { ...rail, fate: () => Promise.reject(new Error('cut off')) };
      await assert.rejects(pay({ rail: cutOff }), /cut off/);
      await pay();
      assert.deepEqual(
        (await types()).filter((type) => type === 'NonceAssigned'),
        ['NonceAssigned'],
      );
      assert.equal(await client.getTransactionCount({ address: treasury }), 1);
    });

    it('takes nothing when the treasury cannot pay, or payouts are paused', async () => {
      const { deps, types, pay } = await world();
      const much = selfTestPayment(deps, tokenOf(8453), 2n * cent(8453), signal);
      await assert.rejects(much, { name: 'PayoutBlocked', reason: 'float' });
      assert.deepEqual(await types(), []);
      const paused = { type: 'PayoutsPaused', data: { reason: 'holiday', pausedAt: deps.clock.now() } } as const;
      await deps.handle(treasuryDecider, treasuryInstance(8453, treasury), () => [paused], {
        cause: 'worker:test',
        appId: null,
      });
      await assert.rejects(pay(), /treasuryPaused: .*holiday/);
      assert.deepEqual(await types(), ['PayoutsPaused']);
    });
  });

  it('works on Solana, where nothing is numbered and no balance changes', async () => {
    const { railOf, signer, lab } = await solanaWorld();
    const { pay, types, confirmed } = operator(railOf(), signer, async () => lab.solana.advanceSlots(20));
    const { blockNumber } = await pay();
    assert.ok(blockNumber > 0n);
    assert.deepEqual(await types(), ['TreasuryOpened', 'SweepSigned', 'SweepConfirmed']);
    const { nonce, landed } = await confirmed();
    assert.equal(nonce, null);
    assert.ok(BigInt(landed?.cost?.fee ?? 0) > 0n, 'its fee is in the books');
    await pay();
  });

  it('works on Stellar, and is no payin there', async () => {
    const world = await payingWorld();
    const { pay, types } = operator(world.rail, world.signer, async () => world.stellar.closeLedgers(1));
    await pay();
    assert.deepEqual(await types(), ['TreasuryOpened', 'NonceAssigned', 'SweepSigned', 'SweepConfirmed']);
    await world.lab.stop();
  });
});
