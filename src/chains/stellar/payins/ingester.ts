/** Ingester of Stellar: payins per pass, and single nodes' statements about a transaction. */

import { xdr } from '@stellar/stellar-sdk';
import { type Transfer, transferId } from '../../../../domain/payment/events.ts';
import { epochMs, type Instant, instant } from '../../../../domain/time.ts';
import { lower } from '../../../lib/concurrency.ts';
import {
  agreedOn,
  allDeny,
  createShownTransfers,
  isShared,
  isSharedForSure,
  nodesNeeded,
  type ShownTransfers,
  type Statement,
  toldByEnough,
} from '../../node/agreement.ts';
import {
  type Cursor,
  type Ingester,
  type Pass,
  type ScannedRange,
  type SeenPayin,
  sameTransfer,
  transferOf,
} from '../../ports.ts';
import type { Ledgers } from '../changes.ts';
import { type StellarConfig, stellarChain, stellarChainId } from '../config.ts';
import {
  type EventFilter,
  type FoundTransaction,
  firstLedgerWithTransaction,
  type LedgerHead,
  ledgerRange,
  transactionOf,
} from '../reads.ts';
import { ChainUnavailable, createStellarRpc, RpcFailed, type StellarNode, type StellarRpc } from '../rpc.ts';
import { addressTopic, type Watched } from './movements.ts';
import { createPages, LedgerForgotten, type RangeRead } from './pages.ts';
import { createTransferReader, ledgerName, type TransferReader } from './transfers.ts';

/**
 * Transfers of a transaction to the treasury; empty if the answering nodes do not know it.
 * @throws ChainUnavailable if no node answers, and while a node's copy cannot be parsed
 */
export async function lookUp(rpc: StellarRpc, reader: TransferReader, txHash: string, signal: AbortSignal) {
  const unread: Error[] = [];
  const found = await rpc.firstAnswer(async (node) => {
    const transaction = await transactionOf(node, txHash);
    if (transaction.status === 'NOT_FOUND') return undefined;
    try {
      return transfersIn(node, reader, transaction, txHash);
    } catch (error) {
      if (error instanceof RpcFailed) unread.push(error);
      throw error;
    }
  }, signal);
  if (found === undefined && unread.length > 0) throw new ChainUnavailable(rpc.chainId, unread);
  return found ?? [];
}

/** True if a node returns the transaction as successful. @throws ChainUnavailable if no node answers */
export async function hasSucceeded(rpc: StellarRpc, txHash: string, signal: AbortSignal): Promise<boolean> {
  const found = await rpc.firstAnswer(async (node) => {
    const { status } = await transactionOf(node, txHash);
    return status === 'NOT_FOUND' ? undefined : status === 'SUCCESS';
  }, signal);
  return found ?? false;
}

/** @throws RpcFailed if its movements cannot be parsed: a later SDK may know them, or another node return them differently */
function transfersIn(node: StellarNode, reader: TransferReader, found: FoundTransaction, txHash: string) {
  try {
    return reader.transfers(found, txHash);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it cannot be decoded';
    throw new RpcFailed(node.name, 'getTransaction', 'malformed', `transaction ${txHash}: ${why}`);
  }
}

/** A node's statement about a transfer of another node. @throws RpcFailed if it cannot answer: it lags, or has dropped the ledger */
export async function stated(node: StellarNode, reader: TransferReader, transfer: Transfer): Promise<Statement> {
  const { txHash } = transfer;
  const found = await whatItKnows(node, txHash, BigInt(transfer.blockNumber));
  if (found.status === 'NOT_FOUND') return { instead: `has no transaction ${txHash}` };
  const shown = transfersIn(node, reader, found, txHash).find((each) => sameTransfer(each, transfer));
  return shown ? 'same' : { instead: `has transaction ${txHash} in ledger ${found.ledger}, without that transfer` };
}

/**
 * True if a node has a payin: a closed ledger does not change, so a payin missing in it was fabricated. @throws RpcFailed if it cannot
 * answer
 */
export async function isShown(node: StellarNode, reader: TransferReader, seen: SeenPayin): Promise<boolean> {
  const found = await whatItKnows(node, seen.txHash, seen.blockNumber);
  if (found.status === 'NOT_FOUND') return false;
  return transfersIn(node, reader, found, seen.txHash).some((each) => transferId(each) === seen.transferId);
}

/** @throws RpcFailed if the node has neither the transaction nor its ledger */
async function whatItKnows(node: StellarNode, txHash: string, ledger: bigint): Promise<FoundTransaction> {
  const found = await transactionOf(node, txHash);
  const { oldest, latest } = found.range;
  if (found.status !== 'NOT_FOUND' || (oldest.ledger <= ledger && ledger <= latest.ledger)) return found;
  const detail = `it knows ledgers ${oldest.ledger} to ${latest.ledger}, not ledger ${ledger}`;
  throw new RpcFailed(node.name, 'getTransaction', 'refused', detail);
}

/**
 * Reads transfers of catalogue tokens to the treasury, directly and through the payin contract. Every method throws ChainUnavailable if no
 * node can answer.
 */
export function createStellarIngester(config: StellarConfig, rpc: StellarRpc = createStellarRpc(config)): Ingester {
  const reader = createTransferReader(config);
  const { treasury, payinContract } = config;
  const shown = createShownTransfers();
  return {
    chainId: stellarChainId,
    passes: ['final'],
    // One ledger is final, so no pass waits for more.
    largeFrom: null,
    exposureMax_usd: null,
    sharedAddresses: payinContract === null ? [treasury] : [treasury, payinContract],
    ...createScanner(config, rpc, reader, shown),

    lookUp: (txHash, signal) => lookUp(rpc.as('late'), reader, txHash, signal),

    hasSucceeded: (txHash, signal) => hasSucceeded(rpc.as('late'), txHash, signal),

    agreed: (transfer, { usd }, signal) =>
      agreedOn(
        rpc,
        nodesNeeded(config.agree, usd),
        async (node) => (shown.isShownBy(node, transfer) ? 'same' : stated(node, reader, transfer)),
        signal,
      ),

    hasLeft: (seen, signal) => allDeny(rpc, (node) => isShown(node, reader, seen), signal),

    async head(signal) {
      const ranges = await rpc.all((node) => ledgerRange(node), signal);
      const { latest } = ranges.reduce((a, b) => (b.latest.ledger > a.latest.ledger ? b : a));
      return { blockNumber: latest.ledger, chainTime: instant(latest.closedAt_s * 1_000) };
    },

    nodeHeads: rpc.nodes.map((connect) => async (signal) => {
      const { latest } = await ledgerRange(connect(signal));
      return { blockNumber: latest.ledger, mark: String(latest.ledger) };
    }),
  };
}

/** Maximum ranges of one `scan` call, so a long catch-up returns to its caller. */
const rangesMax = 50;
/** Number of queries before ledgers are given up as forgotten: one URL may lead to several nodes. */
const forgottenAsks = 12;

/**
 * Advances the one pass of Stellar: a closed ledger is final. Each range comes from one node, and only if its answer says that the range's
 * last ledger is closed.
 */
function createScanner(
  config: StellarConfig,
  rpc: StellarRpc,
  { watched, logs }: TransferReader,
  shown: Pick<ShownTransfers, 'show'>,
): Pick<Ingester, 'start' | 'cursorAt' | 'scan'> {
  const chain = stellarChain();
  const pages = createPages(filtersOf(watched), config.networkPassphrase);

  async function nextRange(node: StellarNode, cursor: Cursor, signal: AbortSignal): Promise<ScannedRange | undefined> {
    const { oldest, latest } = await ledgerRange(node);
    const from = cursor.blockNumber + 1n;
    if (latest.ledger < from) return undefined;
    if (oldest.ledger > from) throw new LedgerForgotten(node.name, oldest.ledger, from);
    let ledgers = BigInt(config.rangeLedgersMax);
    for (;;) {
      const to = lower(latest.ledger, from + ledgers - 1n);
      const read = await pages.read(node, { from, to });
      if (read) {
        const next = cursorAt(cursor, read);
        await mustBeShared(rpc, node, next, signal);
        for (const ledgers of read.quiet) await mustBeQuietElsewhere(rpc, node, ledgers, read.to, signal);
        const { logs: moved, unreadable } = logs(read.events);
        shown.show(
          node,
          moved.map((log) => transferOf(stellarChainId, log)),
        );
        return { logs: moved, orphaned: [], ...(unreadable.length > 0 && { unreadable }), next };
      }
      if (to === from) throw new RpcFailed(node.name, 'getEvents', 'malformed', `ledger ${from} has no end of events`);
      ledgers = (to - from + 1n) / 2n;
    }
  }

  /** Moves the cursor past ledgers that no node remembers. They are reported with the move: a crash before it reports them again. */
  async function skipForgotten(cursor: Cursor, error: unknown, signal: AbortSignal): Promise<ScannedRange> {
    if (!(error instanceof ChainUnavailable) || !error.failures.every((failure) => failure instanceof LedgerForgotten))
      throw error;
    const asked = await rpc.allSettled(oldestOf, signal);
    const oldest = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    // A node without an answer may remember them: the cursor waits for it.
    if (oldest.length < asked.length) throw error;
    const to = oldest.reduce(lower) - 1n;
    if (to <= cursor.blockNumber) throw error;
    const missed = { from: cursor.blockNumber + 1n, to };
    return { logs: [], orphaned: [], missed, next: { ...cursor, blockNumber: to, blockHash: ledgerName(to) } };
  }

  return {
    async start(pass, at, signal) {
      // A start ledger that is too late would hide earlier payins; one that is too early only costs time.
      const told = await toldByEnough(rpc, (node) => ledgerAt(node, epochMs(at) / 1_000), signal);
      const { ledger, closedAt_s } = told.reduce((a, b) => (b.ledger < a.ledger ? b : a));
      return cursorOf(pass, ledger, closedAt_s);
    },

    async cursorAt(pass, ledger, signal) {
      // One node suffices: the operator chose the ledger, and this unsaved cursor's time ends no payment.
      const oldest = await rpc.firstAnswer(async (node) => (await ledgerRange(node)).oldest, signal);
      if (!oldest) throw new ChainUnavailable(chain.id, []);
      return cursorOf(pass, ledger, ledger < oldest.ledger ? 0 : oldest.closedAt_s);
    },

    async *scan(from, signal) {
      let cursor = from;
      for (let ranges = 0; ranges < rangesMax; ranges++) {
        const range = await rpc
          .firstAnswer((node) => nextRange(node, cursor, signal), signal)
          .catch((error: unknown) => skipForgotten(cursor, error, signal));
        if (!range) return;
        cursor = range.next;
        yield range;
      }
    },
  };
}

/** Oldest ledger that a node remembers, or one of the nodes behind its URL. @throws RpcFailed */
async function oldestOf(node: StellarNode): Promise<bigint> {
  let oldest = (await ledgerRange(node)).oldest.ledger;
  for (let asks = 1; asks < forgottenAsks; asks++) oldest = lower(oldest, (await ledgerRange(node)).oldest.ledger);
  return oldest;
}

/**
 * The end of a range and its time expire payments, so one node alone is not trusted about them.
 * @throws RpcFailed if other nodes answer and none has the ledger closed at that time or later
 */
async function mustBeShared(rpc: StellarRpc, node: StellarNode, next: Cursor, signal: AbortSignal): Promise<void> {
  const { blockNumber, chainTime } = next;
  if (await isShared(rpc, node, (other) => hasClosed(other, blockNumber, chainTime), signal)) return;
  const detail = `no other node shows ledger ${blockNumber} as closed by ${chainTime}`;
  throw new RpcFailed(node.name, 'getTransaction', 'refused', detail);
}

/**
 * A node without events for some ledgers may hide them: at least one other node that knows them must have none either. Waits while none of
 * them answers: public ledgers are never empty for that long.
 * @param end of the range that was read
 * @throws RpcFailed if all of them have a transaction, or none answers
 */
async function mustBeQuietElsewhere(
  rpc: StellarRpc,
  node: StellarNode,
  { from, to }: Ledgers,
  end: bigint,
  signal: AbortSignal,
): Promise<void> {
  const last = lower(to, end);
  if (last < from || (await isSharedForSure(rpc, node, (other) => isQuiet(other, { from, to: last }), signal))) return;
  const detail = `it shows nothing of ledgers ${from} to ${last}, and no other node says so`;
  throw new RpcFailed(node.name, 'getEvents', 'refused', detail);
}

/** @throws RpcFailed if a node does not know all of the ledgers */
async function isQuiet(node: StellarNode, { from, to }: Ledgers): Promise<boolean> {
  const { oldest, latest } = await ledgerRange(node);
  if (oldest.ledger > from || latest.ledger < to)
    throw new RpcFailed(node.name, 'getHealth', 'refused', `it does not know ledgers ${from} to ${to}`);
  const busy = await firstLedgerWithTransaction(node, from);
  return busy === undefined || busy.ledger > to;
}

/**
 * True if a ledger has closed, at a time or later. Nodes only report times of ledgers with a transaction: a later ledger is no earlier, and
 * a ledger without a transaction holds no payin.
 */
async function hasClosed(node: StellarNode, ledger: bigint, at: Instant): Promise<boolean> {
  const { oldest, latest } = await ledgerRange(node);
  if (latest.ledger < ledger) return false;
  const knows = latest.ledger > ledger && oldest.ledger <= ledger;
  const next = knows ? await firstLedgerWithTransaction(node, ledger) : undefined;
  const { closedAt_s } = next ?? (oldest.ledger > ledger ? oldest : latest);
  return instant(closedAt_s * 1_000) >= at;
}

/**
 * A ledger closed at or shortly before a time, so a scan from there misses nothing after it. Returns the node's oldest ledger if that
 * closed later. Nodes only report times of transactions, so the search uses ledgers that hold one.
 */
async function ledgerAt(node: StellarNode, at_s: number): Promise<LedgerHead> {
  const { oldest, latest } = await ledgerRange(node);
  if (latest.closedAt_s <= at_s) return latest;
  let before = oldest;
  let after = latest.ledger;
  while (after - before.ledger > 1n) {
    const middle = (before.ledger + after) / 2n;
    const next = await firstLedgerWithTransaction(node, middle);
    if (next && next.closedAt_s <= at_s && next.ledger < after) before = next;
    else after = middle;
  }
  return before;
}

const cursorOf = (pass: Pass, ledger: bigint, closedAt_s: number): Cursor => ({
  chainId: stellarChainId,
  pass,
  blockNumber: ledger,
  blockHash: ledgerName(ledger),
  chainTime: instant(closedAt_s * 1_000),
});

/** At the head the time is the ledger's own. Before the head it is the time of an earlier event: a payment may expire late, never early. */
function cursorAt(cursor: Cursor, { events, to, range }: RangeRead): Cursor {
  const at_head = range.latest.ledger === to ? instant(range.latest.closedAt_s * 1_000) : undefined;
  const seen = events.at(-1)?.closedAt;
  const chainTime = at_head ?? (seen ? instant(Date.parse(seen)) : cursor.chainTime);
  return { ...cursor, blockNumber: to, blockHash: ledgerName(to), chainTime };
}

/** Payments by the payin contract, and token transfers to the treasury in any way. A filter accepts at most five contracts. */
function filtersOf({ treasury, tokens, payin }: Watched): readonly EventFilter[] {
  const symbol = (name: string) => xdr.ScVal.scvSymbol(name).toXDR('base64');
  const to = addressTopic(treasury);
  const moved = {
    contractIds: [...tokens.keys()],
    topics: [
      [symbol('transfer'), '*', to, '**'],
      [symbol('mint'), to, '**'],
    ],
  };
  return payin === null ? [moved] : [moved, { contractIds: [payin.contract], topics: [[symbol('payment'), '**']] }];
}
