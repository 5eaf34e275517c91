/** Checks of relays at the end of a world: each payer has paid once at most, the log says the same, and the gas of the account is in the log. */
import type { StoredEvent } from '../../../domain/decider.ts';
import { coinOfRelays_wei, relayAccount } from '../chains/evm/chain.ts';
import type { SimulatedChain } from '../kernel/ports.ts';
import { Violation } from './invariants.ts';
import type { SignedOrder } from './relayedPayers.ts';

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
  for (const chain of chains) if (chain.family === 'evm') checkGas(chain, events);
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
  readonly cost: { readonly payer: string; readonly fee: string };
}

/** Spending of the relay account: the cost of the transactions in the log, to the wei. */
function checkGas({ chainId, nodes }: SimulatedChain, events: readonly StoredEvent[]): void {
  const [node] = nodes;
  const held = BigInt(String(node?.ask('eth_getBalance', [relayAccount, 'latest'])));
  const costs = new Map<string, bigint>();
  for (const { data } of events)
    for (const { hash, cost } of spentIn(data))
      if (cost.payer.toLowerCase() === relayAccount.toLowerCase() && isOn(chainId, hash, nodes))
        costs.set(hash, BigInt(cost.fee));
  const stated = [...costs.values()].reduce((sum, fee) => sum + fee, 0n);
  if (coinOfRelays_wei - held !== stated)
    throw new Violation(
      'gasAsSaid',
      `the relay account spent ${coinOfRelays_wei - held} wei on chain ${chainId}, the log says ${stated}`,
    );
}

const isOn = (chainId: number, hash: string, [node]: SimulatedChain['nodes']): boolean =>
  chainId > 0 && node?.ask('eth_getTransactionReceipt', [hash]) !== null;

/** Transactions with their cost, at any depth of an event. */
function spentIn(data: unknown): readonly Spent[] {
  if (typeof data !== 'object' || data === null) return [];
  const { hash, cost } = data as Partial<Spent>;
  const own = typeof hash === 'string' && cost?.payer !== undefined ? [{ hash, cost }] : [];
  return [...own, ...Object.values(data).flatMap(spentIn)];
}
