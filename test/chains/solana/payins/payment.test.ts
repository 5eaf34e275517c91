/** A payment's status from Solana's data: the service's own worker over a local network. */
import assert from 'node:assert/strict';
import { Keypair } from 'solana-web3-v1';
import type { Cursor, Pass } from '../../../../commands/chainPorts.ts';
import { transferId } from '../../../../domain/payment/events.ts';
import { payinAddress } from '../../../../domain/payment/payins.ts';
import { paymentDecider } from '../../../../domain/payment/state.ts';
import { statusOf } from '../../../../domain/payment/view.ts';
import { epochMs } from '../../../../domain/time.ts';
import { forkTo } from '../../../../sandbox/solana/controls.ts';
import { payinsWorker } from '../../../../src/workers/payins/payins.ts';
import { believing } from '../../../support/believing.ts';
import { append, createWorld } from '../../../support/histories.ts';
import * as p from '../../../support/payments.ts';
import { type SolanaWorld, signal, solanaWorld } from '../world.ts';
import { watching } from './watching.ts';

/** By the chain's clock, all money arrives before the expiry. */
const paidAt_s = epochMs(p.minute(5)) / 1_000;

describe('a payment over Solana', () => {
  let world: SolanaWorld;
  beforeEach(async () => {
    world = await solanaWorld({ now_s: () => paidAt_s });
  });
  afterEach(() => world.lab.stop());

  it('is unpaid again when a fork drops its payin, and funded once when the payin lands elsewhere', async () => {
    const { payer, deposit, act, status, phases } = await paying(world);
    const transaction = await world.lab.signed(
      payer,
      await world.lab.payment({ from: payer, to: deposit, amount: 10_010000n }),
    );
    world.solana.advanceSlots(1);
    const txHash = await world.lab.send(transaction);
    const slot = world.solana.chain.history.find(txHash)?.slot ?? -1;
    world.solana.advanceSlots(1);
    await act('head');
    assert.equal(await status(), 'payment_started');

    await forkTo(world.solana.rpcUrl, slot - 1);
    for (const pass of ['head', 'final'] as const) await act(pass);
    assert.equal(await status(), 'payment_started');
    world.settle();
    for (const pass of ['head', 'final'] as const) await act(pass);
    assert.equal(await status(), 'payment_unpaid');
    assert.deepEqual(await phases(), ['orphaned']);

    assert.equal(await world.lab.send(transaction), txHash);
    world.settle();
    for (const pass of ['head', 'final', 'final'] as const) await act(pass);
    assert.equal(await status(), 'payment_payin_completed');
    assert.deepEqual(await phases(), ['confirmed']);
  });

  it('follows its payin when a fork moves it to another block', async () => {
    const { payer, deposit, act, status, phases } = await paying(world);
    const transaction = await world.lab.signed(
      payer,
      await world.lab.payment({ from: payer, to: deposit, amount: 10_010000n }),
    );
    world.solana.advanceSlots(1);
    const txHash = await world.lab.send(transaction);
    world.solana.advanceSlots(1);
    await act('head');
    await forkTo(world.solana.rpcUrl, (world.solana.chain.history.find(txHash)?.slot ?? 0) - 1, true);
    world.settle();
    for (const pass of ['head', 'final'] as const) await act(pass);
    assert.equal(await status(), 'payment_payin_completed');
    assert.deepEqual(await phases(), ['confirmed']);
  });

  it('adds up transfers of wallets and exchanges, each counted once though it is read repeatedly', async () => {
    const { payer, deposit, act, restart, status, phases } = await paying(world);
    await world.lab.pay({ from: payer, to: deposit, amount: 4_000000n });
    await world.lab.pay({ from: payer, to: deposit, amount: 6_010000n, memo: 'from an exchange' });
    world.settle();
    for (const _ of [1, 2]) {
      for (const pass of ['head', 'final'] as const) await act(pass);
      restart();
      world.settle(1);
    }
    assert.equal(await status(), 'payment_payin_completed');
    assert.deepEqual(await phases(), ['confirmed', 'confirmed']);
  });
});

/** A payment of 10.01 USDC, and the worker that watches for its money. */
async function paying(world: SolanaWorld) {
  const [payer, deposit] = [await world.lab.person(), Keypair.generate().publicKey];
  world.settle();
  const log = createWorld();
  const created = p.created({ from: p.asset(501) });
  assert.ok(created.type === 'PaymentCreated');
  const { paymentId, appId } = created.data;
  const address = deposit.toBase58();
  const data = { ...created.data, deposit: { ...created.data.deposit, address } };
  await append(log, `payment-${paymentId}`, [{ ...created, data }]);
  const ref = { paymentId, appId };
  const cursors = new Map<Pass, Cursor>();

  const payment = async () => {
    const found = await log.handle(paymentDecider, paymentId, () => [], { cause: 'worker:test', appId: null });
    assert.ok('state' in found && found.state);
    return found.state;
  };
  const newWorker = () =>
    payinsWorker({
      handle: log.handle,
      clock: log.clock,
      crash: () => {},
      endPassed: async () => {},
      moves: () => 0,
      changes: () => 0,
      expected: async () => ({ oldestPending: 0n, nextExpiry: null }),
      ...believing,
      ingester: watching(world, [deposit]).ingester,
      caughtUp: async () => {},
      matchDeposits: async () => [{ ...ref, ...payinAddress(address, null), agreed_usd: 11n }],
      unmatched: async () => assert.fail('nothing is shared'),
      payinsInBlocks: async () => [],
      async pendingPayins(upTo) {
        const detected = (await payment()).payins.filter(({ phase }) => phase === 'detected');
        return detected
          .map(({ transfer }) => transfer)
          .filter(({ blockNumber }) => BigInt(blockNumber) <= upTo)
          .map((transfer) => ({
            ...{
              ...ref,
              transferId: transferId(transfer),
              txHash: transfer.txHash,
              large: false,
              agreed_usd: 11n,
              left: false,
            },
            ...{ blockNumber: BigInt(transfer.blockNumber), blockHash: transfer.blockHash },
          }));
      },
      loadCursor: async (pass) => cursors.get(pass) ?? null,
      saveCursor: async (next) => void cursors.set(next.pass, next),
      missed: () => assert.fail('every node remembers'),
      park: async (_, txHash, error) => assert.fail(`${txHash}: ${error}`),
      stray: () => {},
      setAside: async (address) => assert.fail(`${address} is not explained`),
      startFrom: async () => p.created_at,
    });
  let worker = newWorker();
  return {
    ...{ payer, deposit },
    act: (pass: Pass) => worker.act(pass, signal),
    /** Forgets the watcher's memory. */
    restart() {
      worker = newWorker();
    },
    status: async () => statusOf(await payment()),
    phases: async () => (await payment()).payins.map(({ phase }) => phase),
  };
}
