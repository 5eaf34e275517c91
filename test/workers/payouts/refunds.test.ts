/** Refunds take the path of payouts: an order in a stream is signed once, sent, and settled by its chain. */
import assert from 'node:assert/strict';
import { currentState } from '../../../commands/handle.ts';
import type { CrashPoint } from '../../../commands/ports.ts';
import {
  type Fate,
  nothingToProve,
  PayoutBlocked,
  type PayoutRail,
  type Sent,
  type Signer,
  type TransferOrder,
  type Unsigned,
} from '../../../commands/transferPorts.ts';
import { refundLeg } from '../../../domain/payment/payout.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { statusOf } from '../../../domain/payment/view.ts';
import { plus } from '../../../domain/time.ts';
import { keyOf } from '../../../domain/transfer/shapes.ts';
import { pausePayouts } from '../../../domain/treasury/nonces.ts';
import { treasury, treasuryInstance } from '../../../domain/treasury/state.ts';
import { requestRefund, see, unmatched } from '../../../domain/unmatched.ts';
import { checkFloat, createSpending } from '../../../src/chains/money/spending.ts';
import { refundOwner, unmatchedRefundOwner } from '../../../src/workers/payouts/owners.ts';
import { transfersWorker } from '../../../src/workers/payouts/worker.ts';
import * as p from '../../support/payments.ts';
import { fakeNumbering, sharedBySigners } from '../../support/payouts.ts';
import { accepted, Crashed, crashAt, processes } from '../../support/processes.ts';

const { paymentId, appId } = p.terms();
const { signal } = new AbortController();
const chainId = 8453 as const;
const account = p.treasuryAccount;
const late = p.payin({ amount: '5.00', at: p.minute(65) });
const bounced = [...p.unpaid, p.expired(), p.detected(late), p.confirmed(late), p.bounced('latePayin', '5.00')];
const ordered = [...bounced, p.refundRequested('4.95', { networkFee: '0.05' })];
const reference = `${paymentId}/refund-1`;

/** A chain that mines every sent transaction at once, and keeps its payments. */
async function world() {
  const { start, clock, time, typesIn } = processes({ now: p.minute(80) });
  const around = {
    float: 10n ** 12n,
    unproven: null as PayoutBlocked | null,
    minedNonce: 7n,
    signatures: 0,
    /** Landed transactions by nonce: one per nonce. */
    landed: new Map<string, { readonly bytes: string; readonly to: string; readonly amount: bigint }>(),
    alarms: [] as string[],
  };
  const signed = new Map<string, Unsigned>();
  const spending = createSpending({ perTransfer_usd: 100n, perHour_usd: 12n }, clock);
  const transfers = {
    async prepare(order: TransferOrder, nonce: bigint | null) {
      checkFloat(around.float, account, order);
      return { chainId, account, nonce, order, validUntil: null, fee: p.feeCaps(100), payload: null };
    },
    async prepareCancel(nonce: bigint) {
      const order = { chainId, token: p.baseUsdc.token, receiver: account, receiverMemo: null, amount: 0n };
      return { chainId, account, nonce, order, validUntil: null, fee: p.feeCaps(100), payload: 'cancel' };
    },
  };
  const rail = {
    chainId,
    account,
    numbering: fakeNumbering({ minedNonce: () => around.minedNonce }, transfers),
    async broadcast(bytes: string) {
      const { nonce, order } = signed.get(bytes) ?? assert.fail('nobody signed it');
      if (around.landed.has(String(nonce))) return;
      around.landed.set(String(nonce), { bytes, to: order.receiver, amount: order.amount });
      around.minedNonce += 1n;
    },
    async fate([attempt]: readonly Sent[]): Promise<Fate> {
      assert.ok(attempt);
      const there = around.landed.get(attempt.nonce ?? '')?.bytes === attempt.bytes;
      if (!there) return { kind: 'unknown' };
      return { kind: 'final', ...attempt, blockNumber: 7n, blockHash: p.hashOf(7) };
    },
    canLand: async () => true,
  } as Partial<PayoutRail> as PayoutRail;
  const signer: Signer = {
    account,
    check: async (unsigned, purpose) => void spending(unsigned, purpose),
    async sign(unsigned, purpose) {
      spending(unsigned, purpose)();
      around.signatures += 1;
      const hash = p.hashOf(`${unsigned.nonce} ${purpose.reference}`);
      signed.set(hash, unsigned);
      return { bytes: hash, hash };
    },
  };
  const handle = start();
  const record = (id: string, history: readonly Parameters<typeof paymentDecider.evolve>[1][]) =>
    accepted(handle(paymentDecider, id, () => history, { cause: 'worker:test', appId: null }));

  /** A process's work on a transfer until the process dies, or nothing is left to do. */
  async function run({ crash = () => {}, of = reference }: { crash?: CrashPoint; of?: string } = {}) {
    const own = start();
    const proveFunding = async () => {
      if (around.unproven) throw around.unproven;
      return nothingToProve;
    };
    const worker = transfersWorker({
      ...sharedBySigners(clock),
      owners: {
        refund: refundOwner({ handle: own, clock, proveFunding }),
        unmatchedRefund: unmatchedRefundOwner({ handle: own, clock, proveMoney: proveFunding }),
      },
      poll_ms: 1_000,
      handle: own,
      clock,
      crash,
      rail,
      signer,
      due: async () => [],
      alarm: (_, reason) => void around.alarms.push(reason),
    });
    for (let acts = 0; acts < 3; acts += 1) await worker.act({ key: keyOf(of), appId }, signal);
  }
  const payment = async () => (await currentState(start(), paymentDecider, paymentId)) ?? assert.fail('no payment');
  const paid = () => [...around.landed.values()].map(({ to, amount }) => ({ to, amount }));
  return { around, start, clock, time, record, run, payment, paid, typesIn };
}

const back = { to: p.customerWallet, amount: p.of('4.95') };

describe('an ordered refund', () => {
  it('reaches its receiver, once, and the payment is refunded', async () => {
    const { record, run, payment, paid, typesIn } = await world();
    await record(paymentId, ordered);
    await run();
    assert.deepEqual(paid(), [back]);
    assert.equal(statusOf(await payment()), 'payment_refunded');
    const types = (await typesIn(`payment-${paymentId}`)).slice(-2);
    assert.deepEqual(types, ['RefundSigned', 'RefundConfirmed']);
    await run();
    assert.deepEqual(paid(), [back]);
  });

  for (const point of ['beforeSign', 'afterSign', 'beforeBroadcast', 'afterBroadcast']) {
    it(`reaches them once though the process dies at refund.${point}`, async () => {
      const { record, run, payment, paid, around } = await world();
      await record(paymentId, ordered);
      await assert.rejects(run({ crash: crashAt(`refund.${point}`) }), Crashed);
      await run();
      assert.deepEqual(paid(), [back]);
      assert.equal((await payment()).refunds[0]?.settled?.attempt, 1);
      assert.equal(around.minedNonce, 8n, 'one nonce was used');
    });
  }

  it('waits and notifies an operator while the float is short, then continues automatically', async () => {
    const { record, run, around, paid } = await world();
    await record(paymentId, ordered);
    around.float = 1n;
    await run();
    assert.deepEqual([paid(), [...new Set(around.alarms)]], [[], ['float']]);
    around.float = 10n ** 12n;
    await run();
    assert.deepEqual(paid(), [back]);
  });

  it('is not signed before the money is proven to have arrived', async () => {
    const { record, run, around, paid } = await world();
    await record(paymentId, ordered);
    around.unproven = new PayoutBlocked('fundingUnproven', 'node 2 has no such transaction');
    await run();
    assert.deepEqual([paid(), around.signatures], [[], 0]);
  });

  it('is not signed while the money is off its chain, for any caller', async () => {
    const { record, run, payment, paid, around } = await world();
    await record(paymentId, [...ordered, p.orphaned(late)]);
    await run();
    assert.deepEqual([paid(), around.signatures], [[], 0]);
    const refused = refundLeg.sign(await payment(), 1, p.refundAttempt(1, '4.95'));
    assert.match((refused as { message: string }).message, /left its chain/);
  });

  it('is stopped by a pause of the treasury', async () => {
    const { record, run, start, paid, around } = await world();
    await record(paymentId, ordered);
    const first = `${paymentId}-other`;
    await record(first, renamed(first));
    await run({ of: `${first}/refund-1` });
    const instance = treasuryInstance(chainId, account);
    const pause = (state: Parameters<typeof pausePayouts>[0]) => pausePayouts(state, 'audit', p.minute(81));
    await accepted(start()(treasury, instance, pause, { cause: 'worker:test', appId: null }));
    await run();
    assert.deepEqual([paid(), [...new Set(around.alarms)]], [[back], ['treasuryPaused']]);
  });

  it('counts against the hour’s limit like a payout', async () => {
    const { record, run, paid, around, time } = await world();
    const ids = ['a', 'b', 'c'].map((name) => `${paymentId}-${name}`);
    for (const id of ids) await record(id, renamed(id));
    for (const id of ids) await run({ of: `${id}/refund-1` });
    assert.deepEqual([paid(), [...new Set(around.alarms)]], [[back, back], ['perHour']]);
    time.now = plus(time.now, 3_600_001);
    await run({ of: `${ids[2]}/refund-1` });
    assert.equal(paid().length, 3);
  });
});

describe('unmatched money', () => {
  it('is refunded the same way, though the process dies on it', async () => {
    const { start, run, paid } = await world();
    const transfer = p.payin({ amount: '5.00' });
    const id = `${transfer.chainId}:${transfer.txHash}:${transfer.index}`;
    const order = { receiverAddress: p.customerWallet, receiverMemo: null, reason: 'no order' };
    const facts = { cause: 'operator:ada', appId: null } as const;
    const handle = start();
    await accepted(handle(unmatched, id, (state) => see(state, transfer, p.minute(6)), facts));
    const requesting = { ...order, networkFee: 50_000n };
    await accepted(handle(unmatched, id, (state) => requestRefund(state, requesting, p.minute(7)), facts));
    const of = `unmatched-${id}`;
    await assert.rejects(run({ of, crash: crashAt('refund.afterSign') }), Crashed);
    await assert.rejects(run({ of, crash: crashAt('refund.afterBroadcast') }), Crashed);
    await run({ of });
    assert.deepEqual(paid(), [back]);
    const state = await currentState(start(), unmatched, id);
    assert.equal(state?.refund?.settled?.attempt, 1);
  });
});

const renamed = (id: string): typeof ordered =>
  ordered.map((event) =>
    event.type === 'PaymentCreated' ? { ...event, data: { ...event.data, paymentId: id } } : event,
  );
