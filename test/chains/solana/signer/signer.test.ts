import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { getBase58Decoder, getBase58Encoder } from '@solana/kit';
import { PublicKey, type TransactionInstruction, TransactionMessage, VersionedMessage } from 'solana-web3-v1';
import {
  type SigningPurpose,
  SigningRefused,
  type TransferOrder,
  type Unsigned,
} from '../../../../commands/transferPorts.ts';
import type { FlushedDeposit } from '../../../../domain/transfer/shapes.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import { solanaFees } from '../../../../src/chains/solana/config.ts';
import {
  messageIn,
  publicReferenceOf,
  sweepMessage,
  type TransactionTerms,
  termsInMessage,
  transferMessage,
} from '../../../../src/chains/solana/payouts/transaction.ts';
import { ownerKey, solanaKey } from '../../../../src/chains/solana/signer/keys.ts';
import { createSolanaSigner } from '../../../../src/chains/solana/signer/signer.ts';
import { depositSeed, limits, orderTo, payout, payoutReference, usdcToken } from '../world.ts';

const treasury = solanaKey(Buffer.alloc(32, 7));
const receiver = solanaKey(Buffer.alloc(32, 8)).address;
const salt = 'ab'.repeat(32);
const owner = ownerKey(depositSeed, salt).address;
const terms: TransactionTerms = { blockhash: receiver, units: 80_000, price_microLamports: 1_000n };
const clock = { now: () => '2026-01-01T00:00:00.000Z' as const } as never;

const newSigner = () =>
  createSolanaSigner({ key: treasury, depositSeed, fees: solanaFees(), spending: createSpending(limits, clock) });
const reference = payoutReference(orderTo(receiver));

const unsignedOf = (order: TransferOrder, message: Uint8Array, more: Partial<Unsigned> = {}): Unsigned => ({
  ...{ chainId: 501, account: treasury.address, nonce: null, order, validUntil: '150', fee: {} },
  payload: { message: Buffer.from(message).toString('base64') },
  ...more,
});
const prepared = (order = orderTo(receiver), more: Partial<Unsigned> = {}) =>
  unsignedOf(order, transferMessage(treasury.address, order, reference, terms), more);

async function refused(unsigned: Unsigned, reason: SigningRefused['reason'], purpose: SigningPurpose = payout) {
  const isRefusal = (error: unknown) => error instanceof SigningRefused && error.reason === reason;
  const signer = newSigner();
  assert.throws(() => signer.check(unsigned, purpose), isRefusal);
  await assert.rejects(signer.sign(unsigned, purpose), isRefusal);
}

describe('the Solana signer', () => {
  it('signs the order, and the same bytes each time', async () => {
    const signer = newSigner();
    const signed = await signer.sign(prepared(), payout);
    assert.deepEqual(await signer.sign(prepared(), payout), signed);
    const signature = Buffer.from(signed.bytes, 'base64').subarray(1, 65);
    assert.equal(getBase58Decoder().decode(signature), signed.hash);
    assert.ok(verify(null, messageIn(signed.bytes), publicKey(treasury.address), signature));
    assert.deepEqual(termsInMessage(messageIn(signed.bytes)), terms);
  });

  it('refuses a transfer to another receiver, of another amount, with another memo or for another payment', async () => {
    const order = orderTo(receiver);
    for (const other of [
      orderTo(owner),
      orderTo(receiver, 5_000001n),
      orderTo(receiver, 5_000000n, { receiverMemo: 'x' }),
    ])
      await refused(unsignedOf(order, transferMessage(treasury.address, other, reference, terms)), 'mismatch');
    await refused(prepared(), 'mismatch', { kind: 'payout', reference: 'payment-2' });
    await refused(prepared(orderTo(receiver, 0n)), 'mismatch');
  });

  it('refuses additional instructions and accounts, and bytes that are no message', async () => {
    const order = orderTo(receiver);
    const message = transferMessage(treasury.address, order, reference, terms);
    await refused(unsignedOf(order, message.slice(0, -1)), 'mismatch');
    await refused(unsignedOf(order, Buffer.concat([message, Buffer.of(0)])), 'mismatch');
    await refused(unsignedOf(order, new Uint8Array()), 'mismatch');
    const edits: readonly ((each: TransactionInstruction[]) => TransactionInstruction[])[] = [
      (each) => [...each, ...each.slice(-1)],
      (each) => each.slice(0, -1),
      (each) => each.toReversed(),
      ([limit, price, create, transfer, memo]) => [limit!, price!, create!, withKey(transfer!), memo!],
    ];
    for (const edit of edits) await refused(unsignedOf(order, edited(message, edit)), 'mismatch');
  });

  it('refuses tokens outside the catalogue', async () => {
    const { token } = orderTo(receiver);
    await refused(prepared(orderTo(receiver, 5n, { token: { ...token, address: receiver } })), 'mismatch');
    await refused(prepared(orderTo(receiver, 5n, { token: { ...token, decimals: 9 } })), 'mismatch');
  });

  it('refuses another account, chain or nonce', async () => {
    await refused(prepared(undefined, { account: receiver }), 'account');
    await refused(prepared(undefined, { nonce: 1n }), 'account');
    await refused(prepared(undefined, { chainId: 1500 }), 'chain');
    await refused(prepared(orderTo(receiver, 5n, { chainId: 8453 })), 'chain');
    const order = orderTo(receiver);
    await refused(unsignedOf(order, transferMessage(receiver, order, reference, terms)), 'mismatch');
  });

  it('refuses fees above the limits', async () => {
    const order = orderTo(receiver);
    for (const over of [{ units: solanaFees().unitsMax + 1 }, { price_microLamports: 5_000_001n }])
      await refused(
        unsignedOf(order, transferMessage(treasury.address, order, reference, { ...terms, ...over })),
        'fee',
      );
  });

  it('refuses a transfer with another reference than its order’s: the public one, or that of another attempt', async () => {
    const { referenceOrdinal: _, ...older } = orderTo(receiver);
    const order = orderTo(receiver);
    const bearing = (reference: string) => transferMessage(treasury.address, order, reference, terms);
    for (const other of [older, { ...order, referenceOrdinal: 2 }, { ...order, reference: 'payment-2' }])
      await refused(unsignedOf(order, bearing(payoutReference(other))), 'mismatch');
    await refused(unsignedOf(older, bearing(reference)), 'mismatch');
    await newSigner().sign(unsignedOf(older, bearing(publicReferenceOf('payout', 'payment-1'))), payout);
  });

  it('keeps to the limits per transfer and per hour, counting each payment once', async () => {
    const signer = newSigner();
    const big = orderTo(receiver, 1_000_000000n);
    await refused(prepared(orderTo(receiver, 1_000_000001n)), 'perTransfer');
    const pay = (id: string) =>
      signer.sign(
        unsignedOf(big, transferMessage(treasury.address, big, payoutReference({ ...big, reference: id }), terms)),
        {
          kind: 'payout',
          reference: id,
        },
      );
    for (let payment = 0; payment < 10; payment++) for (const _ of [1, 2]) await pay(`payment ${payment}`);
    await assert.rejects(pay('one more'), (error) => error instanceof SigningRefused && error.reason === 'perHour');
  });

  it('never cancels, and signs no transfer for a purpose that moves nothing', async () => {
    await refused(prepared(), 'mismatch', { kind: 'cancel', reference: 'nonce 1' });
    for (const kind of ['anchor', 'deployment'] as const) await refused(prepared(), 'mismatch', { ...payout, kind });
  });

  describe('sweeps', () => {
    const purpose: SigningPurpose = { kind: 'sweep', reference: owner };
    const order = orderTo(treasury.address, 7_000000n, flushOf({ address: owner, salt }));
    const sweeping = (over: Partial<{ owner: string; amount: bigint; to: string; salt: string }> = {}): Unsigned => {
      const { to = treasury.address, ...deposited } = over;
      const message = sweepMessage(to, { owner, token: usdcToken, amount: 7_000000n, ...deposited }, terms);
      return unsignedOf(order, message, {
        payload: { message: Buffer.from(message).toString('base64'), salt: over.salt ?? salt },
      });
    };

    it('the balance of a deposit of ours, by its owner’s key, to the treasury', async () => {
      const { bytes, hash } = await newSigner().sign(sweeping(), purpose);
      const wire = Buffer.from(bytes, 'base64');
      assert.equal(wire[0], 2);
      assert.equal(getBase58Decoder().decode(wire.subarray(1, 65)), hash);
      assert.ok(verify(null, messageIn(bytes), publicKey(owner), wire.subarray(65, 129)));
    });

    it('nothing else: no other amount, owner or destination', async () => {
      await refused(sweeping({ amount: 1n }), 'mismatch', purpose);
      await refused(sweeping({ owner: receiver }), 'mismatch', purpose);
      await refused(sweeping({ to: receiver }), 'mismatch', purpose);
      await refused(sweeping({ salt: 'cd'.repeat(32) }), 'mismatch', purpose);
      await refused({ ...sweeping(), order: { ...order, receiver } }, 'mismatch', purpose);
      for (const strange of [
        { address: receiver, salt },
        { address: owner, salt: 'cd'.repeat(32) },
      ]) {
        const named = orderTo(treasury.address, 7_000000n, flushOf(strange));
        await refused({ ...sweeping(), order: named }, 'mismatch', purpose);
      }
      await refused({ ...sweeping(), order: orderTo(treasury.address, 7_000000n) }, 'mismatch', purpose);
      await refused(prepared(), 'mismatch', purpose);
      await refused(sweeping(), 'mismatch', payout);
    });
  });
});

function flushOf(deposit: FlushedDeposit) {
  return { form: { kind: 'flush', deposits: [deposit] } as const };
}

const publicKey = (text: string) => {
  const x = Buffer.from(getBase58Encoder().encode(text)).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
};

const withKey = (instruction: TransactionInstruction): TransactionInstruction => {
  instruction.keys.push({ pubkey: new PublicKey(owner), isSigner: false, isWritable: false });
  return instruction;
};

/** The same message with other instructions. */
function edited(message: Uint8Array, edit: (each: TransactionInstruction[]) => TransactionInstruction[]): Uint8Array {
  const whole = TransactionMessage.decompile(VersionedMessage.deserialize(message));
  return new TransactionMessage({ ...whole, instructions: edit(whole.instructions) }).compileToV0Message().serialize();
}
