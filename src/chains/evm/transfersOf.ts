/** What came to many addresses and left them, by the logs of the catalogue's tokens: a node searches for many addresses as fast as for one. */
import { type Chain, tokenAt } from '../../../domain/chains.ts';
import { instant } from '../../../domain/time.ts';
import { higher, lower } from '../../lib/bigints.ts';
import type { BlockRange } from '../historyPages.ts';
import type { AccountTransaction } from '../ports.ts';
import { logsOfAccounts, topicOf } from './accounts.ts';
import { movedIn } from './changes.ts';
import { knownHeader, type RawLog } from './reads.ts';
import { type EvmNode, type EvmRpc, RpcFailed } from './rpc.ts';

export interface Moved {
  readonly address: string;
  /** Who sent it and what it cost is left out: a deposit sends nothing by itself. */
  readonly transaction: AccountTransaction;
}

/** @param addresses with their checksums @throws ChainUnavailable */
export async function* transfersOfMany(
  { chain, span }: { readonly chain: Chain; readonly span: bigint },
  rpc: EvmRpc,
  addresses: readonly string[],
  { from, to }: BlockRange,
  signal: AbortSignal,
): AsyncGenerator<Moved> {
  let width = span;
  for (let first = from; first <= to; ) {
    const last = lower(to, first + width - 1n);
    const found = await rpc.answer((node) => searched(node, chain, addresses, { from: first, to: last }), signal);
    if (found === 'tooMuch') {
      width = higher(width / 2n, 1n);
      continue;
    }
    yield* found;
    first = last + 1n;
    width = lower(span, width * 2n);
  }
}

/** Undecodable logs are no silence: the node is passed over. */
async function searched(
  node: EvmNode,
  chain: Chain,
  addresses: readonly string[],
  range: BlockRange,
): Promise<readonly Moved[] | 'tooMuch'> {
  const tokens = chain.tokens.map(({ address }) => address);
  try {
    const { logs, broken } = await logsOfAccounts(node, addresses, tokens, range);
    const [unread] = broken;
    if (unread) throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', unread.evidence);
    return await inTransactions(
      node,
      chain,
      addresses,
      logs.filter(({ removed }) => !removed),
    );
  } catch (error) {
    const isTooWide = error instanceof RpcFailed && (error.kind === 'refused' || error.kind === 'tooLarge');
    if (isTooWide && range.from < range.to) return 'tooMuch';
    throw error;
  }
}

async function inTransactions(
  node: EvmNode,
  chain: Chain,
  addresses: readonly string[],
  logs: readonly RawLog[],
): Promise<readonly Moved[]> {
  const spelled = new Map(addresses.map((address) => [topicOf(address) as string, address]));
  const times = new Map<bigint, number>();
  for (const { blockNumber, blockTime_s } of logs)
    if (!times.has(blockNumber)) times.set(blockNumber, blockTime_s ?? (await knownHeader(node, blockNumber)).time_s);
  const once = new Map(logs.map((log) => [`${log.blockHash} ${log.logIndex}`, log]));
  return [...Map.groupBy(once.values(), ({ txHash }) => txHash).values()].flatMap((own) => {
    const [first] = own;
    if (!first) return [];
    const { txHash, blockNumber, blockHash } = first;
    const time = instant((times.get(blockNumber) ?? 0) * 1_000);
    const concerned = new Set(
      own.flatMap(({ topics: [, from = '', to = ''] }) => [spelled.get(from), spelled.get(to)]),
    );
    return [...concerned].flatMap((address) => {
      if (address === undefined) return [];
      const changes = own.flatMap((log) => movedIn(log, tokenAt(chain, log.address)?.address ?? log.address, address));
      const place = { txHash, blockNumber, blockHash, time };
      return [{ address, transaction: { ...place, nonce: null, outgoing: false, succeeded: true, fee: 0n, changes } }];
    });
  });
}
