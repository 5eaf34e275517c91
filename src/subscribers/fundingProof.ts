/** Looks once more, before anything is signed and right before, whether the money that a payout is made from is there. */
import type { Ingester } from '../../commands/chainPorts.ts';
import { PayoutBlocked, type PayoutRail } from '../../commands/transfers/ports.ts';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { rescale } from '../../domain/money.ts';
import type { Payin } from '../../domain/payment/counting.ts';
import { isSameAsset } from '../../domain/payment/sources.ts';
import type { Payment } from '../../domain/payment/state.ts';

/**
 * @returns asks again, in one call where all is well: payouts wait for their turn, and a block may leave meanwhile
 * @throws PayoutBlocked when too few nodes show it, or none of that chain is configured any more
 */
export type ProveFunding = (payment: Payment, signal: AbortSignal) => Promise<StillFunded>;

/** @throws PayoutBlocked when a block of the money has left its chain */
export type StillFunded = () => Promise<void>;

/** Of a payment that is made of no money that came in, or of which something may land already. */
export const nothingToProve: StillFunded = async () => {};

interface Witness {
  readonly ingester: Pick<Ingester, 'agreed'>;
  readonly rail: Pick<PayoutRail, 'stillFinal'>;
}

type Witnesses = ReadonlyMap<ChainId, Witness>;

/**
 * The log says that the money was final when it was recorded. Its chain may have changed since, and whoever got at the log may have
 * written what he liked.
 */
export function createFundingProof(chains: Witnesses): ProveFunding {
  return async ({ terms, funded, payins }, signal) => {
    // Of a withdrawal of cashback nothing came in.
    if (!funded || funded.rule === 'cashback') return nothingToProve;
    const funding = payins.filter(
      ({ id, transfer }) => funded.transferIds.includes(id) && isSameAsset(transfer, terms.source),
    );
    const { decimals } = terms.source.token;
    const usd = rescale(funded.received, decimals, 0);
    await Promise.all(funding.map((payin) => prove(payin, usd, signal)));
    const sum = funding.reduce((total, { amount }) => total + amount, 0n);
    if (sum < funded.received) throw unproven(`the log shows ${sum} of ${funded.received} units that funded it`);
    return async () => void (await Promise.all(funding.map((payin) => checkThere(payin, signal))));
  };

  async function checkThere({ transfer }: Payin, signal: AbortSignal): Promise<void> {
    const { txHash: hash, blockHash } = transfer;
    const landed = { hash, blockHash, blockNumber: BigInt(transfer.blockNumber) };
    if (await chains.get(transfer.chainId)?.rail.stillFinal(landed, signal)) return;
    throw unproven(`transaction ${hash}: its block ${blockHash} has just left the chain`);
  }

  async function prove({ transfer }: Payin, usd: bigint, signal: AbortSignal): Promise<void> {
    const chain = chains.get(transfer.chainId);
    if (!chain) throw unproven(`no node of ${chainOf(transfer.chainId).name} is configured that could show it`);
    const { agreed, dispute } = await chain.ingester.agreed(transfer, { pass: 'final', usd }, signal);
    if (!agreed) throw unproven(`transaction ${transfer.txHash}: ${dispute?.message ?? 'not shown'}`);
  }
}

const unproven = (why: string): PayoutBlocked =>
  new PayoutBlocked('fundingUnproven', `nothing is signed before the money is shown that it is paid from: ${why}`);
