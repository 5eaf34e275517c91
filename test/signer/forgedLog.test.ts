/** An attacker holds the service, its master key and its log, and gets no signature for unpaid money. */
import assert from 'node:assert/strict';
import { PayoutBlocked, SigningRefused, type TransferOrder } from '../../commands/transferPorts.ts';
import type { PaymentEvent, PaymentEventData, Transfer } from '../../domain/payment/events.ts';
import { transferId } from '../../domain/payment/events.ts';
import { assign, requestRefund, see, unmatched } from '../../domain/unmatched.ts';
import * as p from '../support/payments.ts';
import { accepted } from '../support/processes.ts';
import { forgedLog } from './forgedLog.ts';

const { paymentId, appId } = p.terms();
const came = p.payin();
const forgedPayin = (sketch: p.PayinSketch) => p.payin({ tx: 'nowhere', ...sketch });

type Created = PaymentEventData<'PaymentCreated'>;
const createdWith = (change: (data: Created) => Partial<Created>, sketch: p.TermsSketch = {}): PaymentEvent => {
  const { data } = p.created(sketch) as { data: Created };
  return p.event('PaymentCreated', { ...data, ...change(data) });
};

const recorded = (transfers: readonly Transfer[]): readonly PaymentEvent[] =>
  transfers.flatMap((transfer) => [p.detected(transfer), p.confirmed(transfer)]);

const orderOf = ({ data }: { data: PaymentEventData<'PayoutRequested'> }): TransferOrder => ({
  chainId: data.chainId,
  token: data.token,
  receiver: data.receiverAddress,
  receiverMemo: null,
  amount: BigInt(data.amount),
});

const refundOrderOf = ({ data }: { data: PaymentEventData<'RefundRequested'> }): TransferOrder => ({
  chainId: data.chainId,
  token: data.token,
  receiver: data.receiverAddress,
  receiverMemo: null,
  amount: BigInt(data.amount),
});

const isRefused = (error: unknown): boolean => error instanceof SigningRefused || error instanceof PayoutBlocked;

const all = { received: '910.00', sourceAmount: '910.00', payout: '909.99' };
const whole = p.payoutRequested('909.99');
const zero = { received: '0', sourceAmount: '0', fee: '0', payout: '0' };
const zeroReceived = { ...zero, payout: '909.99' };

describe('a separate signer, whose nodes return one payin of 10.01, pays out', () => {
  async function payout(history: readonly PaymentEvent[], requested: ReturnType<typeof p.payoutRequested>) {
    const world = forgedLog([came]);
    await world.appendToPayment([...history, requested]);
    return world.sign('payout', paymentId, orderOf(requested));
  }

  it('the amount that the payment owes for it', async () => {
    await payout(p.paid, p.payoutRequested());
    await payout([...p.unpaid, ...recorded([came, forgedPayin({ amount: '9.00' })]), p.funded()], p.payoutRequested());
  });

  const bnb = forgedPayin({ in: p.bnbUsdc, amount: '0.000000001' });
  const polygon = forgedPayin({ in: p.polygonUsdc, amount: '900.00' });
  const stated = forgedPayin({ amount: '910.00' });
  const smallDecimals = { ...p.baseUsdc.token, decimals: 0 };
  const bnbTerms = p.created({ alternatives: [p.bnbUsdc] });
  const bnbSource = { source: p.bnbUsdc, fromAlternative: true } as const;

  const frauds: Readonly<Record<string, readonly PaymentEvent[]>> = {
    'received 0, by a payin on no chain': [...recorded([stated]), p.funded([stated], zero)],
    'received 0, by no payin that is recorded': [p.funded([stated], zero)],
    'received 0, by the payin that there is': [...recorded([came]), p.funded([came], zero)],
    'received 0, paid out 909.99': [...recorded([came]), p.funded([came], zeroReceived)],
    'received 0, by credit that nobody withdrew': [p.funded([came], { ...zeroReceived, rule: 'cashback' })],
    'received 910.00, by the payin that there is': [...recorded([came]), p.funded([came], all)],
    'received 910.00, by a payin on no chain': [...recorded([stated]), p.funded([stated], all)],
    'received 910.01, by the payin named a hundred times': [
      ...recorded([came]),
      p.funded(
        Array.from({ length: 91 }, () => came),
        { ...all, received: '910.91', sourceAmount: '910.91' },
      ),
    ],
    'received 910.01, 900.00 of it on another chain': [
      ...recorded([came, polygon]),
      p.funded([came, polygon], { ...all, received: '910.01', sourceAmount: '910.01' }),
    ],
    'received 10.01, and 900.00 more on another chain, for a payout of 909.99': [
      ...recorded([came, polygon]),
      p.funded([came, polygon]),
    ],
    'received 10.01, and a trillionth in units of 18 decimals': [...recorded([came, bnb]), p.funded([came, bnb])],
    'received 10.01, and paid out more than that': [...recorded([came]), p.funded([came], { payout: '909.99' })],
  };
  for (const [name, history] of Object.entries(frauds))
    it(`nothing where the log claims: ${name}`, async () => {
      await assert.rejects(payout([...p.unpaid, ...history], whole), isRefused);
    });

  it('nothing if all money that funded the payment is on another chain, as an alternative or not', async () => {
    const history = [...recorded([polygon]), p.funded([polygon], { received: '900.00', sourceAmount: '900.00' })];
    await assert.rejects(payout([...p.unpaid, ...history], p.payoutRequested()), isRefused);
    const chosen = p.funded([bnb], { ...bnbSource, received: '10.01', sourceAmount: '10.01' });
    await assert.rejects(
      payout([bnbTerms, p.chose(p.bnbUsdc), ...recorded([bnb]), chosen], p.payoutRequested()),
      isRefused,
    );
  });

  const lies: Readonly<Record<string, PaymentEvent>> = {
    'the source has no decimals': createdWith(({ source }) => ({ source: { ...source, token: smallDecimals } })),
    'the source has 5 decimals': createdWith(({ source }) => ({
      source: { ...source, token: { ...source.token, decimals: 5 } },
    })),
    'the destination has 18 decimals': createdWith(({ destination }) => ({
      destination: { ...destination, token: { ...destination.token, decimals: 18 } },
    })),
    'the destination has 7 decimals': createdWith(({ destination }) => ({
      destination: { ...destination, token: { ...destination.token, decimals: 7 } },
    })),
  };
  for (const [name, terms] of Object.entries(lies))
    it(`nothing where the terms claim that ${name}`, async () => {
      for (const paidOut of ['909.99', '10.00'])
        for (const received of ['10.01', '0.00001'])
          await assert.rejects(
            payout(
              [terms, ...recorded([came]), p.funded([came], { received, sourceAmount: received, payout: paidOut })],
              p.payoutRequested(paidOut),
            ),
            isRefused,
          );
    });

  it('money of an alternative, and nothing where the terms claim that it counts in 6 decimals instead of 18', async () => {
    const bnbPaid = (in18: Transfer) => {
      const funding = p.funded([in18], { source: p.bnbUsdc, fromAlternative: true });
      return [p.chose(p.bnbUsdc, p.terms().deposit), ...recorded([in18]), funding];
    };
    const signs = async (terms: PaymentEvent, paid: Transfer, history: readonly PaymentEvent[]) => {
      const world = forgedLog([paid]);
      await world.appendToPayment([terms, ...history, p.payoutRequested()]);
      return world.sign('payout', paymentId, orderOf(p.payoutRequested()));
    };
    const honest = p.payin({ in: p.bnbUsdc });
    await signs(bnbTerms, honest, bnbPaid(honest));
    const crumbs = p.payin({ in: p.bnbUsdc, amount: '0.00000000001001' });
    const lying = createdWith(
      ({ alternatives = [] }) => ({
        alternatives: alternatives.map((each) => ({ ...each, token: { ...each.token, decimals: 6 } })),
      }),
      { alternatives: [p.bnbUsdc] },
    );
    const units = { received: crumbs.amount, sourceAmount: crumbs.amount, fee: '10000' };
    const [chosen, ...rest] = bnbPaid(crumbs);
    const funding = rest.at(-1)?.data as PaymentEventData<'PaymentFunded'>;
    assert.ok(chosen);
    const paid = [chosen, ...rest.slice(0, -1), p.event('PaymentFunded', { ...funding, ...units })];
    await assert.rejects(signs(lying, crumbs, paid), isRefused);
  });

  it('nothing where a payin’s token has other decimals than in the catalogue: fewer nodes would be queried', async () => {
    const lying = { ...came, token: { ...came.token, decimals: 18 } };
    const world = forgedLog([came]);
    await world.appendToPayment([...p.unpaid, ...recorded([lying]), p.funded([lying]), p.payoutRequested()]);
    await assert.rejects(world.sign('payout', paymentId, orderOf(p.payoutRequested())), isRefused);
  });

  it('nothing to another receiver, on another chain or in another token than the terms name', async () => {
    const other = p.payoutRequested();
    const onBnb = p.event('PayoutRequested', { ...other.data, chainId: 56, token: p.bnbUsdc.token });
    const inUsdt = p.event('PayoutRequested', { ...other.data, token: p.ethereumUsdt.token });
    const toOther = p.event('PayoutRequested', { ...other.data, receiverAddress: p.customerWallet });
    const less = p.payoutRequested('9.99');
    for (const requested of [onBnb, inUsdt, toOther, less]) await assert.rejects(payout(p.paid, requested), isRefused);
  });

  it('nothing of refunded money, or of money to be refunded', async () => {
    const back = p.refundRequested('10.01');
    const world = forgedLog([came]);
    await world.appendToPayment([...p.unpaid, ...recorded([came]), back]);
    await world.sign('refund', `${paymentId}/refund-1`, refundOrderOf(back));
    await world.appendToPayment([p.funded(), p.payoutRequested()]);
    await assert.rejects(world.sign('payout', paymentId, orderOf(p.payoutRequested())), isRefused);
  });
});

describe('a separate signer whose first request failed', () => {
  it('signs the payment’s money away once, whatever amount that request named', async () => {
    const world = forgedLog([came]);
    const unit = p.event('PayoutRequested', { ...p.payoutRequested().data, amount: '1' });
    const less = p.funded([came], { payout: '0.000001' });
    await world.appendToPayment([...p.unpaid, ...recorded([came]), less, unit]);
    // No event may contain this symbol: the request fails after the signer has recorded the money that it uses.
    const order = orderOf(unit);
    const nameless = { ...order, token: { ...order.token, symbol: 'NONE' as never } };
    await assert.rejects(world.sign('payout', paymentId, nameless));
    await world.appendToPayment([p.funded(), p.payoutRequested()]);
    const signed = await world.sign('payout', paymentId, orderOf(p.payoutRequested())).catch((error) => {
      if (!isRefused(error)) throw error;
    });
    const back = p.refundRequested('10.009999');
    await world.appendToPayment([p.bounced('payoutImpossible', '10.01'), back]);
    const refund = world.sign('refund', `${paymentId}/refund-1`, refundOrderOf(back));
    if (signed) await assert.rejects(refund, isRefused);
  });
});

describe('a separate signer refunds', () => {
  async function refund(history: readonly PaymentEvent[], onChain: readonly Transfer[] = [came], nth = 1) {
    const world = forgedLog(onChain);
    await world.appendToPayment(history);
    const requested = history.filter(({ type }) => type === 'RefundRequested') as ReturnType<
      typeof p.refundRequested
    >[];
    const order = requested[nth - 1];
    assert.ok(order);
    return { world, signed: await world.sign('refund', `${paymentId}/refund-${nth}`, refundOrderOf(order)) };
  }

  it('the money that the payment holds', async () => {
    await refund([...p.unpaid, ...recorded([came]), p.refundRequested('10.01')]);
    const more = p.payin({ tx: 'more', amount: '2.00' });
    const history = [...p.unpaid, ...recorded([came, more]), p.funded(), p.payoutRequested()];
    const { world } = await refund([...history, p.refundRequested('1.99', { networkFee: '0.01' })], [came, more]);
    await world.sign('payout', paymentId, orderOf(p.payoutRequested()));
  });

  it('nothing more, whatever the log states about costs and the payout', async () => {
    const two = [...p.unpaid, ...recorded([came])];
    const excess = p.funded([came], { excess: '10.01' });
    const lies: readonly (readonly PaymentEvent[])[] = [
      [...two, p.refundRequested('910.00')],
      [...two, p.refundRequested('10.01'), p.refundRequested('0.01', { refund: 2 })],
      [...two, excess, p.refundRequested('10.01')],
      [...two, p.funded(), p.refundRequested('10.01')],
      [
        ...two,
        p.funded(),
        p.payoutRequested(),
        p.signed(),
        p.bounced('payoutImpossible', '10.01'),
        p.refundRequested('10.01'),
      ],
    ];
    for (const history of lies) await assert.rejects(refund(history), isRefused);
  });

  it('nothing in a token whose decimals the log invents', async () => {
    const token = { ...came.token, decimals: 5 };
    const history = [...p.unpaid, ...recorded([{ ...came, token }])];
    const back = p.refundRequested('10.01', { request: { token } as never });
    await assert.rejects(refund([...history, back]), isRefused);
  });

  it('nothing from a payin on another chain that the nodes do not return', async () => {
    const polygon = forgedPayin({ in: p.polygonUsdc, amount: '900.00' });
    const history = [...p.unpaid, ...recorded([came, polygon])];
    await assert.rejects(refund([...history, p.refundRequested('900.00', { in: p.polygonUsdc })]), isRefused);
  });

  it('unmatched money once, under the name that its chain gives it, less the cost of sending it', async () => {
    const transfer = { ...came, to: p.treasuryAccount };
    const world = forgedLog([transfer], [p.treasuryAccount]);
    const asked = async (seen: Transfer, networkFee: string, id = transferId(seen)) => {
      const beyond = null;
      await accepted(world.handle(unmatched, id, (state) => see(state, seen, p.minute(3), beyond), facts));
      const to = { receiverAddress: p.customerWallet, receiverMemo: null, reason: 'theirs' };
      await world.append(unmatched, id, [
        { type: 'UnmatchedPayinRefundRequested', data: { ...to, networkFee, requestedAt: p.minute(4) } },
      ]);
      const { chainId, token, amount } = seen;
      const order = { chainId, token, receiver: p.customerWallet, receiverMemo: null };
      return world.sign('refund', `unmatched-${id}`, { ...order, amount: BigInt(amount) - BigInt(networkFee) }, '');
    };
    const upper = { ...transfer, txHash: `0x${transfer.txHash.slice(2).toUpperCase()}` };
    await assert.rejects(asked(upper, '10000'), isRefused);
    await assert.rejects(asked({ ...transfer, token: { ...transfer.token, decimals: 5 } }, '10000'), isRefused);
    const other = forgedLog([transfer], [p.treasuryAccount]);
    await accepted(other.handle(unmatched, transferId(transfer), (state) => see(state, transfer, p.minute(3)), facts));
    await accepted(
      other.handle(
        unmatched,
        transferId(transfer),
        (state) =>
          requestRefund(
            state,
            { receiverAddress: p.customerWallet, receiverMemo: null, reason: 'theirs', networkFee: 10_000n },
            p.minute(4),
          ),
        facts,
      ),
    );
    const order = { chainId: 8453, token: transfer.token, receiver: p.customerWallet, receiverMemo: null } as const;
    await other.sign('refund', `unmatched-${transferId(transfer)}`, { ...order, amount: 10_000_000n }, '');
  });
});

describe('a separate signer counts a payin', () => {
  it('for the payment that an operator assigned it to, and not for its refund as well', async () => {
    const transfer = { ...came, to: p.treasuryAccount };
    const world = forgedLog([transfer], [p.treasuryAccount]);
    const id = transferId(transfer);
    await accepted(world.handle(unmatched, id, (state) => see(state, transfer, p.minute(3)), facts));
    await accepted(world.handle(unmatched, id, (state) => assign(state, { paymentId, appId }, p.minute(4)), facts));
    await world.appendToPayment([...p.unpaid, ...recorded([transfer]), p.funded([transfer]), p.payoutRequested()]);
    await world.sign('payout', paymentId, orderOf(p.payoutRequested()));
    const to = { receiverAddress: p.customerWallet, receiverMemo: null, reason: 'theirs', networkFee: '10000' };
    await world.append(unmatched, id, [
      { type: 'UnmatchedPayinRefundRequested', data: { ...to, requestedAt: p.minute(5) } },
    ]);
    const order = { chainId: 8453, token: transfer.token, receiver: p.customerWallet, receiverMemo: null } as const;
    await assert.rejects(world.sign('refund', `unmatched-${id}`, { ...order, amount: 10_000_000n }, ''), isRefused);
  });
});

const facts = { cause: 'worker:test', appId: null } as const;
