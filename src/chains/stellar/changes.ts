/** Effects of a transaction on an account, from its events, and the fee that the account paid. */
import { Asset, FeeBumpTransaction, StrKey, TransactionBuilder, xdr } from '@stellar/stellar-sdk';
import { heldTokens } from '../../../domain/chains.ts';
import { lower } from '../../lib/concurrency.ts';
import { ask } from '../node/jsonRpc.ts';
import { type AccountTransaction, type BalanceChange, coin } from '../ports.ts';
import { accountOf } from './addresses.ts';
import { type StellarConfig, stellarChain } from './config.ts';
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
  /** Lumens and the treasury's tokens: contract to the asset's name in changes. */
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
  const tokens = heldTokens(stellarChain()).map(
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

// Parties of a transaction, from its envelope.

/** Accounts as G addresses, including muxed ones. */
interface Parties {
  /** Account of the transaction's sequence number. */
  readonly source: string;
  readonly sequence: bigint;
  /** Account that pays the fee: for a fee bump it differs from the source. */
  readonly payer: string;
  /** Accounts that act in operations instead of the source; undefined if these cannot be decoded. */
  readonly acting: readonly string[] | undefined;
}

/**
 * Parses the beginning by hand: later operations may contain values of a newer protocol, which the SDK does not know.
 * @throws Error if it does not begin like an envelope
 */
export const partiesIn = (envelopeXdr: string, networkPassphrase: string): Parties => ({
  ...headOf(reading(Buffer.from(envelopeXdr, 'base64'))),
  acting: actingIn(envelopeXdr, networkPassphrase),
});

/** Hash memo of a transaction, also within a fee bump. Our own can be decoded; undecodable ones are ignored. */
export function hashMemoIn(envelopeXdr: string, networkPassphrase: string): string | undefined {
  try {
    const whole = TransactionBuilder.fromXDR(envelopeXdr, networkPassphrase);
    const { memo } = whole instanceof FeeBumpTransaction ? whole.innerTransaction : whole;
    return memo.type === 'hash' ? Buffer.from(memo.value ?? '').toString('hex') : undefined;
  } catch {
    return undefined;
  }
}

/** Kinds of envelopes (Stellar-transaction.x, EnvelopeType). */
const [oldest, usual, feeBump] = [0, 2, 5];
/** Account kind with a 64-bit id before the key. */
const muxed = 0x100;

function headOf(from: Reading): Omit<Parties, 'acting'> {
  const kind = from.uint32();
  if (kind !== feeBump) {
    const numbered = numberedIn(from, kind);
    return { ...numbered, payer: numbered.source };
  }
  const payer = from.account();
  from.int64(); // maximum fee
  return { ...numberedIn(from, from.uint32()), payer };
}

function numberedIn(from: Reading, kind: number): Pick<Parties, 'source' | 'sequence'> {
  if (kind !== oldest && kind !== usual) throw new Error(`envelopes of the kind ${kind} are not known`);
  const source = kind === oldest ? from.key() : from.account();
  from.uint32(); // maximum fee
  return { source, sequence: from.int64() };
}

type Reading = ReturnType<typeof reading>;

/** Reads XDR from its start. */
function reading(bytes: Buffer) {
  let at = 0;
  const take = (count: number): Buffer => {
    const taken = bytes.subarray(at, at + count);
    if (taken.length < count) throw new Error(`an envelope of ${bytes.length} bytes has an end too early`);
    at += count;
    return taken;
  };
  const uint32 = () => take(4).readUInt32BE();
  const int64 = () => take(8).readBigInt64BE();
  const key = () => StrKey.encodeEd25519PublicKey(take(32));
  const account = () => {
    if (uint32() === muxed) int64();
    return key();
  };
  return { uint32, int64, key, account };
}

function actingIn(envelopeXdr: string, networkPassphrase: string): readonly string[] | undefined {
  try {
    const parsed = TransactionBuilder.fromXDR(envelopeXdr, networkPassphrase);
    const { operations } = parsed instanceof FeeBumpTransaction ? parsed.innerTransaction : parsed;
    return operations.flatMap(({ source }) => (source === undefined ? [] : (accountOf(source) ?? [])));
  } catch {
    return undefined;
  }
}
