/** Effects of a transaction on an account, from its events, and the fee that the account paid. */

import { Asset, xdr } from '@stellar/stellar-sdk';
import { lower } from '../../lib/concurrency.ts';
import { ask } from '../node/jsonRpc.ts';
import { type AccountTransaction, type BalanceChange, coin } from '../ports.ts';
import { type StellarConfig, stellarChain } from './config.ts';
import type { Parties } from './envelopes.ts';
import { amountIn, memoOfTransfer, nativeOf, payment, type SeenEvent } from './payins/movements.ts';
import { seenInMeta } from './payins/transfers.ts';
import {
  type EventFilter,
  eventsPageIn,
  eventsQuery,
  type FoundTransaction,
  firstLedgerWithTransaction,
  type LedgerRange,
} from './reads.ts';
import { RpcFailed, type StellarNode } from './rpc.ts';
import { assetContractOf, payinToken } from './tokens.ts';

export interface Assets {
  /** Lumens and catalogue tokens: contract to the asset's name in changes. */
  readonly contracts: ReadonlyMap<string, string>;
  readonly lumens: string;
  /** Payin contract, whose events contain the memos of its calls; null if there is none. */
  readonly payinContract: string | null;
}

export function assetsOf({
  networkPassphrase,
  payinContract,
}: Pick<StellarConfig, 'networkPassphrase' | 'payinContract'>): Assets {
  const lumens = Asset.native().contractId(networkPassphrase);
  const tokens = stellarChain().tokens.map(
    (token) => [assetContractOf(token, networkPassphrase), token.address] as const,
  );
  return { contracts: new Map([[lumens, coin], ...tokens]), lumens, payinContract };
}

/** One change per event that moved an asset to or from the account. @throws Error if an event cannot be decoded */
export const changesIn = (
  { events }: Pick<FoundTransaction, 'events'>,
  account: string,
  { contracts, payinContract }: Assets,
): readonly BalanceChange[] =>
  events.flatMap((operation) => {
    const changes: BalanceChange[] = [];
    const isWanted = (contract: string) => contracts.has(contract) || contract === payinContract;
    for (const event of operation.flatMap(seenInMeta(isWanted))) {
      const asset = contracts.get(event.contract);
      if (asset !== undefined) changes.push(...changeIn(event, asset, account));
      else addMemo(changes, event);
    }
    return changes;
  });

/** A call of the payin contract makes two events: the token's transfer, then the contract's own with the memo. */
function addMemo(changes: BalanceChange[], event: SeenEvent): void {
  const paid = payment(event);
  const at = changes.findLastIndex(
    ({ asset, amount, counterparty }) =>
      asset === payinToken().address && amount === paid?.amount && counterparty === paid.from,
  );
  const change = changes[at];
  if (paid && change && paid.memo !== null) changes[at] = { ...change, memo: paid.memo };
}

function changeIn({ topics, value }: SeenEvent, asset: string, account: string): readonly BalanceChange[] {
  const [name, first, second] = topics.map(nativeOf);
  const ends = endsOf(name, first, second);
  // An approval, or a change of an authorization, moves nothing, and its value is another one.
  if (!ends) return [];
  const amount = amountIn(value);
  if (amount === undefined) throw new Error(`an event of ${asset} without an amount`);
  if (ends.from === ends.to || amount === 0n) return [];
  const memo = memoOfTransfer(value);
  const more = memo === null ? {} : { memo };
  if (ends.from === account) return [{ asset, amount: -amount, counterparty: ends.to, ...more }];
  return ends.to === account ? [{ asset, amount, counterparty: ends.from, ...more }] : [];
}

/** Payments from the issuer are mints, payments to the issuer are burns. */
function endsOf(name: unknown, first: unknown, second: unknown) {
  const [one, other] = [textOf(first), textOf(second)];
  if (name === 'transfer') return { from: one, to: other };
  if (name === 'mint') return { from: null, to: one };
  return name === 'burn' || name === 'clawback' ? { from: one, to: null } : undefined;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Fee that the account paid, in stroops: the first charge, less the refund of a contract call. */
export function feePaidIn({ own }: Pick<FoundTransaction, 'own'>, account: string): bigint {
  const fees = own.map((base64) => {
    const body = xdr.TransactionEvent.fromXDR(base64, 'base64').event().body().v0();
    const [name, payer] = body.topics().map(nativeOf);
    return name === 'fee' && payer === account ? (amountIn(body.data()) ?? 0n) : 0n;
  });
  return fees.reduce((sum, fee) => sum + fee, 0n);
}

/** True if the account sent a transaction, acts in it or pays for it; the sequence number belongs to the transaction's own account. */
export function signersIn(
  { source, sequence, payer, acting }: Parties,
  account: string,
  changes: readonly BalanceChange[],
): Pick<AccountTransaction, 'nonce' | 'outgoing'> {
  // If the actor is unknown, an account with an outgoing change has acted.
  const acts = acting?.includes(account) ?? changes.some(({ amount }) => amount < 0n);
  return { nonce: source === account ? sequence : null, outgoing: acts || [source, payer].includes(account) };
}

export interface Ledgers {
  readonly from: bigint;
  readonly to: bigint;
}

/** Filter of fee events: with classic events enabled, every transaction has one. */
export const feesOf = (networkPassphrase: string): EventFilter => ({
  contractIds: [Asset.native().contractId(networkPassphrase)],
  topics: [[xdr.ScVal.scvSymbol('fee').toXDR('base64'), '**']],
});

/**
 * These ledgers have no fee event: they hold no transaction, or the node's operator has disabled classic events.
 * @throws RpcFailed for the latter
 */
export async function mustBeQuiet(node: StellarNode, { from, to }: Ledgers, { latest }: LedgerRange): Promise<void> {
  if (latest.ledger < from) return;
  const busy = await firstLedgerWithTransaction(node, from);
  if (busy === undefined || busy.ledger > lower(to, latest.ledger)) return;
  const detail = `it shows transactions in ledger ${busy.ledger} and no events of them (CAP-67): use another node, or set EMIT_UNIFIED_EVENTS there`;
  throw new RpcFailed(node.name, 'getEvents', 'refused', detail);
}

/** Enough to hold a transaction on a busy network. */
const sampled_ledgers = 20n;

/**
 * A node that does not emit classic payments as events (CAP-67) hides payins and reports no error.
 * @throws RpcFailed if the newest ledgers of a node hold transactions without events
 */
export async function mustTellEvents(node: StellarNode, networkPassphrase: string, range: LedgerRange): Promise<void> {
  const to = range.latest.ledger;
  const from = range.oldest.ledger > to - sampled_ledgers ? range.oldest.ledger : to - sampled_ledgers;
  const query = eventsQuery([feesOf(networkPassphrase)], { startLedger: Number(from), endLedger: Number(to) + 1 }, 1);
  const { isEmpty } = await ask(node, 'getEvents', query, eventsPageIn);
  if (isEmpty) await mustBeQuiet(node, { from, to }, range);
}
