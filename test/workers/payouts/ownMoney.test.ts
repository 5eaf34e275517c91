import assert from 'node:assert/strict';
import { createPayment } from '../../../domain/payment/create.ts';
import { type PaymentEvent, type Transfer, transferId } from '../../../domain/payment/events.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { assign, see, type UnmatchedState, unmatched } from '../../../domain/unmatched.ts';
import { createOwnMoney } from '../../../src/workers/payouts/fundingProof.ts';
import * as p from '../../support/payments.ts';
import { accepted, processes } from '../../support/processes.ts';

const facts = { cause: 'worker:test', appId: null } as const;
const { paymentId, appId, deposit } = p.terms();
const shared = p.treasuryAccount;

function treasuryThatOwns(deposits: readonly string[], owner = paymentId) {
  const { start, store } = processes({ now: p.minute(9) });
  const handle = start();
  const own = createOwnMoney({
    ...{ handle, store, ingesters: new Map([[8453, { sharedAddresses: [shared] }]]) },
    isOwnDeposit: async (family, id, { address }) => family === 'evm' && id === owner && deposits.includes(address),
  });
  const sees = (transfer: Transfer, beyond: { paymentId: string; appId: string } | null = null) =>
    accepted(handle(unmatched, transferId(transfer), (state) => see(state, transfer, p.minute(3), beyond), facts));
  return { own, handle, sees };
}

/** The objection to the payins of the payment. */
async function toPayins(own: ReturnType<typeof treasuryThatOwns>['own'], transfer: Transfer, created = p.created()) {
  const payment = p.paymentAfter([created, p.confirmed(transfer)]);
  return own.objectionToPayins(paymentId, payment, payment.payins);
}

describe('the money of a payment', () => {
  it('is the treasury’s in a deposit that is derived for this payment', async () => {
    const { own } = treasuryThatOwns([deposit.address]);
    assert.equal(await toPayins(own, p.payin()), undefined);
  });

  it('is a stranger’s in a deposit of another treasury, at another address, or beside the payment’s own terms', async () => {
    assert.match((await toPayins(treasuryThatOwns([]).own, p.payin())) ?? '', /none of this treasury's/);
    const { own } = treasuryThatOwns([deposit.address]);
    const elsewhere = { ...p.payin(), to: p.merchantWallet };
    assert.match((await toPayins(own, elsewhere)) ?? '', /not made to a deposit/);
    const other = p.created() as Extract<PaymentEvent, { type: 'PaymentCreated' }>;
    const renamed = { ...other, data: { ...other.data, paymentId: 'another' } };
    assert.match((await toPayins(own, p.payin(), renamed)) ?? '', /holds the terms of payment another/);
  });

  it('is the treasury’s at an address that payments share once an operator assigned it to this payment', async () => {
    const { own, handle, sees } = treasuryThatOwns([]);
    const transfer = { ...p.payin(), to: shared };
    assert.ok(await toPayins(own, transfer));
    await sees(transfer);
    const to = (id: string) =>
      accepted(
        handle(unmatched, transferId(transfer), (state) => assign(state, { paymentId: id, appId }, p.minute(4)), facts),
      );
    await to(paymentId);
    assert.equal(await toPayins(own, transfer), undefined);
    assert.ok(await toPayins(own, { ...transfer, to: p.merchantWallet }));
  });
});

describe('money beyond another payment’s maximum, assigned to this one', () => {
  const other = '0198f3c2-0000-8000-8000-000000000002';
  const given = async (others: readonly PaymentEvent[]) => {
    const othersDeposit = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
    const { handle, own, sees } = treasuryThatOwns([othersDeposit], other);
    const transfer = { ...p.payin({ index: 5 }), to: othersDeposit };
    const terms = { ...p.terms(), paymentId: other, deposit: { ...deposit, address: othersDeposit } };
    const created = createPayment(null, terms) as readonly PaymentEvent[];
    await accepted(handle(paymentDecider, other, () => [...created, ...others], facts));
    await sees(transfer, { paymentId: other, appId });
    const decide = (state: UnmatchedState) => assign(state, { paymentId, appId }, p.minute(4));
    await accepted(handle(unmatched, transferId(transfer), decide, facts));
    return { objection: await toPayins(own, transfer), transfer };
  };

  it('is the treasury’s', async () => {
    assert.equal((await given([])).objection, undefined);
  });

  it('is not, where the other payment counts it as well', async () => {
    const { transfer } = await given([]);
    assert.match((await given([p.confirmed(transfer)])).objection ?? '', /takes transfer .* up itself/);
  });
});

describe('unmatched money', () => {
  it('is the treasury’s at an address that payments share, or in the deposit of the payment that it was paid to', async () => {
    const { own, handle, sees } = treasuryThatOwns([deposit.address]);
    await accepted(handle(paymentDecider, paymentId, () => [p.created()], facts));
    const inDeposit = p.payin({ index: 1 });
    await sees(inDeposit, { paymentId, appId });
    assert.equal(await own.objectionToUnmatched(inDeposit), undefined);
    assert.equal(await own.objectionToUnmatched({ ...p.payin({ index: 2 }), to: shared }), undefined);
    const strangers = { ...p.payin({ index: 3 }), to: p.merchantWallet };
    await sees(strangers, { paymentId, appId });
    assert.match((await own.objectionToUnmatched(strangers)) ?? '', /none of this treasury's/);
    const nobodys = p.payin({ index: 4 });
    await sees(nobodys, { paymentId: 'none', appId });
    assert.match((await own.objectionToUnmatched(nobodys)) ?? '', /no payment none/);
  });
});
