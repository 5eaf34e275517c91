/** Funding of each kind of transfer, proven by the signer's own nodes: the money arrived at a deposit of ours, and is enough. */
import type { Ingester } from '../../commands/chainPorts.ts';
import { currentState } from '../../commands/handle.ts';
import type { Clock } from '../../commands/ports.ts';
import { nothingToProve, PayoutBlocked } from '../../commands/transferPorts.ts';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { convert, convertUp, usDollar } from '../../domain/money.ts';
import { payoutBacking, refundBacking } from '../../domain/payment/backing.ts';
import type { Transfer } from '../../domain/payment/events.ts';
import type { Asset, Payin } from '../../domain/payment/sources.ts';
import { type Payment, paymentDecider } from '../../domain/payment/state.ts';
import { objectionToMessage } from '../../domain/rebalance/burnMessage.ts';
import { isCctp } from '../../domain/rebalance/events.ts';
import { burnOf, burnPart, rebalance, rebalanceStanding } from '../../domain/rebalance/rebalance.ts';
import type { Order, Owed } from '../../domain/transfer/leg.ts';
import { addressBook, addressBookInstance, usableAddress } from '../../domain/treasury/addressBook.ts';
import { unmatched, unmatchedBacking } from '../../domain/unmatched.ts';
import { createOwnMoney, type OwnMoneyDeps, type ProveFunding } from '../workers/payouts/fundingProof.ts';
import { notOrdered, type ProveBacking, type ProvenFunding, type ProvenOrder } from './orders.ts';

export interface BackingDeps extends OwnMoneyDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly ingesters: ReadonlyMap<ChainId, Pick<Ingester, 'agreed' | 'sharedAddresses'>>;
  readonly proveFunding: ProveFunding;
}

type Backed = Omit<ProvenOrder, 'movesAway'>;

const ofTreasury: Backed = { funding: null, prove: async () => nothingToProve };

const fundingOf = (
  paymentId: string,
  { chainId, token }: Asset,
  amount: bigint,
  came: readonly Pick<Payin, 'id' | 'amount'>[],
): ProvenFunding => ({
  paymentId,
  asset: `${chainId} ${token.address}`,
  amount,
  came: came.map((payin) => ({ transferId: payin.id, amount: payin.amount })),
});

/** @throws SigningRefused for an objection */
async function mustBeOurs(objection: Promise<string | undefined>): Promise<void> {
  const why = await objection;
  if (why !== undefined) throw notOrdered(why);
}

/** @throws SigningRefused for a refusal */
function accepted<T>(backing: T | Refusal): T {
  if (isRefusal(backing)) throw notOrdered(backing.message);
  return backing;
}

export function createBacking(deps: BackingDeps): ProveBacking {
  const { handle, clock, ingesters, proveFunding } = deps;
  const own = createOwnMoney(deps);

  async function paymentOf(id: string): Promise<Payment> {
    const payment = await currentState(handle, paymentDecider, id);
    if (!payment) throw notOrdered(`there is no payment ${id}`);
    return payment;
  }

  async function payout(id: string, owed: Owed): Promise<Backed> {
    const payment = await paymentOf(id);
    const { order } = owed.leg;
    const backing = accepted(payoutBacking(payment, order));
    await mustBeOurs(own.objectionToPayins(id, payment, backing?.payins ?? []));
    if (backing === null) {
      await mustBeOurs(own.objectionToWithdrawal(payment));
      return ofTreasury;
    }
    await mustBeOurs(own.objectionToRefundOf(payment));
    const { source, destination } = payment.terms;
    const amount = convertUp(order.amount, destination.token, source.token);
    return {
      funding: fundingOf(id, source, amount, backing.payins),
      prove: (signal) => proveFunding(payment, owed, signal),
    };
  }

  async function refund(id: string, owed: Owed): Promise<Backed> {
    const payment = await paymentOf(id);
    const { order } = owed.leg;
    const { payins } = accepted(refundBacking(payment, order));
    await mustBeOurs(own.objectionToPayins(id, payment, payins));
    return {
      funding: fundingOf(id, order, order.amount, payins),
      prove: (signal) => proveFunding(payment, owed, signal),
    };
  }

  async function unmatchedRefund(id: string, order: Order): Promise<Backed> {
    const found = await currentState(handle, unmatched, id);
    const { transfer } = accepted(unmatchedBacking(found, id, order));
    await mustBeOurs(own.objectionToUnmatched(transfer));
    const came = [{ id, amount: BigInt(transfer.amount) }];
    return {
      funding: fundingOf(`unmatched-${id}`, transfer, order.amount, came),
      async prove(signal) {
        await prove(transfer, signal);
        return nothingToProve;
      },
    };
  }

  async function operation(
    { chainId, receiver: address, receiverMemo: memo }: Order,
    movesAway: boolean,
  ): Promise<Backed> {
    if (!movesAway) return ofTreasury;
    const book = await currentState(handle, addressBook, addressBookInstance);
    const entry = usableAddress(book, { chainId, address, memo: memo ?? undefined }, clock.now());
    if (isRefusal(entry)) throw notOrdered(entry.message);
    // Operators may omit the memo if the book has exactly one for an address; a signed order may not.
    if (entry.memo !== memo) throw notOrdered(`the address book has ${address} with ${entry.memo}, and not without`);
    return ofTreasury;
  }

  /** The key's own rules check that both accounts are ours. This checks that the message names an ordered and settled burn. */
  async function rebalancing(id: string, part: number, order: Order): Promise<Backed> {
    const state = await currentState(handle, rebalance, id);
    if (!state) throw notOrdered(`there is no rebalance ${id}`);
    if (part === burnPart) {
      if (rebalanceStanding(state) === 'waitsForApproval')
        throw notOrdered(`no other operator approved rebalance ${id}`);
      return ofTreasury;
    }
    if (!isCctp(state.ordered)) throw notOrdered(`rebalance ${id} mints nothing: its message is delivered by others`);
    const message = order.form?.kind === 'mint' ? order.form.message : '';
    const objection = objectionToMessage(message, burnOf(state.ordered));
    if (objection) throw notOrdered(`the message is not that of the burn of rebalance ${id}: ${objection}`);
    if (!state.burn.settled) throw notOrdered(`the burn of rebalance ${id} is not settled`);
    return ofTreasury;
  }

  async function prove(transfer: Transfer, signal: AbortSignal): Promise<void> {
    const ingester = ingesters.get(transfer.chainId);
    const usd = convert(BigInt(transfer.amount), transfer.token, usDollar);
    const { agreed, dispute } = (await ingester?.agreed(transfer, { pass: 'final', usd }, signal)) ?? { agreed: false };
    if (agreed) return;
    const why = dispute?.message ?? `no node of ${chainOf(transfer.chainId).name} shows it`;
    throw new PayoutBlocked(
      'fundingUnproven',
      `nothing goes back before it is shown to have come: ${transfer.txHash}: ${why}`,
    );
  }

  return async ({ kind, id, part }, owed) => {
    const { order } = owed.leg;
    switch (kind) {
      case 'payout':
        return payout(id, owed);
      case 'refund':
        return refund(id, owed);
      case 'unmatchedRefund':
        return unmatchedRefund(id, order);
      case 'operation':
        return operation(order, owed.purpose.kind === 'withdrawal');
      case 'rebalance':
        return rebalancing(id, part, order);
      case 'batch':
        throw notOrdered('a signer of its own signs each payout by itself: unset PAYOUT_BATCH_<chainId>');
      case 'relay':
        throw notOrdered('a signer of its own holds no relay key: relays are signed where RELAY_PRIVATE_KEY is');
    }
  };
}
