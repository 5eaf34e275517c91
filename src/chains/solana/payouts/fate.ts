/** What became of a signed attempt. "Dead" is said only with proof in hand: a wrong one would pay twice. */
import { assert } from '../../../../domain/decider.ts';
import type { SignedAttempt } from '../../../../domain/payment/events.ts';
import { agreedFate } from '../../node/agreement.ts';
import type { Fate } from '../../ports.ts';
import { blockAt, type FinalHead, finalBlocks, finalHead, isBlockhashValid, lagging } from '../reads.ts';
import type { SolanaNode, SolanaRpc } from '../rpc.ts';
import { type Status, statusOf } from '../transactions.ts';
import { arrivedBy, type Transferred } from './arrived.ts';
import { messageIn, termsOf } from './transaction.ts';

/** What was signed, and maybe sent. */
export type Sent = Pick<SignedAttempt, 'attempt' | 'hash' | 'bytes' | 'validUntil'> & {
  /** What it is to bring its receiver; left out where it pays nobody. */
  readonly transfer?: Transferred;
};

/** Blocks after its own that take a blockhash. */
export const blockhashAge_blocks = 150n;
/** An attempt can be proven dead up to so many blocks past its last one; later, an operator has to examine it. */
const provableFor_blocks = 200_000n;

/**
 * What the nodes agree on. Each of them has to prove, by its own blocks, that no block holds the attempt.
 * @param usd the transfer, in whole tokens
 */
export const fateOf = (rpc: SolanaRpc, attempt: Sent, usd: bigint, signal: AbortSignal): Promise<Fate> =>
  agreedFate(rpc, (node) => fateAt(node, attempt), usd, signal);

/** Whether a block may still take the attempt: false when the node says so by its final height and by the blockhash. @throws RpcFailed */
export async function canLandAt(node: SolanaNode, attempt: Sent): Promise<boolean> {
  const head = await finalHead(node);
  return head.height <= BigInt(attempt.validUntil ?? '0') || (await isValid(node, attempt, head.slot));
}

/** What one node says. Undefined when it does not know the attempt and cannot prove it dead. @throws RpcFailed */
async function fateAt(node: SolanaNode, attempt: Sent): Promise<Fate | undefined> {
  const first = await statusOf(node, attempt.hash);
  if (first.status) return decided(node, attempt, first.status);
  const lastHeight = BigInt(attempt.validUntil ?? '0');
  const head = await finalHead(node);
  if (head.height <= lastHeight) return undefined;

  // No block takes the attempt any more. None has taken it if the node has all blocks and, asked again, does not know it.
  if (await isValid(node, attempt, head.slot)) return undefined;
  const complete = await hasBlocksFrom(node, lastHeight - blockhashAge_blocks, head);
  if (!complete) return { kind: 'pending', mined: true };
  const { slot, status } = await statusOf(node, attempt.hash);
  if (status) return decided(node, attempt, status);
  if (slot < head.slot) throw lagging(node, 'getSignatureStatuses', head.slot);
  const detail = `block height ${head.height} is final, past ${lastHeight}, and the transaction is in no block`;
  return dead(attempt, 'validityPassed', detail);
}

async function decided(node: SolanaNode, attempt: Sent, { slot, final, error }: Status): Promise<Fate> {
  if (!final) return { kind: 'pending', mined: true };
  if (error !== null) return dead(attempt, 'reverted', `it failed in slot ${slot}: ${error.slice(0, 200)}`);
  const { hash: blockHash } = await blockAt(node, slot, 'finalized');
  const landed = { attempt: attempt.attempt, hash: attempt.hash, blockNumber: slot, blockHash };
  const { transfer } = attempt;
  const arrived = transfer ? await arrivedBy(node, attempt.hash, transfer) : 0n;
  return arrived >= BigInt(transfer?.amount ?? 0)
    ? { kind: 'final', ...landed }
    : { kind: 'short', ...landed, arrived };
}

/** A second witness beside the last valid height, which was told when the attempt was signed: what the node says of its blockhash now. */
function isValid(node: SolanaNode, { bytes }: Sent, minContextSlot: bigint): Promise<boolean> {
  const terms = termsOf(messageIn(bytes));
  assert(terms !== undefined, 'what was signed here can be read here');
  return isBlockhashValid(node, terms.blockhash, { commitment: 'finalized', minContextSlot });
}

/** Whether the node has every final block from a height on: as many as the heights differ. */
async function hasBlocksFrom(node: SolanaNode, height: bigint, head: FinalHead): Promise<boolean> {
  const blocks = head.height - height;
  if (blocks > provableFor_blocks) return false;
  // Some slots have no block: twice as many slots are searched as there are blocks.
  const from = head.slot - blocks * 2n;
  const slots = await finalBlocks(node, from > 0n ? from : 0n, head.slot);
  const earliest = slots.at(-Number(blocks) - 1);
  return earliest !== undefined && (await blockAt(node, earliest, 'finalized')).height === height;
}

const dead = ({ attempt }: Sent, reason: 'reverted' | 'validityPassed', detail: string): Fate => ({
  kind: 'dead',
  attempts: [attempt],
  proof: { reason, detail },
});
