/** What became of signed attempts. "Dead" is said only with proof in hand: a wrong one would pay twice. */
import type { ChainId } from '../../../../domain/chains.ts';
import { epochMs, type Instant, instant } from '../../../../domain/time.ts';
import type { DeathProof } from '../../../../domain/transfer/shapes.ts';
import { lower } from '../../../lib/bigints.ts';
import { agreedFate, Forgotten, type NodeFate, stakeOf } from '../../node/agreement.ts';
import type { Fate, Sent } from '../../ports.ts';
import { hasCode, nonceAt, transactionOf } from '../accounts.ts';
import type { EvmChainConfig } from '../config.ts';
import { finalHeight } from '../finality.ts';
import { header, knownHeader, type Receipt, receiptOf } from '../reads.ts';
import { type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import { arrivedIn, broughtIn, costIn } from './arrived.ts';
import type { LookUpUse, NonceAsked } from './nonceUse.ts';

/** Attempts that share one nonce of one account. */
export interface Contenders {
  readonly account: string;
  readonly nonce: bigint;
  readonly attempts: readonly Sent[];
}

type Depths = Pick<EvmChainConfig['depths'], 'payout' | 'finalLarge'>;

/** What is final for a payout, and how it is found out who used a nonce. */
export interface Looking {
  readonly chainId: ChainId;
  readonly depths: Depths;
  readonly lookUp: LookUpUse;
}

/** What the nodes agree on. */
export const fateOf = (rpc: EvmRpc, contenders: Contenders, looking: Looking, signal: AbortSignal): Promise<Fate> =>
  agreedFate(rpc, (node) => fateAt(node, contenders, looking), stakeOf(contenders.attempts), signal);

/** What one node says. Undefined when it knows nothing of the attempts and cannot prove them dead. @throws RpcFailed */
async function fateAt(node: EvmNode, contenders: Contenders, looking: Looking): Promise<NodeFate | undefined> {
  const { depths, lookUp } = looking;
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
  const noted = await lookUp(node, { account, nonce, since: firstSigned(contenders) }, head);
  const isUsed = noted !== undefined && (noted.use ?? noted.seen).blockNumber <= final;
  if (noted && !noted.use)
    throw unremembered(node, contenders, looking.chainId, noted.seen.blockNumber <= (await deepest()));
  if (noted?.use && !contenders.attempts.some(({ hash }) => hash === noted.use?.hash)) {
    const { hash, blockNumber } = noted.use;
    const detail = `transaction ${hash} in block ${blockNumber} used nonce ${nonce}`;
    if (blockNumber <= (await deepest())) return dead(contenders, 'nonceUsed', detail);
    // Whatever used it may still be undone: until then there is nothing to send.
    if (isUsed) return { kind: 'pending', mined: true };
  }
  for (const attempt of contenders.attempts) {
    if (await transactionOf(node, attempt.hash)) return isUsed ? 'unshown' : { kind: 'pending', mined: false };
  }
  return undefined;
}

const firstSigned = ({ attempts }: Contenders): Instant =>
  instant(Math.min(...attempts.map(({ signedAt }) => epochMs(signedAt))));

function unremembered(node: EvmNode, { account, nonce }: Contenders, chainId: ChainId, forGood: boolean): RpcFailed {
  const [method, what] = ['eth_getTransactionCount', `which transaction used nonce ${nonce} of ${account}`];
  if (!forGood) return new RpcFailed(node.name, method, 'refused', `it does not remember ${what}`);
  return new Forgotten(node.name, method, `it does not remember ${what}: name an archive node in RPC_URLS_${chainId}`);
}

/**
 * Whether a nonce may still be used at the chain's deepest finality: what has a lower one cannot land any more. Undefined from a node
 * that has forgotten the state there and has not seen the nonce used for long enough. @throws RpcFailed
 */
export async function isFree(
  node: EvmNode,
  asked: NonceAsked,
  { depths: { finalLarge }, lookUp }: Looking,
): Promise<boolean | undefined> {
  const latest = await knownHeader(node, 'latest');
  const final = await finalHeight(node, latest, finalLarge);
  if (final < 0n) return true;
  try {
    return (await nonceAt(node, asked.account, final)) <= asked.nonce;
  } catch (error) {
    if (!(error instanceof RpcFailed) || error.kind !== 'refused') throw error;
  }
  const noted = await lookUp(node, asked, latest);
  if (!noted) return true;
  return (noted.use ?? noted.seen).blockNumber <= final ? false : undefined;
}

const dead = (
  { attempts }: Contenders,
  reason: 'nonceUsed' | 'reverted',
  detail: string,
  landed?: DeathProof['landed'],
): Fate => ({
  kind: 'dead',
  attempts: attempts.map(({ attempt }) => attempt),
  proof: { reason, detail, ...(landed && { landed }) },
});

interface Finality {
  readonly final: bigint;
  readonly deepest: () => Promise<bigint>;
}

/**
 * A transaction that succeeded says nothing of the money: tokens may keep a fee, or move nothing and return false. A flush is done whatever
 * it brought: everybody may flush deposits, and what is not in them any more is with the treasury.
 */
async function fateOfMined(
  node: EvmNode,
  contenders: Contenders,
  sent: Sent,
  receipt: Receipt,
  { final, deepest }: Finality,
): Promise<Fate> {
  const { hash, succeeded, blockNumber, blockHash } = receipt;
  const arrived = succeeded ? arrivedIn(receipt, contenders.account, sent) : 0n;
  const flushes = sent.form?.kind === 'flush';
  const brought =
    succeeded && sent.form?.kind === 'payMany'
      ? broughtIn(receipt, contenders.account, { token: sent.token, form: sent.form })
      : undefined;
  const deployed = sent.form?.kind !== 'deploy' || (succeeded && (await hasCode(node, sent.receiver)));
  const full = succeeded && deployed && (flushes || arrived >= BigInt(sent.amount));
  const there = blockNumber <= (full ? final : await deepest()) ? await header(node, blockNumber) : undefined;
  if (there?.hash !== blockHash) return { kind: 'pending', mined: true };
  const cost = costIn(receipt, contenders.account, sent);
  const landed = { attempt: sent.attempt, hash, blockNumber, blockHash, ...(cost && { cost }) };
  if (full) return { kind: 'final', ...landed, ...(flushes && { arrived }) };
  if (succeeded) return { kind: 'short', ...landed, arrived, ...(brought && { brought }) };
  const detail = `transaction ${hash} was reverted in block ${blockNumber} (${blockHash})`;
  const at = cost && { hash, blockNumber: blockNumber.toString(), blockHash, cost };
  return dead(contenders, 'reverted', detail, at);
}
