/** What became of signed attempts. "Dead" is said only with proof in hand: a wrong one would pay twice. */
import { higher, lower } from '../../bigints.ts';
import { agreedFate, stakeOf } from '../../node/agreement.ts';
import type { Fate, Sent } from '../../ports.ts';
import type { EvmChainConfig } from '../config.ts';
import { finalHeight } from '../finality.ts';
import { header, knownHeader, nonceAt, type Receipt, receiptOf, transactionOf, transactionsAt } from '../reads.ts';
import type { EvmNode, EvmRpc } from '../rpc.ts';
import { arrivedIn } from './arrived.ts';

/** Attempts that share one nonce of one account. */
export interface Contenders {
  readonly account: string;
  readonly nonce: bigint;
  readonly attempts: readonly Sent[];
}

type Depths = Pick<EvmChainConfig['depths'], 'payout' | 'finalLarge'>;

/** What the nodes agree on. */
export const fateOf = (rpc: EvmRpc, contenders: Contenders, depths: Depths, signal: AbortSignal): Promise<Fate> =>
  agreedFate(rpc, (node) => fateAt(node, contenders, depths), stakeOf(contenders.attempts), signal);

/** What one node says. Undefined when it knows nothing of the attempts and cannot prove them dead. @throws RpcFailed */
async function fateAt(node: EvmNode, contenders: Contenders, depths: Depths): Promise<Fate | undefined> {
  const head = await knownHeader(node, 'latest');
  const final = await finalHeight(node, head, depths.payout);
  // What a shallow block says may be undone: an attempt is dead only at the chain's deepest finality.
  const deepest = async () => lower(final, await finalHeight(node, head, depths.finalLarge));
  for (const attempt of contenders.attempts) {
    const receipt = await receiptOf(node, attempt.hash);
    if (!receipt) continue;
    return fateOfMined(node, contenders, attempt, receipt, { final, deepest });
  }
  const { account, nonce } = contenders;
  const isUsed = final >= 0n && (await nonceAt(node, account, final)) > nonce;
  const used = isUsed ? await transactionWithNonce(node, contenders, await deepest()) : undefined;
  if (used && !contenders.attempts.some(({ hash }) => hash === used.hash)) {
    const detail = `transaction ${used.hash} in block ${used.blockNumber} used nonce ${nonce}`;
    return dead(contenders, 'nonceUsed', detail);
  }
  // Whatever used it may still be undone: until then there is nothing to send.
  if (isUsed && !used) return { kind: 'pending', mined: true };
  for (const attempt of contenders.attempts) {
    if (await transactionOf(node, attempt.hash)) return { kind: 'pending', mined: isUsed };
  }
  return undefined;
}

/** The account's next nonce where the chain is deepest final: what has a lower one cannot land any more. @throws RpcFailed */
export async function finalNonce(node: EvmNode, account: string, { finalLarge }: Depths): Promise<bigint> {
  const final = await finalHeight(node, await knownHeader(node, 'latest'), finalLarge);
  return final < 0n ? 0n : nonceAt(node, account, final);
}

const dead = ({ attempts }: Contenders, reason: 'nonceUsed' | 'reverted', detail: string): Fate => ({
  kind: 'dead',
  attempts: attempts.map(({ attempt }) => attempt),
  proof: { reason, detail },
});

interface Finality {
  readonly final: bigint;
  readonly deepest: () => Promise<bigint>;
}

/** A transaction that succeeded says nothing of the money: tokens may keep a fee, or move nothing and return false. */
async function fateOfMined(
  node: EvmNode,
  contenders: Contenders,
  sent: Sent,
  receipt: Receipt,
  { final, deepest }: Finality,
): Promise<Fate> {
  const { hash, succeeded, blockNumber, blockHash } = receipt;
  const arrived = succeeded ? arrivedIn(receipt, contenders.account, sent) : 0n;
  const full = succeeded && arrived >= BigInt(sent.amount);
  const there = blockNumber <= (full ? final : await deepest()) ? await header(node, blockNumber) : undefined;
  if (there?.hash !== blockHash) return { kind: 'pending', mined: true };
  const landed = { attempt: sent.attempt, hash, blockNumber, blockHash };
  if (full) return { kind: 'final', ...landed };
  if (succeeded) return { kind: 'short', ...landed, arrived };
  const detail = `transaction ${hash} was reverted in block ${blockNumber} (${blockHash})`;
  return dead(contenders, 'reverted', detail);
}

/**
 * The transaction that used the account's nonce in a block up to `final`, found by its effect on the account's nonce.
 * A missing receipt proves nothing: nodes prune and lag. The other transaction itself is the proof.
 */
async function transactionWithNonce(
  node: EvmNode,
  { account, nonce }: Contenders,
  final: bigint,
): Promise<{ readonly hash: string; readonly blockNumber: bigint } | undefined> {
  const usedAt = async (height: bigint) => (await nonceAt(node, account, height)) > nonce;
  if (final < 0n || !(await usedAt(final))) return undefined;
  let used = final;
  let step = 1n;
  while (used - step > 0n && (await usedAt(used - step))) {
    used -= step;
    step *= 2n;
  }
  let unused = higher(used - step, 0n);
  while (used - unused > 1n) {
    const middle = (unused + used) / 2n;
    if (await usedAt(middle)) used = middle;
    else unused = middle;
  }
  const there = await transactionsAt(node, used);
  const found = there.find(
    (transaction) => transaction.nonce === nonce && transaction.from.toLowerCase() === account.toLowerCase(),
  );
  return found && { hash: found.hash, blockNumber: used };
}
