/** Money that is refunded twice, or to a party who did not pay; and honest refunds without a finding. */
import assert from 'node:assert/strict';
import type { DomainEvent } from '../../../domain/decider.ts';
import {
  bounced,
  confirmed,
  customerWallet,
  depositAddress,
  digits,
  funded,
  minute,
  payin,
  payoutRequested,
  refundAddressSet,
  refundAttempt,
  refundRequested,
  refundSettled,
  refundSigned,
  settled,
  signed,
} from '../../support/payments.ts';
import {
  createdAs,
  gas,
  honest,
  instead,
  moved,
  on,
  onBase,
  paymentA,
  paymentB,
  payout,
  showing,
  shown,
  thief,
  vault,
  withCost,
} from './honest.ts';
import { audit, block, type Ground, pointed, type Said, written } from './world.ts';

const tell = async (said: readonly Said[], grounds: readonly Ground[] = shown) =>
  pointed(await audit({ log: written(said), grounds }));
/** The honest log with another history of A, of which nobody is notified. */
const withA = (...events: readonly DomainEvent[]): Said[] => [
  ...honest.filter(({ stream }) => stream !== paymentA && !stream.startsWith('webhook-')),
  ...on(paymentA, { ...createdAs(paymentA), data: { ...createdAs(paymentA).data, webhookUrl: null } }, ...events),
];

describe('the audit of refunds finds', () => {
  const whole = refundAttempt(1, '10.01', { nonce: '11' });
  const paidOut = [payoutRequested(), signed(payout), withCost(settled(payout))];
  const refunded = [refundRequested('10.01'), refundSigned(1, whole), withCost(refundSettled(1, whole))];
  const back = showing(shown, 8453, onBase(moved(whole.hash, 205, '-10.01', customerWallet)));

  it('a payout after the payment bounced and was refunded', async () => {
    const said = withA(
      confirmed(),
      funded(),
      payoutRequested(),
      bounced('payoutImpossible', '10.01'),
      ...refunded,
      ...paidOut.slice(1),
    );
    const found = await tell(said, back);
    assert.ok(found.includes(`illegalEvent ${paymentA} 8`), found.join());
    assert.ok(found.includes(`refundBeyondCap ${paymentA} 9`), found.join());
  });

  it('a bounce after the payout was signed, and a refund of money that a payout used', async () => {
    const said = withA(confirmed(), funded(), ...paidOut, bounced('payoutImpossible', '10.01'), ...refunded);
    const found = await tell(said, back);
    assert.ok(found.includes(`refundBeyondCap ${paymentA} 7`), found.join());
  });

  it('a refund that was called off and lands nevertheless, and the second one', async () => {
    const second = refundAttempt(1, '2.00', { nonce: '12' });
    const at = honest.findIndex(({ stream, event }) => stream === paymentB && event.type === 'RefundConfirmed');
    const called = { type: 'RefundCalledOff', data: { refund: 1, reason: 'a mistake', calledOffAt: minute(72) } };
    const said = [
      ...honest.toSpliced(at, 0, ...on(paymentB, called)),
      ...on(
        paymentB,
        refundRequested('2.00', { refund: 2, reason: 'excess' }),
        refundSigned(2, second),
        withCost(refundSettled(2, second)),
      ),
    ];
    const found = await tell(said, showing(shown, 8453, onBase(moved(second.hash, 206, '-2.00', customerWallet))));
    assert.ok(found.includes(`illegalEvent ${paymentB} 9`), found.join());
    assert.ok(found.includes(`refundBeyondCap ${paymentB} 10`), found.join());
  });

  it('a signature for a refund that was called off', async () => {
    const at = honest.findIndex(({ stream, event }) => stream === paymentB && event.type === 'RefundSigned');
    const called = { type: 'RefundCalledOff', data: { refund: 1, reason: 'a mistake', calledOffAt: minute(72) } };
    assert.ok((await tell(honest.toSpliced(at, 0, ...on(paymentB, called)))).includes(`illegalEvent ${paymentB} 8`));
  });

  const proven = { requestedBy: 'key', proof: { sender: customerWallet, by: 'signature' } } as const;
  const toThief = (request: object, ...before: readonly DomainEvent[]) => {
    const signing = refundAttempt(1, '2.00', { nonce: '8', receiver: thief });
    const at = honest.findIndex(({ stream, event }) => stream === paymentB && event.type === 'RefundRequested');
    const said = honest.flatMap((each) => {
      if (each.stream !== paymentB) return [each];
      const { type } = each.event;
      if (type === 'RefundRequested')
        return on(paymentB, ...before, refundRequested('2.00', { reason: 'excess', receiver: thief, request }));
      if (type === 'RefundSigned') return on(paymentB, refundSigned(1, signing));
      return type === 'RefundConfirmed' ? on(paymentB, withCost(refundSettled(1, signing))) : [each];
    });
    assert.ok(at > 0);
    const [ethereum, base] = shown;
    const kept = { ...base, transactions: base.transactions.slice(0, 2) };
    return tell(said, showing([ethereum, kept], 8453, onBase(moved(signing.hash, 200, '-2.00', thief))));
  };

  it('a refund to an address that its payer never signed for', async () => {
    assert.deepEqual(await toThief(proven), [`refundElsewhere ${paymentB} 6`]);
    assert.deepEqual(await toThief({ requestedBy: 'policy' }), [`refundElsewhere ${paymentB} 6`]);
    const another = refundAddressSet(vault, { transfer: payin({ tx: 'late' }) });
    assert.deepEqual(await toThief(proven, another), [`refundElsewhere ${paymentB} 7`]);
    const notHis = { ...proven, proof: { sender: thief, by: 'signature' } };
    const his = refundAddressSet(thief, { sender: thief, transfer: payin({ tx: 'late' }) });
    assert.deepEqual(await toThief(notHis, his), [`refundElsewhere ${paymentB} 7`]);
    const byCredit = { ...proven, proof: { sender: customerWallet, by: 'credit' } };
    assert.deepEqual(await toThief(byCredit), [`refundElsewhere ${paymentB} 6`]);
  });

  it('nothing if the payer signed for the address, or an operator chose it, which the report lists', async () => {
    assert.deepEqual(await toThief(proven, refundAddressSet(thief, { transfer: payin({ tx: 'late' }) })), []);
    assert.deepEqual(await toThief({ requestedBy: 'operator' }), []);
    const signing = { ...refundRequested('2.00', { reason: 'excess', receiver: thief }) };
    const said = instead(honest, paymentB, 'RefundRequested', () => signing.data);
    const { byWord, byWordCount } = await audit({ log: written(said), grounds: shown });
    assert.deepEqual(
      byWord.map(({ stream, revision, what }) => [stream, revision, what]),
      [[paymentB, 6, `refund 1 of 2000000 of ${signing.data.token.address} to ${thief}`]],
    );
    assert.equal(byWordCount, 1);
  });
});

describe('the audit of unmatched money', () => {
  const came = payin({ tx: 'nobody’s', block: 150 });
  const stream = `unmatched-8453:${came.txHash}:0`;
  const seen = { type: 'UnmatchedPayinSeen', data: { transfer: came, seenAt: minute(6) } };
  const ordered = {
    type: 'UnmatchedPayinRefundRequested',
    data: {
      receiverAddress: customerWallet,
      receiverMemo: null,
      reason: 'asked',
      networkFee: '0',
      requestedAt: minute(7),
    },
  };
  const off = { type: 'UnmatchedRefundCalledOff', data: { reason: 'the merchant knows it', calledOffAt: minute(8) } };
  const brought = onBase(moved(came.txHash, 150, '10.01', customerWallet, { account: depositAddress }));
  const attempts = ['20', '21'].map((nonce) => refundAttempt(1, '10.01', { nonce }));
  const [first, second] = attempts;
  assert.ok(first && second);
  const failed = { ...onBase(moved(first.hash, 300, '-10.01', customerWallet)), succeeded: false, changes: [] };
  const reverted = {
    type: 'UnmatchedRefundDied',
    data: {
      attempt: 1,
      proof: {
        reason: 'reverted',
        detail: 'reverted in block 300, final',
        landed: {
          hash: first.hash,
          blockNumber: '300',
          blockHash: block(300).blockHash,
          cost: { payer: first.account, fee: gas.toString() },
        },
      },
    },
  };
  const sent = onBase(moved(second.hash, 310, '-10.01', customerWallet));
  const landed = { type: 'UnmatchedRefundConfirmed', data: { ...refundSettled(1, second).data } };
  const { refund: _, ...confirmedBack } = landed.data as { refund?: number };
  const signedBack = (signing: typeof first) => ({ type: 'UnmatchedRefundSigned', data: signing });

  it('finds nothing if a refund was called off unsigned, and the money assigned to a payment', async () => {
    const given = {
      type: 'UnmatchedPayinAssigned',
      data: { paymentId: paymentA.slice(8), appId: 'wallet_demo', assignedAt: minute(9) },
    };
    const own = payin();
    const other = `unmatched-8453:${own.txHash}:0`;
    const saw = { ...seen, data: { ...seen.data, transfer: own } };
    assert.deepEqual(await tell([...honest, ...on(other, saw, ordered, off, given)]), []);
  });

  it('finds nothing if the first refund failed and was called off, and the second one landed', async () => {
    const said = on(
      stream,
      ...[seen, ordered, signedBack(first), reverted, off, ordered, signedBack(second)],
      withCost({ ...landed, data: confirmedBack }),
    );
    const [ethereum, base] = shown;
    const holds = { ...base.holds, ...withLess(base, '10.01', 2n) };
    const grounds = [brought, failed, sent].reduce((all: readonly [Ground, Ground], each) => showing(all, 8453, each), [
      ethereum,
      { ...base, holds },
    ] as const);
    const report = await audit({ log: written([...honest, ...said]), grounds });
    assert.deepEqual(pointed(report), []);
    const row = report.payments.find(({ chainId }) => chainId === 8453);
    assert.equal(row?.refunded, BigInt(digits('12.01')));
  });

  it('finds a refund that lands after it was called off', async () => {
    const said = on(stream, seen, ordered, signedBack(second), off, withCost({ ...landed, data: confirmedBack }));
    const found = await tell([...honest, ...said], showing(showing(shown, 8453, brought), 8453, sent));
    assert.ok(found.includes(`illegalEvent ${stream} 4`), found.join());
  });

  function withLess(ground: Ground, usdc: string, transactions: bigint) {
    const [[asset = '', held = 0n] = []] = Object.entries(ground.holds).filter(([name]) => name !== 'coin');
    return { [asset]: held - BigInt(digits(usdc)), coin: (ground.holds['coin'] ?? 0n) - transactions * gas };
  }
});
