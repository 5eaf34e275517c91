/** Fate of signed attempts. "Dead" requires a proof: a wrong answer would pay twice. */

import { type Hex, isAddressEqual, zeroAddress } from 'viem';
import type { ChainId } from '../../../../domain/chains.ts';
import { epochMs, type Instant, instant } from '../../../../domain/time.ts';
import type { Cost, DeathProof } from '../../../../domain/transfer/shapes.ts';
import { lower } from '../../../lib/concurrency.ts';
import { agreedFate, FactForgotten, type NodeFate, stakeOf } from '../../node/agreement.ts';
import type { Fate, Sent } from '../../ports.ts';
import { hasCode, nonceAt, topicOf, transactionOf } from '../accounts.ts';
import type { EvmChainConfig } from '../config.ts';
import { finalHeight } from '../finality.ts';
import { header, knownHeader, type Receipt, receiptOf, transferTopic } from '../reads.ts';
import { type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import type { LookUpUse, NonceAsked } from './nonceUse.ts';

/**
 * Sum of the token's own transfers to the receiver, from the account or, for a flush, from its deposits. Ignores logs of other contracts:
 * since EIP-7708 the system address logs coin movements in the same form.
 */
export function arrivedIn(
  { logs }: Pick<Receipt, 'logs'>,
  account: string,
  { token, receiver, form, amount }: Sent,
): bigint {
  if (form?.kind === 'payMany')
    return broughtIn({ logs }, account, { token, form }).reduce((sum, each) => sum + each, 0n);
  // The hash covers the signed amount: a successful transaction has moved it exactly.
  if (form?.kind === 'coin') return BigInt(amount);
  if (form?.kind === 'authorization') return movedIn(logs, token, { from: [form.payer], to: [receiver] });
  // Mints come from nobody. The fee, minted for Circle in the same transaction, has another receiver.
  if (form?.kind === 'mint') return movedIn(logs, token, { from: [zeroAddress], to: [receiver] });
  const from = form?.kind === 'flush' ? form.deposits.map(({ address }) => address) : [account];
  return movedIn(logs, token, { from, to: [receiver] });
}

type PaidMany = Pick<Sent, 'token'> & { readonly form: Extract<NonNullable<Sent['form']>, { kind: 'payMany' }> };

/**
 * Amount of each payment of a batch, in order, at most the ordered one. Each log counts once: of two payments with the same receiver and
 * amount, one log pays one.
 */
export function broughtIn(
  { logs }: { readonly logs: readonly Pick<Receipt['logs'][number], 'address' | 'topics' | 'data'>[] },
  account: string,
  { token, form }: PaidMany,
): readonly bigint[] {
  const [from, left] = [topicOf(account), logs.filter(({ address, topics }) => isTransferOf(token, address, topics))];
  const take = (receiver: string, is: (amount: bigint) => boolean): bigint | undefined => {
    const to = topicOf(receiver);
    const at = left.findIndex(
      ({ topics, data }) => topics[1]?.toLowerCase() === from && topics[2]?.toLowerCase() === to && is(amountIn(data)),
    );
    return at < 0 ? undefined : amountIn(left.splice(at, 1)[0]?.data ?? '0x');
  };
  const exact = form.payments.map(({ receiver, amount }) => take(receiver, (each) => each === amount));
  return form.payments.map(({ receiver, amount }, at) => lower(exact[at] ?? take(receiver, () => true) ?? 0n, amount));
}

/** Cost to the sending account; undefined if the node does not return it. */
export function costIn(receipt: Receipt, account: string, sent: Sent): Cost | undefined {
  if (receipt.fee_wei === undefined) return undefined;
  const left = leftIn(receipt, account, sent);
  // The excess returns without a log, so its amount is not known here: the books find it as a top-up of coin.
  const sentAlong = receipt.succeeded && sent.form?.kind === 'oftSend' ? { rent: sent.form.messageFee } : {};
  return {
    payer: account,
    fee: receipt.fee_wei.toString(),
    ...sentAlong,
    ...(left !== undefined && { left: left.toString() }),
  };
}

/** Debited amount of the token, if it differs from the order: a token may charge its sender, or move nothing. */
function leftIn({ succeeded, logs }: Receipt, account: string, { token, amount, form }: Sent): bigint | undefined {
  if (!succeeded || form) return undefined;
  const left = movedIn(logs, token, { from: [account] }) - movedIn(logs, token, { to: [account] });
  return left >= 0n && left !== BigInt(amount) ? left : undefined;
}

/** Transfers from some accounts to some accounts; omitted: any. */
interface Between {
  readonly from?: readonly string[];
  readonly to?: readonly string[];
}

function movedIn(logs: Receipt['logs'], token: Sent['token'], { from, to }: Between): bigint {
  const [senders, receivers] = [from, to].map((accounts) => accounts && new Set<string>(accounts.map(topicOf)));
  const isMeant = (topics: readonly Hex[]) => {
    const [, sender = '', receiver = ''] = topics.map((topic) => topic.toLowerCase());
    return (senders?.has(sender) ?? true) && (receivers?.has(receiver) ?? true);
  };
  return logs
    .filter(({ address, topics }) => isTransferOf(token, address, topics) && isMeant(topics))
    .reduce((sum, { data }) => sum + amountIn(data), 0n);
}

const isTransferOf = (token: Sent['token'], address: Hex, topics: readonly Hex[]): boolean =>
  isAddressEqual(address, token.address as Hex) && topics[0]?.toLowerCase() === transferTopic && topics.length === 3;

const amountIn = (data: Hex): bigint => (data.length === 66 ? BigInt(data) : 0n);

/** Attempts that share one nonce of one account. */
export interface Contenders {
  readonly account: string;
  readonly nonce: bigint;
  readonly attempts: readonly Sent[];
}

type Depths = Pick<EvmChainConfig['depths'], 'payout' | 'finalLarge'>;

/** Finality of a payout, and the search for the user of a nonce. */
export interface FateSearch {
  readonly chainId: ChainId;
  readonly depths: Depths;
  readonly lookUp: LookUpUse;
}

/** Fate that the nodes agree on. */
export const fateOf = (rpc: EvmRpc, contenders: Contenders, looking: FateSearch, signal: AbortSignal): Promise<Fate> =>
  agreedFate(rpc, (node) => fateAt(node, contenders, looking), stakeOf(contenders.attempts), signal);

/** Fate according to one node. Undefined if it knows none of the attempts and cannot prove them dead. @throws RpcFailed */
async function fateAt(node: EvmNode, contenders: Contenders, looking: FateSearch): Promise<NodeFate | undefined> {
  const { depths, lookUp } = looking;
  const head = await knownHeader(node, 'latest');
  const final = await finalHeight(node, head, depths.payout);
  // A shallow block may be undone: an attempt is dead only at the chain's deepest finality.
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
    // The transaction that used it may still be undone: until then there is nothing to send.
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
  return new FactForgotten(
    node.name,
    method,
    `it does not remember ${what}: name an archive node in RPC_URLS_${chainId}`,
  );
}

/**
 * True if a nonce may still be used at the chain's deepest finality: attempts with a lower one can never land. Undefined for a node without
 * that old state that has not seen the nonce used for long enough. @throws RpcFailed
 */
export async function isFree(
  node: EvmNode,
  asked: NonceAsked,
  { depths: { finalLarge }, lookUp }: FateSearch,
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
 * A successful transaction proves nothing about the money: tokens may keep a fee, or move nothing and return false. A flush is done with
 * any amount: anyone may flush deposits, and the rest is in the treasury already.
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
  const brings = flushes || sent.form?.kind === 'mint';
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
  if (full) return { kind: 'final', ...landed, ...(brings && { arrived }) };
  if (succeeded) return { kind: 'short', ...landed, arrived, ...(brought && { brought }) };
  const detail = `transaction ${hash} was reverted in block ${blockNumber} (${blockHash})`;
  const at = cost && { hash, blockNumber: blockNumber.toString(), blockHash, cost };
  return dead(contenders, 'reverted', detail, at);
}
