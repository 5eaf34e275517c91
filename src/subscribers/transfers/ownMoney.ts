/** Whether money that the log names was paid to this treasury, or earned by credit. Transfers between strangers are on every chain. */
import type { Ingester } from '../../../commands/chainPorts.ts';
import { findWithdrawal } from '../../../commands/findWithdrawal.ts';
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { EventStore } from '../../../commands/ports.ts';
import type { ChainFamily, ChainId } from '../../../domain/chains.ts';
import { paysOut } from '../../../domain/payment/cashback.ts';
import type { Payin } from '../../../domain/payment/counting.ts';
import type { Transfer } from '../../../domain/payment/events.ts';
import { paysInto } from '../../../domain/payment/payins.ts';
import type { Deposit } from '../../../domain/payment/shapes.ts';
import { type Payment, paymentDecider } from '../../../domain/payment/state.ts';
import { type UnmatchedState, unmatched } from '../../../domain/unmatched.ts';

export interface OwnMoneyDeps {
  readonly handle: Handle;
  readonly store: Pick<EventStore, 'read'>;
  readonly ingesters: ReadonlyMap<ChainId, Pick<Ingester, 'sharedAddresses'>>;
  /** Whether a payment's deposit is derived as this treasury's deposits are. */
  readonly isOwnDeposit: (family: ChainFamily, paymentId: string, deposit: Deposit) => Promise<boolean>;
}

/** Each method returns why the money is not the treasury's; undefined if it is. */
export interface OwnMoney {
  /** @param id of the payment's stream */
  objectionToPayment(id: string, payment: Payment, payins: readonly Payin[]): Promise<string | undefined>;
  objectionToWithdrawal(payment: Payment): Promise<string | undefined>;
  objectionToUnmatched(found: Pick<NonNullable<UnmatchedState>, 'transfer' | 'beyond'>): Promise<string | undefined>;
}

export function createOwnMoney({ handle, store, ingesters, isOwnDeposit }: OwnMoneyDeps): OwnMoney {
  const isShared = ({ chainId, to }: Transfer): boolean =>
    ingesters.get(chainId)?.sharedAddresses.includes(to) ?? false;

  async function objectionToDeposits(id: string, { terms, deposits }: Payment): Promise<string | undefined> {
    if (terms.paymentId !== id) return `the stream of payment ${id} holds the terms of payment ${terms.paymentId}`;
    for (const [family, deposit] of Object.entries(deposits))
      if (!(await isOwnDeposit(family as ChainFamily, id, deposit)))
        return `the deposit ${deposit.address} of payment ${id} is none of this treasury's: nothing came in there`;
    return undefined;
  }

  /** A payin counts if it pays into a deposit of the payment, or if an operator gave it to the payment from an address that payments share. */
  async function objectionToPayin({ deposits, terms }: Payment, { id, transfer }: Payin): Promise<string | undefined> {
    if (paysInto(deposits, transfer)) return undefined;
    const verdict = (await currentState(handle, unmatched, id))?.verdict;
    const isGiven = verdict?.kind === 'assigned' && verdict.paymentId === terms.paymentId;
    if (isGiven && isShared(transfer)) return undefined;
    return `transfer ${id} was not made to a deposit of payment ${terms.paymentId}`;
  }

  return {
    async objectionToPayment(id, payment, payins) {
      const objection = await objectionToDeposits(id, payment);
      if (objection !== undefined) return objection;
      for (const payin of payins) {
        const toPayin = await objectionToPayin(payment, payin);
        if (toPayin !== undefined) return toPayin;
      }
      return undefined;
    },

    async objectionToWithdrawal(payment) {
      const { paymentId, appId, createdAt } = payment.terms;
      const withdrawal = await findWithdrawal(store, { appId, paymentId, createdAt });
      if (withdrawal && paysOut(payment, withdrawal)) return undefined;
      return `payment ${paymentId} is no withdrawal that ${appId} has made, or pays another amount or receiver`;
    },

    async objectionToUnmatched({ transfer, beyond }) {
      if (!beyond) return isShared(transfer) ? undefined : notOurs(transfer);
      const payment = await currentState(handle, paymentDecider, beyond.paymentId);
      if (!payment) return `there is no payment ${beyond.paymentId}`;
      const objection = await objectionToDeposits(beyond.paymentId, payment);
      if (objection !== undefined) return objection;
      return paysInto(payment.deposits, transfer) ? undefined : notOurs(transfer);
    },
  };
}

const notOurs = ({ to }: Transfer): string => `${to} is none of this treasury's addresses`;
