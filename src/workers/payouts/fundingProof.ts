/** Looks once more, before anything is signed and right before, whether the money that a transfer is made from is there. */
import type { Ingester } from '../../../commands/chainPorts.ts';
import { nothingToProve, type StillFunded } from '../../../commands/outgoing.ts';
import { PayoutBlocked, type PayoutRail } from '../../../commands/transferPorts.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { rescale } from '../../../domain/money.ts';
import { forgeryIn, payoutBacking, refundBacking } from '../../../domain/payment/backing.ts';
import type { Transfer } from '../../../domain/payment/events.ts';
import type { Payment } from '../../../domain/payment/state.ts';
import type { Owed } from '../../../domain/transfer/owed.ts';
import type { FundingUses } from './fundingUses.ts';
import type { OwnMoney } from './ownMoney.ts';

/**
 * @returns asks again, in one call where all is well: transfers wait for their turn, and a block may leave meanwhile
 * @throws PayoutBlocked when too few nodes show it, or none of that chain is configured any more
 */
export type ProveFunding = (payment: Payment, owed: Owed, signal: AbortSignal) => Promise<StillFunded>;

interface Witness {
  readonly ingester: Pick<Ingester, 'agreed'>;
  readonly rail: Pick<PayoutRail, 'stillFinal'>;
}

type Witnesses = ReadonlyMap<ChainId, Witness>;

/**
 * Proves the money that a payment's transfer is made from. A withdrawal of cashback is made of no payin.
 * @param own null where the signer checks whose money it is (src/signer/backing.ts)
 * @param uses null where the signer records what the money pays for (src/signer/record.ts)
 */
export function createFundingProof(
  chains: Witnesses,
  own: OwnMoney | null = null,
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
    const usd = rescale(needed, first.token.decimals, 0);
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

/** Proves money that no payment takes up before it goes back. @param own as for `createFundingProof`, like `uses` */
export function createUnmatchedProof(
  chains: Witnesses,
  own: OwnMoney | null,
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
