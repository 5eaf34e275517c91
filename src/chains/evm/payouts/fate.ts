/** What became of signed attempts. "Dead" is said only with proof in hand: a wrong one would pay twice. */
import type { SignedAttempt } from '../../../../domain/payment/events.ts';
import { higher, lower } from '../../bigints.ts';
import { agreedFate, unlessDenied } from '../../node/nodes.ts';
import type { Fate } from '../../ports.ts';
import type { EvmChainConfig } from '../config.ts';
import {
  finalHeight,
  header,
  knownHeader,
  nonceAt,
  type Receipt,
  receiptOf,
  transactionOf,
  transactionsAt,
} from '../reads.ts';
import type { EvmNode, EvmRpc } from '../rpc.ts';

/** Attempts that share one nonce of one account. */
export interface Contenders {
  readonly account: string;
  readonly nonce: bigint;
  readonly attempts: readonly SignedAttempt[];
}

type Depths = Pick<EvmChainConfig['depths'], 'payout' | 'finalLarge'>;

/** What the nodes agree on. */
export const fateOf = (rpc: EvmRpc, contenders: Contenders, depths: Depths, signal: AbortSignal): Promise<Fate> =>
  agreedFate(rpc, (node) => fateAt(node, contenders, depths), unlessDenied, signal);

/** What one node says. Undefined when it knows nothing of the attempts and cannot prove them dead. @throws RpcFailed */
async function fateAt(node: EvmNode, contenders: Contenders, depths: Depths): Promise<Fate | undefined> {
  const head = (await knownHeader(node, 'latest')).number;
  const final = await finalHeight(node, head, depths.payout);
  for (const attempt of contenders.attempts) {
    const receipt = await receiptOf(node, attempt.hash);
    if (!receipt) continue;
    // In another block a reverted transaction may succeed: it is dead only at the chain's deepest finality.
    const deep = receipt.succeeded ? final : lower(final, await finalHeight(node, head, depths.finalLarge));
    return fateOfMined(node, contenders, attempt, receipt, deep);
  }
  const mined = final < 0n ? undefined : await transactionWithNonce(node, contenders, final);
  if (mined && !contenders.attempts.some(({ hash }) => hash === mined.hash)) {
    const detail = `transaction ${mined.hash} in block ${mined.blockNumber} used nonce ${contenders.nonce}`;
    return dead(contenders, 'nonceUsed', detail);
  }
  for (const attempt of contenders.attempts) {
    if (await transactionOf(node, attempt.hash)) return { kind: 'pending', mined: mined !== undefined };
  }
  return undefined;
}

const dead = ({ attempts }: Contenders, reason: 'nonceUsed' | 'reverted', detail: string): Fate => ({
  kind: 'dead',
  attempts: attempts.map(({ attempt }) => attempt),
  proof: { reason, detail },
});

async function fateOfMined(
  node: EvmNode,
  contenders: Contenders,
  { attempt }: SignedAttempt,
  { hash, succeeded, blockNumber, blockHash }: Receipt,
  final: bigint,
): Promise<Fate> {
  const there = blockNumber <= final ? await header(node, blockNumber) : undefined;
  if (there?.hash !== blockHash) return { kind: 'pending', mined: true };
  if (succeeded) return { kind: 'final', attempt, hash, blockNumber, blockHash };
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
  if (!(await usedAt(final))) return undefined;
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
