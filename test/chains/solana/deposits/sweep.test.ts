import assert from 'node:assert/strict';
import { PublicKey, SystemProgram } from 'solana-web3-v1';
import { transferOf } from '../../../../commands/chainPorts.ts';
import type { DepositSweep, HeldDeposit, PaidDeposit } from '../../../../commands/sweeps/ports.ts';
import { PayoutBlocked } from '../../../../commands/transferPorts.ts';
import type { Payment } from '../../../../domain/payment/state.ts';
import { createSolanaSweep } from '../../../../src/chains/solana/deposits/sweep.ts';
import { ownerKey, ownerScheme } from '../../../../src/chains/solana/signer/keys.ts';
import * as p from '../../../support/payments.ts';
import { tokenAccount } from '../../../support/solana.ts';
import { watching } from '../payins/watching.ts';
import { depositSeed, type SolanaWorld, signal, solanaWorld, usdcToken } from '../world.ts';
import { flushed, flushOrder, signedFlush } from './flushing.ts';

const salt = '0d'.repeat(32);
const owner = new PublicKey(ownerKey(depositSeed, salt).address);
const deposit: PaidDeposit = { address: String(owner), paymentId: 'payment-1' };
const rent = 2_039_280;

describe('sweeping deposits on Solana', () => {
  let world: SolanaWorld;
  let sweep: DepositSweep;
  let payment: Payment;
  beforeEach(async () => {
    world = await solanaWorld();
    sweep = createSolanaSweep(world.config(), async () => payment);
  });
  afterEach(() => world.lab.stop());

  const pay = async (amount: bigint) =>
    world.lab.pay({ from: await world.lab.person(), to: owner, amount, version: 1 });

  /** Pays the deposit. Its payment is over and has recorded the first `recorded` payins. */
  async function paid(amounts: readonly bigint[], recorded = amounts.length): Promise<void> {
    for (const amount of amounts) await pay(amount);
    world.settle();
    const logs = (await watching(world, [owner]).poll('final'))?.logs ?? [];
    assert.equal(logs.length, amounts.length);
    const payins = logs.slice(0, recorded).map((log) => transferOf(501, log));
    const at = { scheme: ownerScheme, address: String(owner), salt, memo: null, contract: null, contractMemo: null };
    const created = p.created({ from: p.asset(501) });
    assert.ok(created.type === 'PaymentCreated');
    const first = { ...created, data: { ...created.data, deposit: at } };
    payment = p.paymentAfter([
      first,
      ...payins.flatMap((payin) => [p.detected(payin), p.confirmed(payin)]),
      p.expired(),
    ]);
  }

  async function planned() {
    const held = await sweep.held([deposit], signal);
    return sweep.plan(held, 8, signal);
  }

  async function onlyHeld(): Promise<HeldDeposit> {
    const { parts, left } = await planned();
    const [held, ...others] = parts.flatMap(({ deposits }) => deposits);
    assert.ok(held && others.length === 0, JSON.stringify(left, bigintText));
    return held;
  }

  const lamports = async (of: PublicKey) => world.lab.connection.getBalance(of, 'processed');

  it('sweeps all of it when strangers have sent SOL to its account: that is not money of unknown origin', async () => {
    await paid([4_000000n]);
    const stranger = await world.lab.person();
    const to = await tokenAccount(owner);
    for (const count of [1, 2])
      await world.lab.send(
        await world.lab.signed(stranger, [
          SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey: to, lamports: count }),
        ]),
      );
    world.settle();
    assert.equal((await flushed(world, await onlyHeld())).kind, 'final');
    assert.equal(await world.balance(owner), null);
  });

  it('sweeps all of it to the treasury, closes the account and returns its rent; then it holds nothing', async () => {
    await paid([4_000000n, 6_010000n]);
    const before = {
      usdc: await world.balance(world.treasury.publicKey),
      lamports: await lamports(world.treasury.publicKey),
    };
    const { parts } = await planned();
    assert.ok((parts[0]?.cost ?? 0n) < 0n, 'more comes back than it costs');
    const held = await onlyHeld();
    assert.deepEqual([held.token, held.amount, held.salt], [usdcToken, 10_010000n, salt]);
    const fate = await flushed(world, held);
    assert.equal(fate.kind, 'final', JSON.stringify(fate, bigintText));
    assert.equal(await world.balance(world.treasury.publicKey), (before.usdc ?? 0n) + 10_010000n);
    assert.equal(await world.balance(owner), null);
    const gained = (await lamports(world.treasury.publicKey)) - before.lamports;
    assert.ok(gained > rent - 20_000 && gained < rent, `${gained} lamports`);
    assert.equal(await lamports(owner), 0);
    assert.deepEqual(await sweep.held([deposit], signal), []);
    await blocked(world.rail.numbering.prepare(flushOrder(world, held)));
  });

  it('ignores money that its payment has not recorded, and payments that are not over', async () => {
    await paid([4_000000n, 6_010000n], 1);
    assert.deepEqual(
      (await planned()).left.map(({ why }) => why),
      ['holds money that is not recorded yet'],
    );
    const going = p.paymentAfter(p.paid);
    const held = await sweep.held([deposit], signal);
    payment = going;
    const { parts, left } = await sweep.plan(held, 8, signal);
    assert.deepEqual([parts, left.map(({ why }) => why)], [[], ['its payment is not over']]);
    assert.equal(await world.balance(owner), 10_010000n);
  });

  for (const [name, again] of [
    ['the same amount', 4_000000n],
    ['another amount', 4_000001n],
  ] as const)
    it(`leaves ${name} that is paid after a sweep, and the running service sees it within minutes`, async () => {
      const watcher = watching(world, []);
      watcher.late.push(deposit.address);
      await paid([4_000000n]);
      assert.equal((await watcher.poll('final'))?.logs.length, 1);
      assert.equal((await flushed(world, await onlyHeld())).kind, 'final');
      await pay(again);
      world.settle();
      const { left } = await planned();
      assert.deepEqual(
        left.map(({ why, unrecorded }) => [why, unrecorded]),
        [['holds money that is not recorded yet', true]],
      );
      assert.deepEqual(
        (await watcher.ingester.readDeposit?.(deposit.address, signal))?.logs.map(({ amount }) => amount),
        [4_000000n, again],
      );
      const seen: bigint[] = [];
      for (let looks = 0; looks < 6; looks += 1) {
        world.solana.advanceSlots(300);
        seen.push(...((await watcher.poll('final'))?.logs ?? []).map(({ amount }) => amount));
      }
      assert.deepEqual(seen, [again]);
    });

  it('signs nothing when more arrived after it was ordered', async () => {
    await paid([1_000000n]);
    const held = await onlyHeld();
    await pay(5n);
    world.settle();
    await blocked(world.rail.numbering.prepare(flushOrder(world, held)));
  });

  it('moves nothing when more arrives after it was signed: the transaction fails as a whole, and is dead', async () => {
    await paid([1_000000n]);
    const attempt = await signedFlush(world, await onlyHeld());
    await pay(5n);
    await world.lab.connection.sendRawTransaction(Buffer.from(attempt.bytes, 'base64'), { skipPreflight: true });
    world.settle();
    const fate = await world.rail.fate([attempt], signal);
    assert.ok(fate.kind === 'dead' && fate.proof.reason === 'reverted', JSON.stringify(fate, bigintText));
    assert.equal(await world.balance(owner), 1_000005n);
  });
});

const blocked = (promise: Promise<unknown>) => assert.rejects(promise, (error) => error instanceof PayoutBlocked);

const bigintText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
