import assert from 'node:assert/strict';
import { type Keypair, PublicKey, SystemProgram } from 'solana-web3-v1';
import { BroadcastRefused, PayoutBlocked } from '../../../../commands/transferPorts.ts';
import type { SolanaFaultKind } from '../../../../sandbox/faults.ts';
import { addFault, forkTo, fundWallet } from '../../../../sandbox/solana/controls.ts';
import { endowWallet } from '../../../../sandbox/solana/endow.ts';
import { ChainUnavailable } from '../../../../src/chains/node/nodes.ts';
import { systemProgram } from '../../../../src/chains/solana/addresses.ts';
import { tokenAccountOf, tokenProgram } from '../../../../src/chains/solana/tokenProgram.ts';
import { tokenAccount, usdcMint } from '../../../support/solana.ts';
import { startProxy } from '../../proxy.ts';
import { orderTo, payoutReference, type SolanaWorld, signal, solanaWorld, usdcToken } from '../world.ts';

const blockedBy =
  (reason: PayoutBlocked['reason'], said = /./) =>
  (error: unknown) =>
    error instanceof PayoutBlocked && error.reason === reason && said.test(error.message);

describe('payouts on Solana', () => {
  let world: SolanaWorld;
  beforeEach(async () => {
    world = await solanaWorld();
  });
  afterEach(() => world.lab.stop());

  /** A foreign transaction that names a key; each call has another number and so another signature. */
  const name = async (stranger: Keypair, reference: PublicKey, number: number) => {
    const own = stranger.publicKey;
    const naming = SystemProgram.transfer({ fromPubkey: own, toPubkey: own, lamports: number });
    naming.keys.push({ pubkey: reference, isSigner: false, isWritable: false });
    return world.lab.send(await world.lab.signed(stranger, [naming]));
  };
  const fault = (kind: SolanaFaultKind, method = 'sendTransaction') => addFault(world.solana.rpcUrl, { method, kind });
  const fateOf = (attempt: Parameters<SolanaWorld['rail']['fate']>[0][number], rail = world.rail) =>
    rail.fate([attempt], signal);

  describe('land, exactly once,', () => {
    it('at a wallet without a token account, which is created', async () => {
      const receiver = world.nobody();
      const lamports = () => world.lab.connection.getBalance(world.treasury.publicKey, 'processed');
      const before = await lamports();
      const attempt = await world.attemptTo(orderTo(receiver, 12_345678n));
      assert.deepEqual(await fateOf(attempt), { kind: 'unknown' });
      for (const _ of [1, 2, 3]) await world.rail.broadcast(attempt.bytes);
      assert.deepEqual(await fateOf(attempt), { kind: 'pending', mined: true });
      world.settle();
      const slot = await slotOf(attempt.hash);
      assert.deepEqual(await fateOf(attempt), {
        kind: 'final',
        attempt: 1,
        hash: attempt.hash,
        blockNumber: BigInt(slot),
        blockHash: world.solana.chain.blockhashes.at(slot),
        cost: {
          payer: world.treasury.publicKey.toBase58(),
          fee: String(before - (await lamports()) - 2_039_280),
          rent: '2039280',
        },
      });
      await world.rail.broadcast(attempt.bytes);
      assert.equal(await world.balance(receiver), 12_345678n);
      assert.equal(await world.balance(world.treasury.publicKey), 1_000_000000n - 12_345678n);
    });

    it('and open no account that the payment’s fee does not cover, also if it is closed at the last moment', async () => {
      const stranger = await world.lab.person(1_000000n);
      const receiver = stranger.publicKey;
      const order = orderTo(receiver, 1n, { opensAccount: false });
      world.settle();
      const attempt = await world.attemptTo(order);
      await world.lab.pay({ from: stranger, to: world.treasury.publicKey, amount: 1_000000n });
      await world.lab.send(await world.lab.signed(stranger, [world.lab.close(receiver, await tokenAccount(receiver))]));
      const before = await world.lab.connection.getBalance(world.treasury.publicKey, 'processed');
      await world.rail.broadcast(attempt.bytes).catch(() => {});
      world.settle();
      assert.equal(await world.balance(receiver), null);
      const lost = before - (await world.lab.connection.getBalance(world.treasury.publicKey, 'processed'));
      assert.ok(lost <= 10_000, `no rent is lost, ${lost} lamports are`);
      await assert.rejects(
        world.rail.numbering.prepare(order),
        blockedBy('refusedByToken', /has closed its account for USDC/),
      );
      await world.rail.numbering.prepare({ ...order, opensAccount: true, referenceOrdinal: 2 });
    });

    it('at the reported cost: with the rent if the receiver has no account', async () => {
      const costOf = (receiver: PublicKey) =>
        world.rail.receiverCost?.({ token: usdcToken, receiver: receiver.toBase58() }, signal);
      const { publicKey: holder } = await world.lab.person(1n);
      world.settle();
      assert.deepEqual(await costOf(holder), { coin: 0n, opensAccount: false });
      const newcomer = world.nobody();
      assert.deepEqual(await costOf(newcomer), { coin: 2_039_280n, opensAccount: true });
      const before = await world.lab.connection.getBalance(world.treasury.publicKey, 'processed');
      await world.rail.broadcast((await world.attemptTo(orderTo(newcomer, 1n, { opensAccount: true }))).bytes);
      world.settle();
      const spent = before - (await world.lab.connection.getBalance(world.treasury.publicKey, 'processed'));
      assert.ok(BigInt(spent) <= 2_039_280n + (await world.rail.transferCost(signal)));
    });

    it('with the reference of their purpose, which is also the memo unless the receiver has one', async () => {
      const receiver = (await world.lab.person(0n)).publicKey;
      for (const [id, receiverMemo] of [
        ['payment-1', null],
        ['payment-2', 'invoice ✓ 7'],
      ] as const) {
        const reference = payoutReference({ reference: id, referenceOrdinal: 1 });
        const memo = receiverMemo ?? reference;
        const attempt = await world.attemptTo(orderTo(receiver, 1n, { receiverMemo, reference: id }));
        await world.rail.broadcast(attempt.bytes);
        world.settle();
        const [found] = await world.lab.connection.getSignaturesForAddress(new PublicKey(reference), {}, 'finalized');
        assert.equal(found?.signature, attempt.hash);
        assert.equal(found.memo, `[${Buffer.byteLength(memo)}] ${memo}`);
      }
    });

    it('each on its own when two payments pay the same at the same moment', async () => {
      const receiver = world.nobody();
      const attempts = [
        await world.attemptTo(orderTo(receiver, 3n, { reference: 'payment-1', receiverMemo: 'same' })),
        await world.attemptTo(orderTo(receiver, 3n, { reference: 'payment-2', receiverMemo: 'same' })),
      ];
      for (const { bytes } of attempts) await world.rail.broadcast(bytes);
      assert.equal(await world.balance(receiver), 6n);
    });

    it('when the answer to sending them was lost, they arrived twice, or were dropped at first', async () => {
      const receiver = world.nobody();
      let paid = 0n;
      for (const kind of ['lostAnswer', 'duplicate', 'drop'] as const) {
        const attempt = await world.attemptTo(orderTo(receiver, 1n, { reference: kind }));
        await fault(kind);
        await world.rail.broadcast(attempt.bytes).catch((error) => assert.ok(error instanceof ChainUnavailable));
        await world.rail.broadcast(attempt.bytes);
        world.settle();
        assert.equal((await fateOf(attempt)).kind, 'final', kind);
        paid += 1n;
        assert.equal(await world.balance(receiver), paid);
      }
    });

    it('again when a fork has dropped them', async () => {
      const receiver = world.nobody();
      const attempt = await world.attemptTo(orderTo(receiver));
      await world.rail.broadcast(attempt.bytes);
      const slot = await slotOf(attempt.hash);
      world.solana.advanceSlots(2);
      await forkTo(world.solana.rpcUrl, slot - 1);
      assert.deepEqual(await fateOf(attempt), { kind: 'unknown' });
      await world.rail.broadcast(attempt.bytes);
      world.settle();
      assert.equal((await fateOf(attempt)).kind, 'final');
      assert.equal(await world.balance(receiver), 5_000000n);
    });
  });

  describe('are not signed', () => {
    const refusedTo = async (receiver: PublicKey | string, said: RegExp) =>
      assert.rejects(world.rail.numbering.prepare(orderTo(receiver)), blockedBy('refusedByToken', said));

    it('without enough USDC, or SOL for fee and rent', async () => {
      await assert.rejects(world.rail.numbering.prepare(orderTo(world.nobody(), 1_000_000001n)), blockedBy('float'));
      const beside = { ...orderTo(world.nobody()), spokenFor: 999_000000n };
      await assert.rejects(world.rail.numbering.prepare(beside), blockedBy('float', /under way/));
      const poor = await solanaWorld();
      const balance = await poor.lab.connection.getBalance(poor.treasury.publicKey, 'processed');
      const receiver = (await poor.lab.person()).publicKey;
      const give = SystemProgram.transfer({
        fromPubkey: poor.treasury.publicKey,
        toPubkey: receiver,
        lamports: balance - 5_000 - 1_000_000,
      });
      await poor.lab.send(await poor.lab.signed(poor.treasury, [give]));
      poor.solana.advanceSlots(2);
      await assert.rejects(poor.rail.numbering.prepare(orderTo(world.nobody())), blockedBy('gas'));
      await poor.rail.numbering.prepare(orderTo(receiver));
      await poor.lab.stop();
    });

    it('to no wallet: a token account, a mint, a program, a program’s data, an address off the curve', async () => {
      const person = (await world.lab.person(1n)).publicKey;
      world.solana.advanceSlots(2);
      await refusedTo(await tokenAccount(person), /is a token account: give the address of the wallet/);
      await refusedTo(tokenProgram, /is a program/);
      await refusedTo(usdcMint, /belongs to the program Tokenkeg/);
      await refusedTo(
        tokenAccountOf(String(world.nobody()), usdcToken.address),
        /not on the curve and nothing is there/,
      );
      assert.notEqual(person.toBase58(), systemProgram);
    });

    it('when the treasury has made them already, which only an older log lacks', async () => {
      const receiver = world.nobody();
      const attempt = await world.attemptTo(orderTo(receiver));
      await world.rail.broadcast(attempt.bytes);
      world.solana.advanceSlots(2);
      await assert.rejects(world.rail.numbering.prepare(orderTo(receiver)), blockedBy('treasuryBehindChain'));
      await world.rail.numbering.prepare(orderTo(receiver, 1n, { reference: 'payment-2' }));
    });

    it('when one of them has failed on the chain and the log does not know: the next one has another reference', async () => {
      const receiver = world.nobody();
      const attempt = await world.attemptTo(orderTo(receiver));
      await world.lab.pay({ from: world.treasury, to: world.nobody(), amount: 999_000000n });
      await world.rail.broadcast(attempt.bytes);
      world.settle();
      assert.equal((await fateOf(attempt)).kind, 'dead');
      await endowWallet(world.solana.rpcUrl, world.treasury.publicKey.toBase58(), { usdc: 1_000_000000n });
      world.settle();
      await assert.rejects(world.rail.numbering.prepare(orderTo(receiver)), blockedBy('treasuryBehindChain'));
      await world.rail.numbering.prepare(orderTo(receiver, 5_000000n, { referenceOrdinal: 2 }));
    });

    it('but are when strangers have named their reference, however often: the secret one, or the public one of older payments', async () => {
      const { referenceOrdinal: _, ...older } = orderTo(world.nobody());
      const stranger = await world.lab.person();
      for (const reference of [payoutReference(orderTo(world.nobody())), payoutReference(older)]) {
        for (let n = 1; n <= 110; n++) await name(stranger, new PublicKey(reference), n);
        world.solana.advanceSlots(2);
      }
      await world.rail.numbering.prepare(orderTo(world.nobody()));
      await world.rail.numbering.prepare(older);
      const attempt = await world.attemptTo(older);
      await world.rail.broadcast(attempt.bytes);
      world.solana.advanceSlots(2);
      await assert.rejects(world.rail.numbering.prepare(older), blockedBy('treasuryBehindChain'));
    });

    it('again before they are dead: nothing replaces or cancels a signed one', () => {
      const { kind, prepare, ...others } = world.rail.numbering;
      assert.deepEqual([kind, prepare.length, others], ['expiring', 1, {}]);
    });
  });

  it('pay a vault of several owners, off the curve, once it has some SOL', async () => {
    const vault = tokenAccountOf(String(world.nobody()), usdcToken.address);
    await fundWallet(world.solana.rpcUrl, vault, { lamports: 1_000_000n });
    world.solana.advanceSlots(2);
    const attempt = await world.attemptTo(orderTo(vault));
    await world.rail.broadcast(attempt.bytes);
    world.settle();
    assert.equal((await fateOf(attempt)).kind, 'final');
  });

  it('are refused by nodes before they fail there, with the reason', async () => {
    const [first, second] = [
      await world.attemptTo(orderTo(world.nobody(), 900_000000n)),
      await world.attemptTo(orderTo(world.nobody(), 900_000000n, { reference: 'payment-2' })),
    ];
    await world.rail.broadcast(first.bytes);
    world.solana.advanceSlots(2);
    for (const _ of [1, 2]) await assert.rejects(world.rail.broadcast(second.bytes), BroadcastRefused);
    assert.deepEqual(await fateOf(second), { kind: 'unknown' });
  });

  it('report the treasury’s spendable balance', async () => {
    const { gas, tokens } = await world.rail.balances(signal);
    assert.equal(tokens[usdcMint.toBase58()], 1_000_000000n);
    assert.ok(gas > 9_000_000_000n && gas < 10_000_000_000n);
  });

  it('refuse a network that is not Solana’s own', async () => {
    const lying = await startProxy(world.solana.rpcUrl, async (method, params, forward) => {
      const answer = (await forward(method, params)) as { value: unknown[] };
      return method === 'getMultipleAccounts' ? { ...answer, value: answer.value.map(() => null) } : answer;
    });
    await assert.rejects(world.railOf([lying.url]).balances(signal), /serves a network without USDC/);
  });

  async function slotOf(hash: string): Promise<number> {
    const { value } = await world.lab.connection.getSignatureStatus(hash, { searchTransactionHistory: true });
    assert.ok(value);
    return value.slot;
  }
});
