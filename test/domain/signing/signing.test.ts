import assert from 'node:assert/strict';
import fc from 'fast-check';
import { fold, isRefusal } from '../../../domain/decider.ts';
import { fundingUse, type MoneyUse, moneyUse, useFunding, useMoney } from '../../../domain/signing/moneyUse.ts';
import {
  besides,
  type Counted,
  countSpending,
  lastHour,
  noteSignature,
  type Signature,
  type SignatureEvent,
  signature,
  signedMax,
  signingHour,
  signingMinuteOf,
} from '../../../domain/signing/signature.ts';
import { parseInstant } from '../../../domain/time.ts';
import { hashOf, minute, treasuryAccount } from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const none: ReadonlySet<string> = new Set();
const token = { symbol: 'USDC', address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6 } as const;
const signedWith = (nonce: number | null, n = 1): Signature => ({
  chainId: 8453,
  account: treasuryAccount,
  nonce: nonce === null ? null : String(nonce),
  hash: hashOf('signature', nonce ?? 0, n),
  bytes: '0x02',
  validUntil: null,
  token,
  receiver: treasuryAccount,
  receiverMemo: null,
  amount: '10000000',
  signedAt: minute(n),
});
const event = (data: Signature): SignatureEvent => ({ type: 'TransferSigned', data });

describe('signatures of a separate signer for a transfer', () => {
  const { given } = specification(signature);
  const first = signedWith(7);

  it('are recorded once, however often they are requested', () => {
    given([])
      .when((state) => noteSignature(state, first, none))
      .then([event(first)]);
    given([event(first)])
      .when((state) => noteSignature(state, first, none))
      .then([]);
  });

  it('may be outbid under the same nonce: one of the two lands', () => {
    given([event(first)])
      .when((state) => noteSignature(state, signedWith(7, 2), none))
      .then([event(signedWith(7, 2))]);
  });

  it('are joined by no other that could land as well, until the chain proves that the first cannot', () => {
    const second = signedWith(8);
    given([event(first)])
      .when((state) => noteSignature(state, second, none))
      .thenRefused('forbidden');
    given([event(first)])
      .when((state) => noteSignature(state, second, new Set([first.hash])))
      .then([event(second)]);
  });

  it('share no nonce where there are none', () => {
    given([event(signedWith(null))])
      .when((state) => noteSignature(state, signedWith(null, 2), none))
      .thenRefused('forbidden');
  });

  it('go to no other receiver and for no other amount, whatever is proven', () => {
    for (const other of [
      { receiver: '0x8617E340B3D01FA5F11F306F4090FD50E238070D' },
      { amount: '1' },
      { receiverMemo: 'x' },
    ])
      given([event(first)])
        .when((state) => noteSignature(state, { ...signedWith(7, 2), ...other }, new Set([first.hash])))
        .thenRefused('forbidden');
  });

  it('never leave two that could both land, for any requests in any order', () => {
    const asked = fc.record({
      nonce: fc.option(fc.integer({ min: 0, max: 3 })),
      n: fc.integer({ min: 1, max: 4 }),
      dies: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(asked, { maxLength: 20 }), (all) => {
        let state = signature.initial;
        const dead = new Set<string>();
        for (const { nonce, n, dies } of all) {
          const next = signedWith(nonce, n);
          const decided = noteSignature(state, next, dead);
          if (isRefusal(decided)) continue;
          state = fold(signature, decided, state);
          const alive = state.filter(({ hash }) => !dead.has(hash));
          assert.ok(alive.every((each) => besides(alive, each).length === 0));
          if (dies) for (const known of state) if (known.nonce === next.nonce) dead.add(known.hash);
        }
      }),
    );
  });
});

describe('received money', () => {
  const { given } = specification(fundingUse);
  const used = { type: 'FundingUsed', data: { paymentId: 'one', usedAt: minute(1) } } as const;

  it('pays for one payment, whatever the log states about others', () => {
    given([])
      .when((state) => useFunding(state, 'one', minute(1)))
      .then([used]);
    given([used])
      .when((state) => useFunding(state, 'one', minute(2)))
      .then([]);
    given([used])
      .when((state) => useFunding(state, 'two', minute(2)))
      .thenRefused('forbidden');
    given([used, { type: 'FundingUsed', data: { paymentId: 'two', usedAt: minute(2) } }])
      .when((state) => useFunding(state, 'two', minute(3)))
      .thenRefused('forbidden');
  });
});

describe('signatures for one payment’s money', () => {
  const { given } = specification(moneyUse);
  const came = [{ transferId: 'a', amount: '100' }];
  const take = (reference: string, amount: number, more: Partial<MoneyUse> = {}): MoneyUse => ({
    reference,
    asset: '1 usdc',
    amount: String(amount),
    came,
    usedAt: minute(1),
    ...more,
  });
  const used = (use: MoneyUse) => ({ type: 'MoneyUsed', data: use }) as const;
  const [payout, rest, second] = [take('one', 99), take('one/refund-1', 1), take('one/refund-2', 1)];
  const asked =
    (use: MoneyUse, dead: readonly string[] = []) =>
    (state: readonly MoneyUse[]) =>
      useMoney(state, use, new Set(dead));

  it('use no more than was received, over all transfers that are not proven dead', () => {
    given([used(payout)])
      .when(asked(rest))
      .then([used(rest)]);
    given([used(payout), used(rest)])
      .when(asked(payout))
      .thenNothing();
    given([used(payout), used(rest)])
      .when(asked(second))
      .thenRefused('forbidden', /100 units came in/);
    const all = take('one/refund-2', 100);
    given([used(payout), used(rest)])
      .when(asked(all, ['one']))
      .thenRefused('forbidden');
    given([used(payout), used(rest)])
      .when(asked(all, ['one', 'one/refund-1']))
      .then([used(all)]);
    given([used(payout), used(all)])
      .when(asked(payout))
      .thenRefused('forbidden');
  });

  it('use a known transfer in no other amount and no other token: a failed request frees no room', () => {
    const first = take('one', 2);
    for (const other of [take('one', 100), take('one', 3), take('one', 1), take('one', 2, { asset: '56 usdc' })])
      given([used(first)])
        .when(asked(other, ['one']))
        .thenRefused('forbidden', /was to take 2 of 1 usdc/);
  });

  it('count money that arrived later, each token separately', () => {
    const later = take('one/refund-1', 50, { came: [...came, { transferId: 'b', amount: '50' }] });
    given([used(payout)])
      .when(asked(later))
      .then([used(later)]);
    const other = take('one/refund-1', 7, { asset: '56 usdc', came: [{ transferId: 'c', amount: '7' }] });
    given([used(payout)])
      .when(asked(other))
      .then([used(other)]);
  });
});

describe('an hour of signing', () => {
  const { given } = specification(signingHour);
  const counted: Counted = {
    hash: hashOf('signature', 7, 1),
    chainId: 8453,
    reference: 'one',
    appId: null,
    amount_microUsd: '10000000',
    coin: '21000',
    at: minute(1),
  };

  it('counts each signature once', () => {
    given([])
      .when((state) => countSpending(state, counted))
      .then([{ type: 'SpendingCounted', data: counted }]);
    given([{ type: 'SpendingCounted', data: counted }])
      .when((state) => countSpending(state, counted))
      .then([]);
  });

  it('holds a minute in each stream, and all of them together the last sixty minutes, with those of whole hours from before', () => {
    const at = parseInstant('2026-11-22T00:15:20Z');
    assert.ok(at);
    assert.equal(signingMinuteOf(at), '2026-11-22T00:15');
    const streams = lastHour(at);
    assert.deepEqual(streams.slice(0, 3), ['2026-11-21T23', '2026-11-22T00', '2026-11-21T23:15']);
    assert.equal(streams.at(-1), '2026-11-22T00:15');
    assert.equal(streams.length, 2 + 61);
  });

  it('allows fifty signatures a second and more, but has a limit', () => {
    const all = Array.from({ length: signedMax }, (_, n) => ({ ...counted, hash: hashOf('many', n) }));
    assert.ok(signedMax >= 50 * 60);
    assert.deepEqual(countSpending(all.slice(1), counted), [{ type: 'SpendingCounted', data: counted }]);
    const refused = countSpending(all, counted);
    assert.ok(isRefusal(refused) && refused.refused === 'rateLimited');
  });
});
