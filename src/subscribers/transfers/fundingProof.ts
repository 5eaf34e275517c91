/** Looks once more, before anything is signed and right before, whether the money that a transfer is made from is there. */
import type { Ingester } from '../../../commands/chainPorts.ts';
import { nothingToProve, type StillFunded } from '../../../commands/transfers/outgoing.ts';
import { PayoutBlocked, type PayoutRail } from '../../../commands/transfers/ports.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { rescale } from '../../../domain/money.ts';
import { payoutBacking, refundBacking } from '../../../domain/payment/backing.ts';
import { type Payin, sumOf } from '../../../domain/payment/counting.ts';
import type { Payment } from '../../../domain/payment/state.ts';
import type { Owed } from '../../../domain/transfer/owed.ts';

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
 * The log says that the money was final when it was recorded. Its chain may have changed since, and whoever got at the log may have
 * written what he liked.
 */
export function createFundingProof(chains: Witnesses): ProveFunding {
  return async (payment, owed, signal) => {
    const { payins, needed } =
      owed.key.kind === 'refund' ? refundBacking(payment, owed.leg.order) : payoutBacking(payment);
    const [first] = payins;
    if (needed === 0n) return nothingToProve;
    const usd = first ? rescale(needed, first.transfer.token.decimals, 0) : 0n;
    await Promise.all(payins.map((payin) => prove(payin, usd, signal)));
    const sum = sumOf(payins);
    if (sum < needed) throw unproven(`the log shows ${sum} of ${needed} units that it is paid from`);
    return async () => void (await Promise.all(payins.map((payin) => checkThere(payin, signal))));
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
