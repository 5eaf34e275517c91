/** The limits of what the treasury's keys may spend. */
import assert from 'node:assert/strict';
import { ChainBroken } from '../../commands/codec.ts';
import { Unavailable } from '../../commands/ports.ts';
import {
  type SigningPurpose,
  SigningRefused,
  type TransferOwner,
  type Unsigned,
} from '../../commands/transferPorts.ts';
import { type ChainId, chainOf, type Token } from '../../domain/chains.ts';
import { instant, minute_ms } from '../../domain/time.ts';
import type { SignedAttempt } from '../../domain/transfer/shapes.ts';
import { createSpending, createSpentLately, type SpendingLimits } from '../../src/chains/money/spending.ts';
import { createRecall } from '../../src/workers/payouts/recall.ts';

const limits: SpendingLimits = {
  perTransfer_usd: 100n,
  perHour_usd: 100n,
  appShare_percent: 50,
  coinPerHour: new Map([[501, 1_000n]]),
};

const transferOf = (id: string) => ({
  key: { kind: 'payout', id, part: 1 } as const,
  kind: 'payout' as const,
  chainId: 501 as const,
});

describe('the signers’ spending within an hour', () => {
  let now_ms: number;
  let lately: ReturnType<typeof createSpentLately>;
  let spend: (reference: string, usd: bigint, appId: string, more?: More) => void;
  interface More {
    readonly kind?: SigningPurpose['kind'];
    readonly coin?: bigint;
    readonly chainId?: ChainId;
    readonly nonce?: bigint;
  }
  const clock = { now: () => instant(now_ms) };
  const refusal =
    (reason: SigningRefused['reason'], said = /./) =>
    (error: unknown) =>
      error instanceof SigningRefused && error.reason === reason && said.test(error.message);

  beforeEach(() => {
    now_ms = 1_000_000_000;
    lately = createSpentLately();
    const spending = createSpending(limits, clock, lately);
    spend = (reference, usd, appId, { kind = 'payout', coin = 0n, chainId = 501, nonce } = {}) => {
      const [token] = chainOf(chainId).tokens as [Token];
      const order = { chainId, token, receiver: 'r', receiverMemo: null, amount: usd * 10n ** BigInt(token.decimals) };
      const fixed = { chainId, account: 'a', nonce: nonce ?? null, validUntil: null, fee: {}, payload: null };
      spending({ ...fixed, order } satisfies Unsigned, { kind, reference, appId }, coin)();
    };
  });

  it('is shared: one app that has used its share holds up no other', () => {
    for (const n of [1, 2, 3, 4, 5]) spend(`a${n}`, 10n, 'app_a');
    assert.throws(() => spend('a6', 1n, 'app_a'), refusal('appPerHour', /app_a has used its 50 %/));
    spend('b1', 50n, 'app_b');
    assert.throws(() => spend('c1', 1n, 'app_c'), refusal('perHour'));
    now_ms += 61 * minute_ms;
    spend('a6', 50n, 'app_a');
  });

  it('is limited for the coin, too, with a share per app; a cancel is never refused', () => {
    spend('a1', 1n, 'app_a', { coin: 500n });
    assert.throws(() => spend('a2', 1n, 'app_a', { coin: 1n }), refusal('appPerHour'));
    spend('a3', 1n, 'app_a', { coin: 1n, chainId: 1500 });
    spend('b1', 1n, 'app_b', { coin: 500n });
    assert.throws(() => spend('c1', 1n, 'app_c', { coin: 1n }), refusal('coinPerHour', /SIGNER_MAX_HOUR_COIN_501/));
    assert.throws(() => spend('s', 1n, 'app_c', { kind: 'sweep', coin: 1n }), refusal('coinPerHour'));
    spend('nonce 7', 0n, 'app_c', { kind: 'cancel', coin: 1n });
  });

  it('leaves coin for payouts: sweeps together have one app’s share of it', () => {
    const sweep = { kind: 'sweep', coin: 250n } as const;
    for (const n of [1, 2]) spend(`operation-sweep-${n}`, 1_000n, '', sweep);
    assert.throws(
      () => spend('operation-sweep-3', 1n, '', { kind: 'sweep', coin: 1n }),
      refusal('appPerHour', /sweeps/),
    );
    spend('a1', 1n, 'app_a', { coin: 500n });
  });

  it('counts a payout whose nonce was cancelled: it may still land instead', () => {
    spend('a1', 50n, 'app_a', { nonce: 7n });
    spend('nonce 7', 0n, 'app_a', { kind: 'cancel', nonce: 7n });
    assert.throws(() => spend('a2', 1n, 'app_a', { nonce: 8n }), refusal('appPerHour'));
  });

  it('is known after a restart from the log’s data, each payout once', async () => {
    const recorded = (paymentId: string, appId: string, amount: string, minutesAgo: number | null) => ({
      ...transferOf(paymentId),
      ...{ appId, amount, tokenAddress: chainOf(501).tokens[0]?.address ?? '' },
      settledAt: minutesAgo === null ? null : instant(now_ms - minutesAgo * minute_ms),
    });
    let asked = 0;
    const recall = createRecall({
      clock,
      lately,
      owners: {},
      coins: new Map(),
      recent: async () => {
        asked += 1;
        return [recorded('a1', 'app_a', '39.0000000001', 50), recorded('a2', 'app_a', '10', null)];
      },
    });
    spend('a2', 10n, 'app_a');
    await recall();
    await recall();
    assert.equal(asked, 1);
    assert.throws(() => spend('a3', 1n, 'app_a'), refusal('appPerHour'));
    spend('b1', 40n, 'app_b');
    now_ms += 10_001;
    await recall();
    assert.throws(() => spend('a3', 1n, 'app_a'), refusal('appPerHour'));
    now_ms += 11 * minute_ms;
    spend('a3', 39n, 'app_a');
    assert.equal(asked, 2);
  });

  describe('for the coin', () => {
    const attempt = (fee: Record<string, string>, nonce: string | null = null, minutesAgo = 5) =>
      ({ account: 'a', nonce, fee, signedAt: instant(now_ms - minutesAgo * minute_ms) }) as SignedAttempt;
    const recallOf = (signed: Record<string, readonly SignedAttempt[] | Error>) => {
      const read: string[] = [];
      const recall = createRecall({
        clock,
        lately,
        recent: async () =>
          Object.keys(signed).map((paymentId) => ({
            ...transferOf(paymentId),
            ...{ appId: 'app_a', tokenAddress: 't', amount: '1', settledAt: null },
          })),
        coins: new Map(),
        owners: {
          payout: {
            async load({ id }) {
              read.push(id);
              const attempts = signed[id] ?? [];
              if (attempts instanceof Error) throw attempts;
              return { leg: { attempts: attempts.map((each) => ({ signed: each, fate: 'live' })) } } as never;
            },
          } as Partial<TransferOwner> as TransferOwner,
        },
      });
      return { recall, read };
    };

    it('is known after a restart, too: crashes of the service let nobody spend more of it', async () => {
      const { recall, read } = recallOf({
        a1: [attempt({ maxFee: '200', units: '9', rent: '100' }), attempt({ maxFee: '150' })],
        a2: [attempt({ gas: '5', maxFeePerGas: '20', maxPriorityFeePerGas: '9' }, '7')],
        a3: [attempt({ gas: '5', maxFeePerGas: '10' }, '8'), attempt({ gas: '5', maxFeePerGas: '10' }, '9')],
        old: [attempt({ maxFee: '900' }, null, 61)],
      });
      await recall();
      assert.throws(() => spend('a4', 1n, 'app_a', { coin: 1n }), refusal('appPerHour'));
      spend('b1', 1n, 'app_b', { coin: 500n });
      assert.throws(() => spend('c1', 1n, 'app_c', { coin: 1n }), refusal('coinPerHour'));
      // Replaces the recalled spending.
      spend('a1', 1n, 'app_a', { coin: 300n });
      assert.throws(() => spend('a4', 1n, 'app_a', { coin: 1n }), refusal('coinPerHour'));
      now_ms += 11_000;
      await recall();
      assert.deepEqual(read, ['a1', 'a2', 'a3', 'old']);
    });

    it('is unknown for a payment with foreign events in its stream, and the rest is known', async () => {
      const broken = new ChainBroken({ stream: 'payment-a1', revision: 1n, expected: 'x', found: 'y' });
      await recallOf({ a1: broken, a2: [attempt({ maxFee: '500' })] }).recall();
      assert.throws(() => spend('a4', 1n, 'app_a', { coin: 1n }), refusal('appPerHour'));
      await assert.rejects(recallOf({ a5: new Unavailable('away') }).recall(), Unavailable);
    });
  });
});
