import assert from 'node:assert/strict';
import type { Handle } from '../../commands/handle.ts';
import {
  nothingToProve,
  type Outgoing,
  type SigningPurpose,
  SigningRefused,
  type TransferOwner,
  type Unsigned,
} from '../../commands/transferPorts.ts';
import type { Decider, DomainEvent } from '../../domain/decider.ts';
import { coinOf } from '../../domain/money.ts';
import { type Transfer, transferId } from '../../domain/payment/events.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { newLeg, type Order } from '../../domain/transfer/leg.ts';
import { cancelReference, type TransferKey } from '../../domain/transfer/shapes.ts';
import { addAddress, addressBook, addressBookInstance } from '../../domain/treasury/addressBook.ts';
import { openAndAssign, pausePayouts } from '../../domain/treasury/nonces.ts';
import { treasury, treasuryInstance } from '../../domain/treasury/state.ts';
import { requestRefund, see, unmatched } from '../../domain/unmatched.ts';
import { createBacking } from '../../src/signer/backing.ts';
import { createOrders } from '../../src/signer/orders.ts';
import {
  baseUsdc,
  created,
  customerWallet,
  depositAddress,
  ethereumUsdc,
  merchantWallet,
  minute,
  payin,
  terms,
  treasuryAccount,
} from '../support/payments.ts';
import { accepted, processes } from '../support/processes.ts';

const { paymentId } = terms();
const channel = 'a channel of the treasury';
const order: Order = {
  chainId: 1,
  token: ethereumUsdc.token,
  receiver: merchantWallet,
  receiverMemo: null,
  amount: 10_000_000n,
};
const purpose: SigningPurpose = { kind: 'refund', reference: `${paymentId}/refund-1`, appId: 'shop' };
const unsigned = (nonce: bigint | null, account = treasuryAccount): Unsigned => ({
  ...{ chainId: 1, account, nonce, order, validUntil: null, fee: {}, payload: null },
});
const facts = { cause: 'worker:test', appId: null } as const;
const notOrdered = (asked: Promise<unknown>) =>
  assert.rejects(asked, (error) => error instanceof SigningRefused && error.reason === 'notOrdered');

/** The service's log, which orders a refund, in the view of a separate signer. */
function logWorld() {
  const { start, clock, store, time } = processes({ now: minute(1) });
  const handle: Handle = start();
  const owed = (key: TransferKey): Outgoing => ({
    ...{ key, purpose: { kind: 'refund', reference: purpose.reference }, appId: 'shop', leg: newLeg(order) },
    ...{ step: { do: 'sign' }, order, mayOutbid: true, owedSince: minute(1) },
  });
  const refund = { load: async (key: TransferKey) => owed(key) } as TransferOwner;
  const orders = createOrders({
    ...{ handle, owners: { refund }, accountOn: () => treasuryAccount },
    backing: async () => ({ funding: null, prove: async () => nothingToProve }),
  });
  const backing = createBacking({
    ...{ handle, store, clock, isOwnDeposit: async () => true, proveFunding: async () => nothingToProve },
    ingesters: new Map([[baseUsdc.chain.id, { agreed: async () => ({ agreed: true }), sharedAddresses: [] }]]),
  });
  const append = <S, E extends DomainEvent>(decider: Decider<S, E>, instance: string, events: readonly E[]) =>
    accepted(handle(decider, instance, () => events, facts));
  const backs = (key: TransferKey, of: Order) =>
    backing(key, { ...owed(key), purpose: { kind: 'withdrawal', reference: 'operation-one' }, leg: newLeg(of) });
  return { handle, orders, append, backs, backing, owed, time };
}

/** Gives the refund the nonce 7. */
const numbers = (handle: Handle, account = treasuryAccount) =>
  accepted(
    handle(
      treasury,
      treasuryInstance(1, account),
      (state) =>
        openAndAssign(state, {
          ...{ chainId: 1, account, minedNonce: 7n, now: minute(1) },
          purpose: { kind: 'refund', reference: purpose.reference, ordinal: 1 },
          moves: { token: order.token.address, amount: order.amount.toString() },
        }),
      facts,
    ),
  );

describe('orders in the log, as a separate signer reads them', () => {
  it('have one reference alone: one with another spelling would be signed in addition', async () => {
    const { orders } = logWorld();
    await orders.of({ unsigned: unsigned(null), purpose }, 'sign');
    const spelled = { ...purpose, reference: `${paymentId}/refund-01` };
    await notOrdered(orders.of({ unsigned: unsigned(null), purpose: spelled }, 'sign'));
  });

  it('are signed under their own nonce; only before they have one may they be checked under another', async () => {
    const { orders, handle } = logWorld();
    await numbers(handle);
    await orders.of({ unsigned: unsigned(7n), purpose }, 'sign');
    await orders.of({ unsigned: unsigned(23n), purpose }, 'check');
    await notOrdered(orders.of({ unsigned: unsigned(23n), purpose }, 'sign'));
  });

  it('wait while the treasury is paused, whichever account numbers them', async () => {
    const { orders, handle } = logWorld();
    for (const account of [treasuryAccount, channel]) await numbers(handle, account);
    await orders.of({ unsigned: unsigned(7n, channel), purpose }, 'sign');
    const paused = treasuryInstance(1, treasuryAccount);
    await accepted(handle(treasury, paused, (state) => pausePayouts(state, 'somebody is in', minute(2)), facts));
    await notOrdered(orders.of({ unsigned: unsigned(7n, channel), purpose }, 'sign'));
  });

  it('include the anchor of a head, with that hash for its memo alone, and no money leaves by it', async () => {
    const { handle, backing, owed } = logWorld();
    const form = { kind: 'anchor', hash: '9f'.repeat(32) } as const;
    const nothing: Order = { ...order, token: coinOf(1), receiver: treasuryAccount, amount: 0n, form };
    const anchor: SigningPurpose = { kind: 'anchor', reference: 'operation-anchor-1' };
    const load = async (key: TransferKey): Promise<Outgoing> => ({
      ...{ ...owed(key), appId: null, leg: newLeg(nothing), order: nothing },
      purpose: { kind: 'anchor', reference: anchor.reference },
    });
    const orders = createOrders({
      ...{ handle, owners: { operation: { load } as TransferOwner }, accountOn: () => treasuryAccount, backing },
    });
    const asked = (more: Partial<Order> = {}) => ({ ...unsigned(null), order: { ...nothing, ...more } });
    const ordered = await orders.of({ unsigned: asked(), purpose: anchor }, 'check');
    assert.deepEqual([ordered.movesAway, ordered.funding], [false, null]);
    const other = { kind: 'anchor', hash: '9e'.repeat(32) } as const;
    await notOrdered(orders.of({ unsigned: asked({ form: other }), purpose: anchor }, 'check'));
    await notOrdered(orders.of({ unsigned: asked({ amount: 1n }), purpose: anchor }, 'check'));
    await notOrdered(orders.of({ unsigned: asked(), purpose: { ...anchor, kind: 'deployment' } }, 'check'));
  });

  it('are not cancelled under their own reference, under which limits count their amount', async () => {
    const { orders, handle } = logWorld();
    await numbers(handle);
    const cancel = { kind: 'cancel', reference: cancelReference(7n) } as const;
    await orders.of({ unsigned: unsigned(7n), purpose: cancel }, 'sign');
    const disguised = { ...cancel, reference: purpose.reference };
    await notOrdered(orders.of({ unsigned: unsigned(7n), purpose: disguised }, 'sign'));
  });
});

describe('the money of a transfer, as a separate signer sees it', () => {
  it('was received by us: transfers between strangers do not count', async () => {
    const { handle, append, backs } = logWorld();
    await append(paymentDecider, paymentId, [created()]);
    const refunds = async (transfer: Transfer, id = transferId(transfer)) => {
      const beyond = { paymentId, appId: 'shop' };
      await accepted(handle(unmatched, id, (state) => see(state, transfer, minute(3), beyond), facts));
      const to = { receiverAddress: customerWallet, receiverMemo: null, reason: 'beyond', networkFee: 10_000n };
      await accepted(handle(unmatched, id, (state) => requestRefund(state, to, minute(4)), facts));
      const { chainId, token, amount } = transfer;
      return backs(
        { kind: 'unmatchedRefund', id, part: 1 },
        { chainId, token, receiver: customerWallet, receiverMemo: null, amount: BigInt(amount) - 10_000n },
      );
    };
    const own = payin({ index: 1 });
    assert.equal(own.to, depositAddress);
    await refunds(own);
    await notOrdered(refunds({ ...payin({ index: 2 }), to: merchantWallet }));
    await notOrdered(refunds(own, `${transferId(own)}-again`));
  });

  it('does not leave for an exchange without the memo that the address book has', async () => {
    const { handle, backs, time } = logWorld();
    const place = { chainId: 1, address: merchantWallet, memo: '1234', label: 'exchange' } as const;
    const added = { ...place, usableFrom: minute(2), by: 'ann', now: minute(1) };
    await accepted(handle(addressBook, addressBookInstance, (state) => addAddress(state, added), facts));
    time.now = minute(3);
    const key = { kind: 'operation', id: 'one', part: 1 } as const;
    await backs(key, { ...order, receiverMemo: '1234' });
    await notOrdered(backs(key, order));
  });
});
