/** Present fees of routes, for the policy's choice between them. A route whose fee is unknown is not used. */
import type { ChainId } from '../../../domain/chains.ts';
import { smaller } from '../../../domain/money.ts';
import { type CoinPrice, coinInMicroUsd } from '../../../domain/payment/fees.ts';
import { domainOf, isCctpChain } from '../../../domain/rebalance/cctp.ts';
import type { Planning } from '../../../domain/rebalance/floatPlan.ts';
import type { PolicyQuestion } from '../../../domain/rebalance/policy.ts';
import type { MoveWay } from '../../../domain/rebalance/protocols.ts';
import { isUsdt0Chain, messageFeeLimit, withFeeMargin } from '../../../domain/rebalance/usdt0.ts';
import { type Attestations, AttestationsUnavailable } from '../../chains/attestations.ts';
import { ChainUnavailable } from '../../chains/node/nodes.ts';
import type { OftMessages } from '../../chains/oftMessages.ts';

interface ChainPair {
  readonly from: ChainId;
  readonly to: ChainId;
}

export type RouteFees = Pick<PolicyQuestion, 'feeOf'> & Pick<Planning, 'messageFeeOf'>;

/** Reads the fees of some routes. */
export type ReadFees = (routes: readonly ChainPair[], signal: AbortSignal) => Promise<RouteFees>;

const keyOf = (from: ChainId, to: ChainId, way: MoveWay): string => `${from} ${to} ${way}`;

/** @param attestations null: no fee is known */
export const cctpFees =
  (attestations: Pick<Attestations, 'fees'> | null): ReadFees =>
  async (routes, signal) => {
    const known = new Map<string, number>();
    for (const { from, to } of attestations ? routes : []) {
      if (!isCctpChain(from) || !isCctpChain(to)) continue;
      const fees = await attestations?.fees(domainOf(from), domainOf(to), signal).catch((error: unknown) => {
        if (error instanceof AttestationsUnavailable) return [];
        throw error;
      });
      for (const { finality, fee_bps } of fees ?? []) known.set(keyOf(from, to, finality as MoveWay), fee_bps);
      // The service is away: the other routes have no fee either.
      if (fees?.length === 0) break;
    }
    return { feeOf: (from, to, way) => known.get(keyOf(from, to, way)) };
  };

export interface MessageFeeDeps {
  /** Undefined for a chain that is not configured. Null: moves by USDT0 are off, and no fee is known. */
  readonly oftOn: ((chainId: ChainId) => Pick<OftMessages, 'quote'> | undefined) | null;
  /** Treasury's account on a chain. */
  readonly accountOn: (chainId: ChainId) => string | undefined;
  /** Price of a chain's coin. */
  readonly coinOn: (chainId: ChainId) => CoinPrice | undefined;
}

/** One USDT: the fee of a message does not depend on its amount. */
const quotedUnits = 1_000_000n;

/** A message whose fee is above the signer's limit has no fee, so the policy waits until it is cheaper. */
export const usdt0Fees =
  ({ oftOn, accountOn, coinOn }: MessageFeeDeps): ReadFees =>
  async (routes, signal) => {
    const known = new Map<string, { readonly fee: number; readonly coin: bigint }>();
    for (const { from, to } of routes) {
      const [oft, recipient, price] = [oftOn?.(from), accountOn(to), coinOn(from)];
      if (!oft || recipient === undefined || !price || !isUsdt0Chain(from) || !isUsdt0Chain(to)) continue;
      const quoted = await oft.quote({ to, recipient, amount: quotedUnits }, signal).catch((error: unknown) => {
        if (error instanceof ChainUnavailable) return undefined;
        throw error;
      });
      const limit = messageFeeLimit(from);
      if (quoted === undefined || quoted > limit) continue;
      const fee = Number(coinInMicroUsd(quoted, price));
      known.set(keyOf(from, to, 'message'), { fee, coin: smaller(withFeeMargin(quoted), limit) });
    }
    return {
      feeOf: (from, to, way) => known.get(keyOf(from, to, way))?.fee,
      messageFeeOf: (from, to) => known.get(keyOf(from, to, 'message'))?.coin,
    };
  };
