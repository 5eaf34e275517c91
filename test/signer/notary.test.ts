import assert from 'node:assert/strict';
import {
  type Fate,
  PayoutBlocked,
  type Sent,
  type Signer,
  type SigningPurpose,
  SigningRefused,
  type Unsigned,
} from '../../commands/transferPorts.ts';
import { createSpending, createSpentLately, spendingKey } from '../../src/chains/money/spending.ts';
import { createNotary, createSigningRecord } from '../../src/signer/notary.ts';
import type { ProvenOrder } from '../../src/signer/orders.ts';
import { ethereumUsdc, hashOf, merchantWallet, minute, treasuryAccount } from '../support/payments.ts';
import { processes } from '../support/processes.ts';

const { signal } = new AbortController();
const purpose = { kind: 'payout', reference: 'first', appId: 'shop' } as const;
const unsignedWith = (nonce: bigint | null, fee = '100', amount = 10_000_000n): Unsigned => ({
  chainId: 1,
  account: treasuryAccount,
  nonce,
  order: { chainId: 1, token: ethereumUsdc.token, receiver: merchantWallet, receiverMemo: null, amount },
  validUntil: null,
  fee: { maxFeePerGas: fee },
  payload: null,
});

const fundedBy = (paymentId: string, amount = 10_000_000n) => ({
  paymentId,
  asset: '1 usdc',
  amount,
  came: [{ transferId: '1:0xabc:0', amount: 10_010_000n }],
});

const unreadablePayload = 'x';

/** A signer's process over its own log, which outlives it. */
function signerWorld() {
  const own = processes({ now: minute(1) });
  const around = {
    ordered: (_: SigningPurpose): ProvenOrder => ({
      movesAway: true,
      funding: fundedBy('first'),
      prove: async () => async () => {},
    }),
    fate: (_: readonly Sent[]): Fate => ({ kind: 'unknown' }),
    signatures: 0,
    perHour_usd: 100n,
  };
  async function begin() {
    const lately = createSpentLately();
    const spending = createSpending({ perTransfer_usd: 50n, perHour_usd: around.perHour_usd }, own.clock, lately);
    const signer: Signer = {
      account: treasuryAccount,
      check(unsigned, asked) {
        if (unsigned.payload === unreadablePayload) throw new SyntaxError('Cannot convert x to a BigInt');
        spending(unsigned, asked, 21_000n);
      },
      async sign(unsigned, asked) {
        spending(unsigned, asked, 21_000n)();
        around.signatures += 1;
        const { nonce, fee, order } = unsigned;
        return { bytes: '0x02', hash: hashOf('signed', String(nonce), fee, String(order.amount)) };
      },
    };
    const record = createSigningRecord(own.start(), own.clock);
    lately.recall(await record.spentLately());
    return createNotary({
      signers: new Map([['evm', signer]]),
      rails: new Map([[1, { fate: async (sent: readonly Sent[]) => around.fate(sent) }]]),
      orders: { of: async ({ purpose: asked }) => around.ordered(asked) },
      record,
      spent: (unsigned, reference) => lately.entries.get(spendingKey(unsigned, reference)),
      clock: own.clock,
    });
  }
  return { around, begin, own };
}

const refused = (reason: SigningRefused['reason']) => (error: Error) =>
  error instanceof SigningRefused && error.reason === reason;

describe('a separate signer', () => {
  it('signs ordered and paid transfers, and returns the same signature for a repeated request', async () => {
    const { begin, around } = signerWorld();
    const notary = await begin();
    const first = await notary.sign({ unsigned: unsignedWith(7n), purpose }, signal);
    assert.deepEqual(await notary.sign({ unsigned: unsignedWith(7n), purpose }, signal), first);
    assert.notEqual((await notary.sign({ unsigned: unsignedWith(7n, '200'), purpose }, signal)).hash, first.hash);
    assert.equal(around.signatures, 3);
  });

  it('signs nothing that the log does not order, or whose money its own nodes do not return', async () => {
    const { begin, around } = signerWorld();
    const notary = await begin();
    around.ordered = () => {
      throw new SigningRefused('notOrdered', 'the log has no such payout');
    };
    await assert.rejects(notary.sign({ unsigned: unsignedWith(7n), purpose }, signal), refused('notOrdered'));
    const unproven = new PayoutBlocked('fundingUnproven', 'no node shows it');
    for (const prove of [async () => Promise.reject(unproven), async () => () => Promise.reject(unproven)]) {
      around.ordered = () => ({ movesAway: true, funding: null, prove });
      await assert.rejects(notary.sign({ unsigned: unsignedWith(7n), purpose }, signal), unproven);
    }
    assert.equal(around.signatures, 0);
  });

  it('refuses unreadable and unsignable requests like any other that does not fit', async () => {
    const { begin, around } = signerWorld();
    const notary = await begin();
    const unreadable = { unsigned: { ...unsignedWith(7n), payload: unreadablePayload }, purpose };
    for (const asking of [notary.check(unreadable, signal), notary.sign(unreadable, signal)])
      await assert.rejects(asking, refused('mismatch'));
    assert.equal(around.signatures, 0);
  });

  it('signs no second payout while its first could land, whatever the log states, also after a restart', async () => {
    const { begin, around } = signerWorld();
    const first = await (await begin()).sign({ unsigned: unsignedWith(7n), purpose }, signal);
    const notary = await begin();
    const second = { unsigned: unsignedWith(8n), purpose };
    await assert.rejects(notary.sign(second, signal), refused('signedBefore'));
    around.fate = () => ({ kind: 'pending', mined: true });
    await assert.rejects(notary.sign(second, signal), refused('signedBefore'));
    around.fate = () => ({ kind: 'final', attempt: 1, hash: first.hash, blockNumber: 1n, blockHash: '0xb' });
    await assert.rejects(notary.sign(second, signal), (error: Error) =>
      /is paid, whatever the log says/.test(error.message),
    );
    around.fate = ([sent]) => ({
      kind: 'dead',
      attempts: [sent?.attempt ?? 0],
      proof: { reason: 'nonceUsed', detail: '' },
    });
    await notary.sign(second, signal);
  });

  it('pays nobody else and no other sum after its first signature', async () => {
    const { begin } = signerWorld();
    const notary = await begin();
    await notary.sign({ unsigned: unsignedWith(7n), purpose }, signal);
    await assert.rejects(
      notary.sign({ unsigned: unsignedWith(7n, '200', 1n), purpose }, signal),
      refused('signedBefore'),
    );
  });

  it('uses received money for one payment only, however many the log names it for', async () => {
    const { begin, around } = signerWorld();
    const notary = await begin();
    await notary.sign({ unsigned: unsignedWith(7n), purpose }, signal);
    around.ordered = () => ({
      movesAway: true,
      funding: fundedBy('second'),
      prove: async () => async () => {},
    });
    const other = { unsigned: unsignedWith(8n), purpose: { ...purpose, reference: 'second' } };
    await assert.rejects(notary.sign(other, signal), refused('signedBefore'));
  });

  it('signs a payout and refunds of one payment for no more than was received together, whatever the log states about them', async () => {
    const { begin, around } = signerWorld();
    await (await begin()).sign({ unsigned: unsignedWith(7n), purpose }, signal);
    const notary = await begin();
    const refund = (n: number, amount: bigint) => {
      around.ordered = () => ({
        movesAway: true,
        funding: fundedBy('first', amount),
        prove: async () => async () => {},
      });
      const asked = { kind: 'refund', reference: `first/refund-${n}`, appId: 'shop' } as const;
      return notary.sign({ unsigned: unsignedWith(7n + BigInt(n), '100', amount), purpose: asked }, signal);
    };
    await assert.rejects(refund(1, 10_000_000n), refused('signedBefore'));
    await refund(2, 10_000n);
    await assert.rejects(refund(3, 1n), refused('signedBefore'));
    around.fate = ([sent]) => ({
      kind: 'dead',
      attempts: [sent?.attempt ?? 0],
      proof: { reason: 'nonceUsed', detail: '' },
    });
    await refund(4, 10_000_000n);
    around.fate = () => ({ kind: 'unknown' });
    around.ordered = () => ({ movesAway: true, funding: fundedBy('first'), prove: async () => async () => {} });
    await assert.rejects(notary.sign({ unsigned: unsignedWith(7n), purpose }, signal), refused('signedBefore'));
  });

  it('refuses money that other signatures have taken at the check, before a nonce, until they are dead; a check takes none', async () => {
    const { begin, around } = signerWorld();
    const notary = await begin();
    const refund = { kind: 'refund', reference: 'first/refund-1', appId: 'shop' } as const;
    const ofAll = { unsigned: unsignedWith(8n), purpose: refund };
    await notary.check(ofAll, signal);
    const payout = { unsigned: unsignedWith(7n), purpose };
    await notary.sign(payout, signal);
    await notary.check(payout, signal);
    await assert.rejects(notary.check(ofAll, signal), refused('signedBefore'));
    around.ordered = () => ({ movesAway: true, funding: fundedBy('second'), prove: async () => async () => {} });
    await assert.rejects(notary.check(ofAll, signal), refused('signedBefore'));
    around.ordered = () => ({ movesAway: true, funding: fundedBy('first'), prove: async () => async () => {} });
    around.fate = ([sent]) => ({
      kind: 'dead',
      attempts: [sent?.attempt ?? 0],
      proof: { reason: 'nonceUsed', detail: '' },
    });
    await notary.check(ofAll, signal);
  });

  it('keeps to the limits of an hour, also after a restart', async () => {
    const { begin, around } = signerWorld();
    around.perHour_usd = 15n;
    const free = () => ({ movesAway: true, funding: null, prove: async () => async () => {} });
    around.ordered = free;
    await (await begin()).sign({ unsigned: unsignedWith(7n), purpose }, signal);
    const notary = await begin();
    const next = { unsigned: unsignedWith(8n), purpose: { ...purpose, reference: 'second' } };
    await assert.rejects(notary.sign(next, signal), refused('perHour'));
    await assert.rejects(notary.check(next, signal), refused('perHour'));
  });

  it('holds no key of a family that it was not given one for', async () => {
    const notary = await signerWorld().begin();
    const unsigned = { ...unsignedWith(null), chainId: 501 } as const;
    await assert.rejects(notary.sign({ unsigned, purpose }, signal), refused('chain'));
  });

  it('signs one at a time for a transfer: of two concurrent different requests one gets it', async () => {
    const { begin } = signerWorld();
    const notary = await begin();
    const both = await Promise.allSettled(
      [7n, 8n].map((nonce) => notary.sign({ unsigned: unsignedWith(nonce), purpose }, signal)),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });
});
