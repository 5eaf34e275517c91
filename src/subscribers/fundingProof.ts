/** Looks once more, right before anything is signed, whether the money that a payout is made from is there. */
import type { Ingester } from '../../commands/chainPorts.ts';
import { PayoutBlocked } from '../../commands/payoutPorts.ts';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { rescale } from '../../domain/money.ts';
import type { Payin } from '../../domain/payment/counting.ts';
import { isSameAsset } from '../../domain/payment/sources.ts';
import type { Payment } from '../../domain/payment/state.ts';

/** @throws PayoutBlocked when too few nodes show it, or none of that chain is configured any more */
export type ProveFunding = (payment: Payment, signal: AbortSignal) => Promise<void>;

type Witnesses = ReadonlyMap<ChainId, { readonly ingester: Pick<Ingester, 'agreed'> }>;

/**
 * The log says that the money was final when it was recorded. Its chain may have changed since, and whoever got at the log may have
 * written what he liked.
 */
export function createFundingProof(chains: Witnesses): ProveFunding {
  return async ({ terms, funded, payins }, signal) => {
    // Of a withdrawal of cashback nothing came in.
    if (!funded || funded.rule === 'cashback') return;
    const funding = payins.filter(
      ({ id, transfer }) => funded.transferIds.includes(id) && isSameAsset(transfer, terms.source),
    );
    const { decimals } = terms.source.token;
    const usd = rescale(funded.received, decimals, 0);
    await Promise.all(funding.map((payin) => prove(payin, usd, signal)));
    const sum = funding.reduce((total, { amount }) => total + amount, 0n);
    if (sum < funded.received) throw unproven(`the log shows ${sum} of ${funded.received} units that funded it`);
  };

  async function prove({ transfer }: Payin, usd: bigint, signal: AbortSignal): Promise<void> {
    const chain = chains.get(transfer.chainId);
    if (!chain) throw unproven(`no node of ${chainOf(transfer.chainId).name} is configured that could show it`);
    const { agreed, dispute } = await chain.ingester.agreed(transfer, { pass: 'final', usd }, signal);
    if (!agreed) throw unproven(`transaction ${transfer.txHash}: ${dispute?.message ?? 'not shown'}`);
  }
}

const unproven = (why: string): PayoutBlocked =>
  new PayoutBlocked('fundingUnproven', `nothing is signed before the money is shown that it is paid from: ${why}`);
