/** Whether money that the log names was paid to this treasury, or earned by credit. Transfers between strangers are on every chain. */
import type { Ingester } from '../../../commands/chainPorts.ts';
import { findWithdrawal } from '../../../commands/findWithdrawal.ts';
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { EventStore } from '../../../commands/ports.ts';
import type { ChainFamily, ChainId } from '../../../domain/chains.ts';
import { paysOut } from '../../../domain/payment/cashback.ts';
import type { Payin } from '../../../domain/payment/counting.ts';
import { type Transfer, transferId } from '../../../domain/payment/events.ts';
import { paysInto } from '../../../domain/payment/payins.ts';
import type { Deposit } from '../../../domain/payment/shapes.ts';
import { familyOf } from '../../../domain/payment/sources.ts';
import { type Payment, paymentDecider } from '../../../domain/payment/state.ts';
import { unmatched } from '../../../domain/unmatched.ts';

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
  objectionToPayins(id: string, payment: Payment, payins: readonly Payin[]): Promise<string | undefined>;
  objectionToWithdrawal(payment: Payment): Promise<string | undefined>;
  /** @param transfer that no payment takes up, and that is to go back */
  objectionToUnmatched(transfer: Transfer): Promise<string | undefined>;
}

export function createOwnMoney({ handle, store, ingesters, isOwnDeposit }: OwnMoneyDeps): OwnMoney {
  const isShared = ({ chainId, to }: Transfer): boolean =>
    ingesters.get(chainId)?.sharedAddresses.includes(to) ?? false;

  /** @returns undefined for an own deposit, null if the transfer pays into none of the payment's */
  async function objectionToDeposit(id: string, { deposits }: Payment, transfer: Transfer) {
    const family = familyOf(transfer);
    const deposit = deposits[family];
    if (!deposit || !paysInto({ [family]: deposit }, transfer)) return null;
    if (await isOwnDeposit(family, id, deposit)) return undefined;
    return `the deposit ${deposit.address} of payment ${id} is none of this treasury's: nothing came in there`;
  }

  async function objectionToUnmatched(transfer: Transfer): Promise<string | undefined> {
    const notOurs = `${transfer.to} is none of this treasury's addresses`;
    const id = transferId(transfer);
    const beyond = (await currentState(handle, unmatched, id))?.beyond;
    if (!beyond) return isShared(transfer) ? undefined : notOurs;
    const payment = await currentState(handle, paymentDecider, beyond.paymentId);
    if (!payment) return `there is no payment ${beyond.paymentId}`;
    if (payment.payins.some((payin) => payin.id === id))
      return `payment ${beyond.paymentId} takes transfer ${id} up itself`;
    const objection = await objectionToDeposit(beyond.paymentId, payment, transfer);
    return objection === null ? notOurs : objection;
  }

  /** A payin counts if it pays into a deposit of the payment, or if an operator gave it to the payment as money that no other one takes up. */
  async function objectionToPayin(id: string, payment: Payment, payin: Payin): Promise<string | undefined> {
    const objection = await objectionToDeposit(id, payment, payin.transfer);
    if (objection !== null) return objection;
    const verdict = (await currentState(handle, unmatched, payin.id))?.verdict;
    const isGiven = verdict?.kind === 'assigned' && verdict.paymentId === id;
    if (isGiven) return objectionToUnmatched(payin.transfer);
    return `transfer ${payin.id} was not made to a deposit of payment ${id}`;
  }

  return {
    async objectionToPayins(id, payment, payins) {
      const { paymentId } = payment.terms;
      if (paymentId !== id) return `the stream of payment ${id} holds the terms of payment ${paymentId}`;
      for (const payin of payins) {
        const objection = await objectionToPayin(id, payment, payin);
        if (objection !== undefined) return objection;
      }
      return undefined;
    },

    async objectionToWithdrawal(payment) {
      const { paymentId, appId, createdAt } = payment.terms;
      const withdrawal = await findWithdrawal(store, { appId, paymentId, createdAt });
      if (withdrawal && paysOut(payment, withdrawal)) return undefined;
      return `payment ${paymentId} is no withdrawal that ${appId} has made, or pays another amount or receiver`;
    },

    objectionToUnmatched,
  };
}
