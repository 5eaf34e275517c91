/** What pays for each kind of transfer, proven by the signer's own nodes: the money came in, to a deposit of ours, and is enough. */
import type { Ingester } from '../../commands/chainPorts.ts';
import { currentState, type Handle, readStream } from '../../commands/handle.ts';
import type { Clock, EventStore } from '../../commands/ports.ts';
import { nothingToProve } from '../../commands/transfers/outgoing.ts';
import { PayoutBlocked } from '../../commands/transfers/ports.ts';
import { type ChainFamily, type ChainId, chainOf } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { rescale, rescaleUp } from '../../domain/money.ts';
import { type Payin, sumOf } from '../../domain/payment/counting.ts';
import { type Transfer, transferId } from '../../domain/payment/events.ts';
import { paysInto } from '../../domain/payment/payins.ts';
import { takenBy } from '../../domain/payment/refund.ts';
import type { Deposit } from '../../domain/payment/shapes.ts';
import { type Asset, isSameAsset } from '../../domain/payment/sources.ts';
import { type Payment, paymentDecider } from '../../domain/payment/state.ts';
import type { Order } from '../../domain/transfer/leg.ts';
import type { Owed } from '../../domain/transfer/owed.ts';
import { addressBook, addressBookInstance, usableAddress } from '../../domain/treasury/addressBook.ts';
import { unmatched } from '../../domain/unmatched.ts';
import type { ProveFunding } from '../subscribers/transfers/fundingProof.ts';
import { type Backing, type Funding, notOrdered, type Ordered } from './orders.ts';

export interface BackingDeps {
  readonly handle: Handle;
  readonly store: Pick<EventStore, 'read'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ingesters: ReadonlyMap<ChainId, Pick<Ingester, 'agreed' | 'sharedAddresses'>>;
  readonly proveFunding: ProveFunding;
  /** Whether a payment's deposit is derived as ours are: what is paid there is the treasury's. */
  readonly isOwnDeposit: (family: ChainFamily, paymentId: string, deposit: Deposit) => Promise<boolean>;
}

type Backed = Omit<Ordered, 'movesAway'>;

const ofTreasury: Backed = { funding: null, prove: async () => nothingToProve };

const fundingOf = (
  paymentId: string,
  { chainId, token }: Asset,
  amount: bigint,
  came: readonly Pick<Payin, 'id' | 'amount'>[],
): Funding => ({
  paymentId,
  asset: `${chainId} ${token.address}`,
  amount,
  came: came.map((payin) => ({ transferId: payin.id, amount: payin.amount })),
});

export function createBacking(deps: BackingDeps): Backing {
  const { handle, store, clock, ingesters, proveFunding, isOwnDeposit } = deps;

  async function paymentOf(id: string): Promise<Payment> {
    const payment = await currentState(handle, paymentDecider, id);
    if (!payment) throw notOrdered(`there is no payment ${id}`);
    for (const [family, deposit] of Object.entries(payment.deposits)) {
      if (deposit && !(await isOwnDeposit(family as ChainFamily, id, deposit)))
        throw notOrdered(
          `the deposit ${deposit.address} of payment ${id} is none of this treasury's: nothing came in there`,
        );
    }
    return payment;
  }

  /**
   * Anybody's transfer to anybody is on a chain: it counts when it pays into this payment's deposits, or when it came to an address of ours
   * without a memo of any payment, and an operator gave it to this one.
   */
  async function checkReceived({ deposits, terms: { paymentId } }: Payment, payins: readonly Payin[]): Promise<void> {
    for (const { id, transfer } of payins) {
      if (paysInto(deposits, transfer)) continue;
      const verdict = (await currentState(handle, unmatched, id))?.verdict;
      const isGiven = verdict?.kind === 'assigned' && verdict.paymentId === paymentId;
      if (!isGiven || !isShared(transfer))
        throw notOrdered(`transfer ${id} was not made to a deposit of payment ${paymentId}`);
    }
  }

  const isShared = ({ chainId, to }: Transfer): boolean =>
    ingesters.get(chainId)?.sharedAddresses.includes(to) ?? false;

  async function payout(id: string, owed: Owed): Promise<Backed> {
    const payment = await paymentOf(id);
    const { funded, terms } = payment;
    if (!funded) throw notOrdered(`payment ${id} is not paid`);
    if (funded.rule === 'cashback') return withdrawal(payment);
    const came = payment.payins.filter((payin) => funded.transferIds.includes(payin.id));
    await checkReceived(payment, came);
    const [source, destination] = [terms.source.token, terms.destination.token];
    if (rescale(funded.payout, destination.decimals, source.decimals) > funded.received)
      throw notOrdered(`payment ${id} pays out more than it received`);
    const amount = rescaleUp(owed.leg.order.amount, destination.decimals, source.decimals);
    return {
      funding: fundingOf(id, terms.source, amount, came),
      prove: (signal) => proveFunding(payment, owed, signal),
    };
  }

  /** Nothing came in for it: what merchants earned by credit the treasury has been holding. */
  async function withdrawal({ terms: { paymentId, appId } }: Payment): Promise<Backed> {
    const events = await readStream(store, `cashback-${appId}`);
    const withdrawn = events.some(
      ({ type, data }) => type === 'CashbackWithdrawn' && (data as { paymentId?: string }).paymentId === paymentId,
    );
    if (!withdrawn) throw notOrdered(`payment ${paymentId} is no withdrawal that ${appId} has made`);
    return ofTreasury;
  }

  /** All of an asset that came is proven, and everything that left of it for this payment must fit in. */
  async function refund(id: string, order: Order): Promise<Backed> {
    const payment = await paymentOf(id);
    const came = payment.payins.filter(({ phase, transfer }) => phase === 'confirmed' && isSameAsset(transfer, order));
    const { funded, closed, terms } = payment;
    await checkReceived(payment, came);
    const used =
      funded && closed?.kind !== 'bounced' && isSameAsset(terms.source, order) ? funded.received - funded.excess : 0n;
    const back = payment.refunds.filter((each) => isSameAsset(each.order, order));
    const taken = back.reduce((sum, each) => sum + takenBy(each), used);
    if (taken > sumOf(came)) throw notOrdered(`payment ${id} gives back more than it received`);
    return {
      funding: fundingOf(id, order, order.amount, came),
      prove: proving(came.map(({ transfer }) => transfer)),
    };
  }

  async function unmatchedRefund(id: string, order: Order): Promise<Backed> {
    const found = await currentState(handle, unmatched, id);
    if (found?.verdict.kind !== 'refundRequested') throw notOrdered(`nothing of ${id} is to go back`);
    const { transfer, beyond } = found;
    if (transferId(transfer) !== id) throw notOrdered(`${id} is not the transfer that it is named by`);
    const isOurs = beyond ? paysInto((await paymentOf(beyond.paymentId)).deposits, transfer) : isShared(transfer);
    if (!isOurs) throw notOrdered(`${transfer.to} is none of this treasury's addresses`);
    if (!isSameAsset(transfer, order) || order.amount > BigInt(transfer.amount))
      throw notOrdered(`${id} gives back more than came, or another token`);
    const came = [{ id, amount: BigInt(transfer.amount) }];
    return { funding: fundingOf(`unmatched-${id}`, transfer, order.amount, came), prove: proving([transfer]) };
  }

  async function operation(
    { chainId, receiver: address, receiverMemo: memo }: Order,
    movesAway: boolean,
  ): Promise<Backed> {
    if (!movesAway) return ofTreasury;
    const book = await currentState(handle, addressBook, addressBookInstance);
    const entry = usableAddress(book, { chainId, address, memo: memo ?? undefined }, clock.now());
    if (isRefusal(entry)) throw notOrdered(entry.message);
    // Where the book knows one memo for an address, leaving it out is a way for operators to name it: not for what is signed.
    if (entry.memo !== memo) throw notOrdered(`the address book has ${address} with ${entry.memo}, and not without`);
    return ofTreasury;
  }

  const proving =
    (transfers: readonly Transfer[]): Backed['prove'] =>
    async (signal) => {
      await Promise.all(transfers.map((transfer) => prove(transfer, signal)));
      return nothingToProve;
    };

  async function prove(transfer: Transfer, signal: AbortSignal): Promise<void> {
    const ingester = ingesters.get(transfer.chainId);
    const usd = rescale(BigInt(transfer.amount), transfer.token.decimals, 0);
    const { agreed, dispute } = (await ingester?.agreed(transfer, { pass: 'final', usd }, signal)) ?? { agreed: false };
    if (agreed) return;
    const why = dispute?.message ?? `no node of ${chainOf(transfer.chainId).name} shows it`;
    throw new PayoutBlocked(
      'fundingUnproven',
      `nothing goes back before it is shown to have come: ${transfer.txHash}: ${why}`,
    );
  }

  return async ({ kind, id }, owed) => {
    const { order } = owed.leg;
    switch (kind) {
      case 'payout':
        return payout(id, owed);
      case 'refund':
        return refund(id, order);
      case 'unmatchedRefund':
        return unmatchedRefund(id, order);
      case 'operation':
        return operation(order, owed.purpose.kind === 'withdrawal');
      case 'batch':
        throw notOrdered('a signer of its own signs each payout by itself: unset PAYOUT_BATCH_<chainId>');
    }
  };
}
