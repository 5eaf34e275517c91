/** Checks again, before anything is signed and right before the signature, that the funding money of a transfer is on its chain. */
import type { Ingester } from '../../../commands/chainPorts.ts';
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock, EventStore } from '../../../commands/ports.ts';
import { nothingToProve, PayoutBlocked, type PayoutRail, type StillFunded } from '../../../commands/transferPorts.ts';
import { findWithdrawal } from '../../../commands/withdrawCashback.ts';
import { type ChainFamily, type ChainId, chainOf } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { convert, usDollar } from '../../../domain/money.ts';
import { forgeryIn, payoutBacking, refundBacking } from '../../../domain/payment/backing.ts';
import { paysOut } from '../../../domain/payment/cashback.ts';
import { type Transfer, transferId } from '../../../domain/payment/events.ts';
import { objectionToFunding } from '../../../domain/payment/fundedRefund.ts';
import { paysInto } from '../../../domain/payment/payins.ts';
import type { Deposit } from '../../../domain/payment/shapes.ts';
import { familyOf, type Payin } from '../../../domain/payment/sources.ts';
import { type Payment, paymentDecider } from '../../../domain/payment/state.ts';
import { fundingUse, useFunding } from '../../../domain/signing/moneyUse.ts';
import type { Owed } from '../../../domain/transfer/leg.ts';
import { objectionToUse, unmatched } from '../../../domain/unmatched.ts';

/**
 * @returns a second check, in one call if all is well: transfers wait for their turn, and a block may leave meanwhile
 * @throws PayoutBlocked if too few nodes return it, or none of that chain is configured any more
 */
export type ProveFunding = (payment: Payment, owed: Owed, signal: AbortSignal) => Promise<StillFunded>;

interface Witness {
  readonly ingester: Pick<Ingester, 'agreed'>;
  readonly rail: Pick<PayoutRail, 'stillFinal'>;
}

type Witnesses = ReadonlyMap<ChainId, Witness>;

/**
 * Proves the money that funds a payment's transfer. A cashback withdrawal has no payin.
 * @param own null if the signer checks the money's owner (src/signer/backing.ts)
 * @param uses null if the signer records the use of the money (src/signer/notary.ts)
 */
export function createFundingProof(
  chains: Witnesses,
  own: OwnMoneyChecks | null = null,
  uses: FundingUses | null = null,
): ProveFunding {
  const prove = createMoneyProof(chains);
  return async (payment, owed, signal) => {
    const { order } = owed.leg;
    const backing = owed.key.kind === 'refund' ? refundBacking(payment, order) : payoutBacking(payment, order);
    if (isRefusal(backing)) throw unproven(backing.message);
    if (backing === null) {
      await mustBeOurs(own?.objectionToWithdrawal(payment));
      return nothingToProve;
    }
    const { payins, needed } = backing;
    await mustBeOurs(own?.objectionToPayins(owed.key.id, payment, payins));
    if (owed.key.kind === 'payout') await mustBeOurs(own?.objectionToRefundOf(payment));
    const transfers = payins.map(({ transfer }) => transfer);
    const still = await prove(transfers, needed, signal);
    return async () => {
      await still();
      await mustBeOurs(uses?.useForPayment(owed.key.id, payment, transfers));
    };
  };
}

/** @param needed sum that the transfers, all of one token, must reach: above zero, in units of the token */
export type ProveMoney = (transfers: readonly Transfer[], needed: bigint, signal: AbortSignal) => Promise<StillFunded>;

/**
 * The log says that the money was final when it was recorded. Its chain may have changed since, and an attacker who can append to the log
 * may have written anything.
 */
export function createMoneyProof(chains: Witnesses): ProveMoney {
  return async (transfers, needed, signal) => {
    const [first] = transfers;
    const sum = transfers.reduce((total, { amount }) => total + BigInt(amount), 0n);
    if (!first || needed <= 0n || sum < needed)
      throw unproven(`the log shows ${sum} of ${needed} units that it is paid from`);
    for (const transfer of transfers) {
      const forged = forgeryIn(transfer);
      if (forged !== undefined) throw unproven(forged);
    }
    const usd = convert(needed, first.token, usDollar);
    await Promise.all(transfers.map((transfer) => prove(transfer, usd, signal)));
    return async () => void (await Promise.all(transfers.map((transfer) => checkThere(transfer, signal))));
  };

  async function checkThere({ chainId, txHash: hash, blockHash, blockNumber }: Transfer, signal: AbortSignal) {
    const landed = { hash, blockHash, blockNumber: BigInt(blockNumber) };
    if (await chains.get(chainId)?.rail.stillFinal(landed, signal)) return;
    throw unproven(`transaction ${hash}: its block ${blockHash} has just left the chain`);
  }

  async function prove(transfer: Transfer, usd: bigint, signal: AbortSignal): Promise<void> {
    const chain = chains.get(transfer.chainId);
    if (!chain) throw unproven(`no node of ${chainOf(transfer.chainId).name} is configured that could show it`);
    const { agreed, dispute } = await chain.ingester.agreed(transfer, { pass: 'final', usd }, signal);
    if (!agreed) throw unproven(`transaction ${transfer.txHash}: ${dispute?.message ?? 'not shown'}`);
  }
}

/** @throws PayoutBlocked for an objection */
async function mustBeOurs(objection: Promise<string | undefined> | undefined): Promise<void> {
  const why = await objection;
  if (why !== undefined) throw unproven(why);
}

/** Proves unmatched money before its refund. @param own as for `createFundingProof`, like `uses` */
export function createUnmatchedProof(
  chains: Witnesses,
  own: OwnMoneyChecks | null,
  uses: FundingUses | null = null,
): ProveMoney {
  const prove = createMoneyProof(chains);
  return async (transfers, needed, signal) => {
    for (const transfer of transfers) await mustBeOurs(own?.objectionToUnmatched(transfer));
    const still = await prove(transfers, needed, signal);
    return async () => {
      await still();
      for (const transfer of transfers) await mustBeOurs(uses?.objectionToRefund(transfer));
    };
  };
}

const unproven = (why: string): PayoutBlocked =>
  new PayoutBlocked('fundingUnproven', `nothing is signed before the money is shown that it is paid from: ${why}`);

// Checks that the log's money was paid to this treasury, or earned by credit. Transfers between strangers exist on every chain.

export interface OwnMoneyDeps {
  readonly handle: Handle;
  readonly store: Pick<EventStore, 'read'>;
  readonly ingesters: ReadonlyMap<ChainId, Pick<Ingester, 'sharedAddresses'>>;
  /** True if a payment's deposit is derived like this treasury's deposits. */
  readonly isOwnDeposit: (family: ChainFamily, paymentId: string, deposit: Deposit) => Promise<boolean>;
}

/** Each method returns why the money is not the treasury's; undefined if it is. */
export interface OwnMoneyChecks {
  /** @param id of the payment's stream */
  objectionToPayins(id: string, payment: Payment, payins: readonly Payin[]): Promise<string | undefined>;
  objectionToWithdrawal(payment: Payment): Promise<string | undefined>;
  /** For a payment that pays out a refund: the refunded payment must have ordered exactly that. */
  objectionToRefundOf(payment: Payment): Promise<string | undefined>;
  /** @param transfer unmatched, with a refund */
  objectionToUnmatched(transfer: Transfer): Promise<string | undefined>;
}

export function createOwnMoney({ handle, store, ingesters, isOwnDeposit }: OwnMoneyDeps): OwnMoneyChecks {
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

  /** A payin counts if it pays into a deposit of the payment, or if an operator assigned it to the payment as unmatched money. */
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

    async objectionToRefundOf(payment) {
      const { refundOf } = payment.terms;
      if (!refundOf) return undefined;
      return objectionToFunding(payment, await currentState(handle, paymentDecider, refundOf.paymentId));
    },

    objectionToUnmatched,
  };
}

// Payment that an incoming transfer funds, recorded in the log before a signature. An attacker who can append to the log can name one
// transfer for two payments: it funds only the first one. A separate signer has its own record (src/signer/notary.ts).

export interface FundingUsesDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** True if the derivation binds a deposit of the family to one payment. */
  readonly derivesDepositFromPayment: (family: ChainFamily) => boolean;
}

/** Each method returns why the money is used elsewhere; undefined if it is not. Repeating a call changes nothing. */
export interface FundingUses {
  /** @param id of the payment's stream */
  useForPayment(id: string, payment: Payment, transfers: readonly Transfer[]): Promise<string | undefined>;
  /** @param transfer unmatched, with a refund */
  objectionToRefund(transfer: Transfer): Promise<string | undefined>;
}

export function createFundingUses({ handle, clock, derivesDepositFromPayment }: FundingUsesDeps): FundingUses {
  /** The derivation of the deposit binds the transfer: it pays into no other payment's. */
  function isBound({ deposits }: Payment, transfer: Transfer): boolean {
    const family = familyOf(transfer);
    const deposit = deposits[family];
    return deposit !== undefined && derivesDepositFromPayment(family) && paysInto({ [family]: deposit }, transfer);
  }

  async function use(id: string, transfer: Transfer): Promise<string | undefined> {
    const now = clock.now();
    const facts = { cause: 'worker:payouts', appId: null } as const;
    const used = await handle(fundingUse, transferId(transfer), (state) => useFunding(state, id, now), facts);
    return isRefusal(used) ? used.message : undefined;
  }

  return {
    async useForPayment(id, payment, transfers) {
      for (const transfer of transfers) {
        // The use is recorded before the decision about a refund is read, and a refund reads the use after its decision: one of them finds
        // the other.
        const objection =
          (isBound(payment, transfer) ? undefined : await use(id, transfer)) ??
          objectionToUse(await currentState(handle, unmatched, transferId(transfer)), id);
        if (objection !== undefined) return objection;
      }
      return undefined;
    },

    async objectionToRefund(transfer) {
      const used = await currentState(handle, fundingUse, transferId(transfer));
      return used === null ? undefined : `the transfer has paid for payment ${used}: it does not go back`;
    },
  };
}
