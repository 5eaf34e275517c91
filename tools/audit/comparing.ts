/** Context of a comparison of chain and log, and its outputs. */
import { type ChainId, chainOf, tokenAt } from '../../domain/chains.ts';
import type { Claim, Entered, Evidence } from './claims.ts';
import { type Finding, type FindingCode, findingAt } from './findings.ts';

export interface ComparisonOutput {
  find(finding: Finding): void;
  /** Money received by a treasury account without a transaction in the log: sums may include it. */
  unclaimed(evidence: Evidence, asset: string, amount: bigint): void;
  /** Effect of a transaction on an account according to the log, and additional effects, by asset. */
  entered(evidence: Evidence, entered: readonly Entered[], besides: ReadonlyMap<string, bigint>): void;
  /** A claim of a closed network, which is not compared. */
  skipped(claim: Claim): void;
}

export interface World {
  /** Account that owns money at a treasury address: payin contracts forward it. Null for any other address. */
  accountAt(chainId: ChainId, address: string): string | null;
  /** Account that receives payments to an address, in the chain's events. */
  holderOf(chainId: ChainId, address: string): string;
  /** Memo in an address; null if it contains none. */
  memoIn(chainId: ChainId, address: string): string | null;
  /** True if a block is after the last one that was read of the address, so that no node had it yet. */
  isBehindEnd(chainId: ChainId, address: string, block: string | null): boolean;
  /** True if the chain was read up to this block for an account or a deposit. */
  wasRead(chainId: ChainId, address: string, block: string | null): boolean;
  /** True if the claim belongs to a reset network: nodes of the new network cannot return its transaction. */
  isOfClosedNetwork(claim: Claim): boolean;
  /** Younger transfers may still be pending. */
  readonly settledBefore: string;
  /** True if the whole log was checked, and not only some streams. */
  readonly isWhole: boolean;
}

export const findAtClaim = (out: ComparisonOutput, code: FindingCode, claim: Claim, message: string): void =>
  out.find(findingAt(code, claim.where, message, { chainId: claim.chainId, hash: claim.txHash, block: claim.block }));

/**
 * Maximum fee that a token keeps of a transfer, in its smallest units; 0n for a token without one. USDT's contract on Ethereum refuses a
 * fee of 20 basis points or more, and one of 50 dollars or more (`setParams`). Other catalogue tokens have no fee. The numbers are repeated
 * here on purpose.
 */
export function tokenFeeMax(chainId: ChainId, asset: string, amount: bigint): bigint {
  const token = chainId === 1 ? tokenAt(chainOf(chainId), asset) : undefined;
  if (token?.symbol !== 'USDT') return 0n;
  const [rated, most] = [(amount * 19n) / 10_000n, 49n * 10n ** BigInt(token.decimals)];
  return rated < most ? rated : most;
}
