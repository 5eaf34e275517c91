/** What a comparison of chain and log knows of the world, and whom it tells. */
import { type ChainId, chainOf, tokenAt } from '../../domain/chains.ts';
import type { Claim, Entered, Evidence } from './claims.ts';
import { type Finding, type FindingCode, findingAt } from './findings.ts';

export interface Compared {
  find(finding: Finding): void;
  /** Money that came to an account of the treasury without a word in the log about its transaction: sums may tell of it. */
  unclaimed(evidence: Evidence, asset: string, amount: bigint): void;
  /** What the log says that a transaction did to an account, and what it did besides, by asset. */
  entered(evidence: Evidence, entered: readonly Entered[], besides: ReadonlyMap<string, bigint>): void;
  /** A claim of a closed network, which is not compared. */
  skipped(claim: Claim): void;
}

export interface World {
  /** Whose money it is that comes to an address of the treasury: payin contracts pass it on. Null for any other address. */
  accountAt(chainId: ChainId, address: string): string | null;
  /** The account that holds what is paid to an address, as the chain's events name it. */
  holderOf(chainId: ChainId, address: string): string;
  /** The memo that an address contains; null if it contains none. */
  memoIn(chainId: ChainId, address: string): string | null;
  /** Whether a block is behind the last one that was read of the address, so that no node had it yet. */
  isBehindEnd(chainId: ChainId, address: string, block: string | null): boolean;
  /** Whether the chain was read there: an account's, or a deposit's, transactions as far as this block. */
  wasRead(chainId: ChainId, address: string, block: string | null): boolean;
  /** Whether the claim is of a network that began anew: nodes of the new network cannot return its transaction. */
  isOfClosedNetwork(claim: Claim): boolean;
  /** What is younger may still be under way. */
  readonly settledBefore: string;
  /** Whether all of the log was looked at, and not some streams of it. */
  readonly isWhole: boolean;
}

export const findAtClaim = (out: Compared, code: FindingCode, claim: Claim, message: string): void =>
  out.find(findingAt(code, claim.where, message, { chainId: claim.chainId, hash: claim.txHash, block: claim.block }));

/**
 * The most that a token keeps of a transfer, in its smallest units; 0n for a token that keeps nothing. USDT's contract on Ethereum refuses a
 * fee of 20 basis points or more, and one of 50 dollars or more (`setParams`). Other tokens of the catalogue have no fee. The numbers are
 * written down here once more, on purpose.
 */
export function tokenFeeMax(chainId: ChainId, asset: string, amount: bigint): bigint {
  const token = chainId === 1 ? tokenAt(chainOf(chainId), asset) : undefined;
  if (token?.symbol !== 'USDT') return 0n;
  const [rated, most] = [(amount * 19n) / 10_000n, 49n * 10n ** BigInt(token.decimals)];
  return rated < most ? rated : most;
}
