import assert from 'node:assert/strict';
import { PublicKey, SystemProgram } from 'solana-web3-v1';
import { transferOf } from '../../../../commands/chainPorts.ts';
import type { Signer } from '../../../../commands/transfers/ports.ts';
import type { Payment } from '../../../../domain/payment/state.ts';
import { addFault } from '../../../../sandbox/solana/controls.ts';
import type { DepositSweep } from '../../../../src/chains/family.ts';
import { createSolanaSweep } from '../../../../src/chains/solana/deposits/sweep.ts';
import { ownerKey, ownerScheme } from '../../../../src/chains/solana/signer/keys.ts';
import { systemClock } from '../../../../src/runtime/system.ts';
import * as p from '../../../support/payments.ts';
import { tokenAccount } from '../../../support/solana.ts';
import { watching } from '../payins/watching.ts';
import { depositSeed, type SolanaWorld, signal, solanaWorld, usdcToken } from '../world.ts';

const salt = '0d'.repeat(32);
const owner = new PublicKey(ownerKey(depositSeed, salt).address);
const rent = 2_039_280;

describe('sweeping deposits on Solana', () => {
  let world: SolanaWorld;
  let sweep: DepositSweep;
  beforeEach(async () => {
    world = await solanaWorld({ slot_ms: 20 });
    sweep = createSolanaSweep(world.config(), { signer: world.signer, clock: systemClock });
  });
  afterEach(() => world.lab.stop());

  /** Pays a deposit; its payment has recorded what `recorded` says. */
  async function paid(amounts: readonly bigint[], recorded = amounts.length): Promise<Payment> {
    const payer = await world.lab.person();
    for (const amount of amounts) await world.lab.pay({ from: payer, to: owner, amount, version: 1 });
    world.settle();
    const watcher = watching(world, [owner]);
    const logs = (await watcher.poll('final'))?.logs ?? [];
    assert.equal(logs.length, amounts.length);
    const payins = logs.slice(0, recorded).map((log) => transferOf(501, log));
    const deposit = {
      scheme: ownerScheme,
      address: String(owner),
      salt,
      memo: null,
      contract: null,
      contractMemo: null,
    };
    const created = p.created({ from: p.asset(501) });
    assert.ok(created.type === 'PaymentCreated');
    const first = { ...created, data: { ...created.data, deposit } };
    const events = payins.flatMap((payin) => (payin ? [p.detected(payin), p.confirmed(payin)] : []));
    return p.paymentAfter([first, ...events, p.expired()]);
  }

  const lamports = async (of: PublicKey) => world.lab.connection.getBalance(of, 'processed');

  it('takes all of it when strangers have sent SOL to its account: that is no money of unknown origin', async () => {
    const payment = await paid([4_000000n]);
    const stranger = await world.lab.person();
    const to = await tokenAccount(owner);
    for (const count of [1, 2])
      await world.lab.send(
        await world.lab.signed(stranger, [
          SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey: to, lamports: count }),
        ]),
      );
    world.settle();
    const [swept] = await sweep.sweep(payment, signal);
    assert.equal(swept?.kind, 'swept', JSON.stringify(swept, bigintText));
    assert.equal(await world.balance(owner), null);
  });

  it('takes all of it to the treasury, closes the account and brings its rent back; again it does nothing', async () => {
    const payment = await paid([4_000000n, 6_010000n]);
    assert.deepEqual(await sweep.held([String(owner), String(world.nobody())], signal), [String(owner)]);
    const before = {
      usdc: await world.balance(world.treasury.publicKey),
      lamports: await lamports(world.treasury.publicKey),
    };
    const [swept, ...others] = await sweep.sweep(payment, signal);
    assert.deepEqual(others, []);
    assert.ok(
      swept?.kind === 'swept' && swept.token === usdcToken && swept.amount === 10_010000n,
      JSON.stringify(swept, bigintText),
    );
    assert.equal(await world.balance(world.treasury.publicKey), (before.usdc ?? 0n) + 10_010000n);
    assert.equal(await world.balance(owner), null);
    const gained = (await lamports(world.treasury.publicKey)) - before.lamports;
    assert.ok(gained > rent - 20_000 && gained < rent, `${gained} lamports`);
    assert.equal(await lamports(owner), 0);
    assert.deepEqual(await sweep.sweep(payment, signal), []);
    assert.deepEqual(await sweep.held([String(owner)], signal), []);
  });

  it('leaves money alone that its payment has not recorded, and payments that are not over', async () => {
    const payment = await paid([4_000000n, 6_010000n], 1);
    assert.deepEqual(await sweep.sweep(payment, signal), [
      { kind: 'left', why: 'holds money that is not recorded yet' },
    ]);
    const going = p.paymentAfter(p.paid);
    assert.deepEqual(await sweep.sweep(going, signal), [{ kind: 'left', why: 'its payment is not over' }]);
    assert.equal(await world.balance(owner), 10_010000n);
  });

  it('moves nothing when more comes in between: the transaction fails as a whole', async () => {
    const payment = await paid([1_000000n]);
    const payer = await world.lab.person();
    const signer: Signer = {
      ...world.signer,
      async sign(unsigned, purpose) {
        await world.lab.pay({ from: payer, to: owner, amount: 5n });
        const signed = await world.signer.sign(unsigned, purpose);
        await world.lab.connection.sendRawTransaction(Buffer.from(signed.bytes, 'base64'), { skipPreflight: true });
        return signed;
      },
    };
    const late = createSolanaSweep(world.config(), { signer, clock: systemClock });
    const [left] = await late.sweep(payment, signal);
    assert.equal(left?.kind, 'left', JSON.stringify(left, bigintText));
    assert.equal(await world.balance(owner), 1_000005n);
  });

  it('lands once though the answer is lost', async () => {
    const payment = await paid([2_000000n]);
    await addFault(world.solana.rpcUrl, { method: 'sendTransaction', kind: 'lostAnswer', times: 2 });
    const outcomes = await sweep.sweep(payment, signal);
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['swept'],
    );
    assert.equal(await world.lab.connection.getAccountInfo(await tokenAccount(owner), 'processed'), null);
  });
});

const bigintText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
