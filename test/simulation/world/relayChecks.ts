/** Checks of relays at the end of a world: each payer has paid once at most, the log says the same, and the gas of the account is in the log. */
import type { StoredEvent } from '../../../domain/decider.ts';
import { coinOfRelays_wei, relayAccount } from '../chains/evm/chain.ts';
import { relayWallet } from '../chains/solana/chain.ts';
import type { SimulatedChain, SimulatedNode } from '../kernel/ports.ts';
import { Violation } from './violation.ts';

/** An authorization that its payer has handed in. */
export interface SignedOrder {
  readonly paymentId: string;
  readonly source: SimulatedChain;
  readonly payer: string;
  readonly deposit: string;
  readonly amount: bigint;
}

/** @throws Violation */
export function checkRelays(
  signed: readonly SignedOrder[],
  events: readonly StoredEvent[],
  chains: readonly SimulatedChain[],
): void {
  for (const { paymentId, source, payer, deposit, amount } of signed) {
    const paid = source.truth.transfers().filter(({ from }) => from.toLowerCase() === payer.toLowerCase());
    const wrong = paid.filter((each) => each.to.toLowerCase() !== deposit.toLowerCase() || each.amount !== amount);
    if (paid.length > 1 || wrong.length > 0)
      throw new Violation('relayedOnce', `the payer of ${paymentId} has paid ${paid.length} times`);
    const confirmed = settledIn(events.filter(({ stream }) => stream.startsWith(`relay-${paymentId}-`)));
    if (confirmed.length > 1) throw new Violation('relayedOnce', `payment ${paymentId} has two relays that landed`);
    const [hash] = confirmed;
    if (hash !== undefined && paid[0]?.txHash !== hash)
      throw new Violation('relayedOnce', `relay ${hash} of ${paymentId} is confirmed, and the chain does not hold it`);
  }
  for (const chain of chains) if (chain.family !== 'stellar') checkGas(chain, events);
}

/** Hashes of relays that are final by the log. */
function settledIn(events: readonly StoredEvent[]): readonly string[] {
  const settled = new Map<string, string>();
  for (const { stream, type, data } of events) {
    if (type === 'RelayConfirmed') settled.set(stream, String((data as { readonly hash: string }).hash));
    if (type === 'RelayOrphaned') settled.delete(stream);
  }
  return [...settled.values()];
}

interface Spent {
  readonly hash: string;
  readonly cost: { readonly payer: string; readonly fee: string; readonly rent?: string };
}

/** Reads a family's relay account. */
interface Reading {
  readonly account: string;
  readonly begun: bigint;
  held(node: SimulatedNode): bigint;
  has(node: SimulatedNode, hash: string): boolean;
}

const onEvm: Reading = {
  account: relayAccount,
  begun: coinOfRelays_wei,
  held: (node) => BigInt(String(node.ask('eth_getBalance', [relayAccount, 'latest']))),
  has: (node, hash) => node.ask('eth_getTransactionReceipt', [hash]) !== null,
};

const confirmed = { commitment: 'confirmed' };
const onSolana: Reading = {
  account: relayWallet.address,
  begun: relayWallet.lamports,
  held(node) {
    const answer = node.ask('getMultipleAccounts', [[relayWallet.address], confirmed]);
    return BigInt((answer as { readonly value: readonly { readonly lamports: number }[] }).value[0]?.lamports ?? 0);
  },
  has: (node, hash) => !hash.startsWith('0x') && node.ask('getTransaction', [hash, confirmed]) !== null,
};

/** Spending of the relay account: the cost of the transactions in the log, to the smallest unit. */
function checkGas({ chainId, family, nodes: [node] }: SimulatedChain, events: readonly StoredEvent[]): void {
  if (!node) return;
  const { account, begun, ...reading } = family === 'evm' ? onEvm : onSolana;
  const held = reading.held(node);
  const costs = new Map<string, bigint>();
  for (const { data } of events)
    for (const { hash, cost } of spentIn(data))
      if (cost.payer.toLowerCase() === account.toLowerCase() && reading.has(node, hash))
        costs.set(hash, BigInt(cost.fee) + BigInt(cost.rent ?? 0));
  const stated = [...costs.values()].reduce((sum, fee) => sum + fee, 0n);
  if (begun - held !== stated)
    throw new Violation(
      'gasAsSaid',
      `the relay account spent ${begun - held} on chain ${chainId}, in its smallest unit, the log says ${stated}`,
    );
}

/** Transactions with their cost, at any depth of an event. */
function spentIn(data: unknown): readonly Spent[] {
  if (typeof data !== 'object' || data === null) return [];
  const { hash, cost } = data as Partial<Spent>;
  const own = typeof hash === 'string' && cost?.payer !== undefined ? [{ hash, cost }] : [];
  return [...own, ...Object.values(data).flatMap(spentIn)];
}
