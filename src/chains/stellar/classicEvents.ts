/** Whether a node tells what classic payments move as events (CAP-67). One that does not hides payins and reports no error. */
import { Asset, xdr } from '@stellar/stellar-sdk';
import { lower } from '../../lib/bigints.ts';
import { ask } from '../node/jsonRpc.ts';
import { type EventFilter, eventsPageIn, eventsQuery, firstLedgerWithTransaction, type LedgerRange } from './reads.ts';
import { RpcFailed, type StellarNode } from './rpc.ts';

export interface Ledgers {
  readonly from: bigint;
  readonly to: bigint;
}

/** Where classic events are told, every transaction has one of its fee. */
export const feesOf = (networkPassphrase: string): EventFilter => ({
  contractIds: [Asset.native().contractId(networkPassphrase)],
  topics: [[xdr.ScVal.scvSymbol('fee').toXDR('base64'), '**']],
});

/**
 * No fee was told of these ledgers: then they hold no transaction, or the node's operator has turned classic events off.
 * @throws RpcFailed for the latter
 */
export async function mustBeQuiet(node: StellarNode, { from, to }: Ledgers, { latest }: LedgerRange): Promise<void> {
  if (latest.ledger < from) return;
  const busy = await firstLedgerWithTransaction(node, from);
  if (busy === undefined || busy.ledger > lower(to, latest.ledger)) return;
  const detail = `it shows transactions in ledger ${busy.ledger} and no events of them (CAP-67): use another node, or set EMIT_UNIFIED_EVENTS there`;
  throw new RpcFailed(node.name, 'getEvents', 'refused', detail);
}

/** Enough to hold a transaction on a network that is used. */
const sampled_ledgers = 20n;

/** @throws RpcFailed when the newest ledgers of a node hold transactions and no events of them */
export async function mustTellEvents(node: StellarNode, networkPassphrase: string, range: LedgerRange): Promise<void> {
  const to = range.latest.ledger;
  const from = range.oldest.ledger > to - sampled_ledgers ? range.oldest.ledger : to - sampled_ledgers;
  const query = eventsQuery([feesOf(networkPassphrase)], { startLedger: Number(from), endLedger: Number(to) + 1 }, 1);
  const { isEmpty } = await ask(node, 'getEvents', query, eventsPageIn);
  if (isEmpty) await mustBeQuiet(node, { from, to }, range);
}
