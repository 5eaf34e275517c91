import { xdr } from '@stellar/stellar-sdk';
import type { Transfer } from '../../../../domain/payment/events.ts';
import { epochMs, instant } from '../../../../domain/time.ts';
import { lower } from '../../bigints.ts';
import { agreedOn, nodesNeeded, type Statement } from '../../node/agreement.ts';
import { type Cursor, type Ingester, type Pass, type ScannedRange, sameTransfer } from '../../ports.ts';
import { type StellarConfig, stellarChain, stellarChainId } from '../config.ts';
import {
  type EventFilter,
  eventsPage,
  firstLedgerWithTransaction,
  type LedgerHead,
  type LedgerRange,
  ledgerRange,
  type PageStart,
  type RawEvent,
  transactionOf,
} from '../reads.ts';
import { ChainUnavailable, createStellarRpc, RpcFailed, type StellarNode, type StellarRpc } from '../rpc.ts';
import { addressTopic, type Watched } from './movements.ts';
import { createTransferReader, ledgerName, type TransferReader } from './transfers.ts';

/**
 * Reads what reaches the treasury in tokens of the catalogue, and through the payin contract. Every method throws ChainUnavailable when no node can answer.
 */
export function createStellarIngester(config: StellarConfig, rpc: StellarRpc = createStellarRpc(config)): Ingester {
  const reader = createTransferReader(config);
  const { treasury, payinContract } = config;
  return {
    chainId: stellarChainId,
    passes: ['final'],
    // Nothing waits for a deeper finality where one ledger is final.
    largeFrom: null,
    exposureMax_usd: null,
    sharedAddresses: payinContract === null ? [treasury] : [treasury, payinContract],
    ...createScanner(config, rpc, reader),

    async lookUp(txHash, signal) {
      const found = await rpc.first(async (node) => {
        const transaction = await transactionOf(node, txHash);
        return transaction.status === 'NOT_FOUND' ? undefined : transaction;
      }, signal);
      return found ? reader.transfers(found, txHash) : [];
    },

    agreed: (transfer, { usd }, signal) =>
      agreedOn(rpc, nodesNeeded(config.agree, usd), (node) => stated(node, reader, transfer), signal),

    hasLeft: async () => false,

    async head(signal) {
      const ranges = await rpc.every((node) => ledgerRange(node), signal);
      const { latest } = ranges.reduce((a, b) => (b.latest.ledger > a.latest.ledger ? b : a));
      return { blockNumber: latest.ledger, chainTime: instant(latest.closedAt_s * 1_000) };
    },

    nodeHeads: rpc.nodes.map((connect) => async (signal) => {
      const { latest } = await ledgerRange(connect(signal));
      return { blockNumber: latest.ledger, mark: String(latest.ledger) };
    }),
  };
}

/** What a node says of a transfer that another has told. @throws RpcFailed when it cannot say: it lags, or has forgotten the ledger */
async function stated(node: StellarNode, reader: TransferReader, transfer: Transfer): Promise<Statement> {
  const { txHash } = transfer;
  const ledger = BigInt(transfer.blockNumber);
  const found = await transactionOf(node, txHash);
  const { oldest, latest } = found.range;
  const knows = found.status !== 'NOT_FOUND' || (oldest.ledger <= ledger && ledger <= latest.ledger);
  if (!knows) {
    const detail = `it knows ledgers ${oldest.ledger} to ${latest.ledger}, not ledger ${ledger}`;
    throw new RpcFailed(node.name, 'getTransaction', 'refused', detail);
  }
  if (found.status === 'NOT_FOUND') return { instead: `has no transaction ${txHash}` };
  const shown = reader.transfers(found, txHash).find((each) => sameTransfer(each, transfer));
  return shown ? 'same' : { instead: `has transaction ${txHash} in ledger ${found.ledger}, without that transfer` };
}

/** Ranges that one call of `scan` may yield: a long catch-up returns to its caller now and then. */
const rangesMax = 50;
/** Pages of one range; a range with more pages is read as smaller ranges. */
const pagesMax = 20;

/**
 * Moves the one pass of Stellar forward: a closed ledger is final. Each range comes from one node alone, and only from a node
 * whose answer with the events says that the range's last ledger is closed.
 */
function createScanner(
  config: StellarConfig,
  rpc: StellarRpc,
  { watched, logs }: TransferReader,
): Pick<Ingester, 'start' | 'cursorAt' | 'scan'> {
  const chain = stellarChain();
  const filters = filtersOf(watched);

  async function nextRange(node: StellarNode, cursor: Cursor): Promise<ScannedRange | undefined> {
    const { oldest, latest } = await ledgerRange(node);
    const from = cursor.blockNumber + 1n;
    if (latest.ledger < from) return undefined;
    if (oldest.ledger > from) throw new Forgotten(node.name, oldest.ledger, from);
    let ledgers = BigInt(config.rangeLedgersMax);
    for (;;) {
      const to = lower(latest.ledger, from + ledgers - 1n);
      const read = await readRange(node, filters, { from, to });
      if (read) return { logs: logs(read.events), orphaned: [], next: cursorAt(cursor, to, read) };
      if (to === from) throw new RpcFailed(node.name, 'getEvents', 'malformed', `ledger ${from} has no end of events`);
      ledgers = (to - from + 1n) / 2n;
    }
  }

  /** Moves the cursor past ledgers that no node remembers. They are reported with the move: a crash before it reports them again. */
  async function skipForgotten(cursor: Cursor, error: unknown, signal: AbortSignal): Promise<ScannedRange> {
    if (!(error instanceof ChainUnavailable) || !error.failures.every((failure) => failure instanceof Forgotten))
      throw error;
    const asked = await rpc.each(async (node) => (await ledgerRange(node)).oldest.ledger, signal);
    const oldest = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    // A node that does not answer now may remember: the cursor waits for it.
    if (oldest.length < asked.length) throw error;
    const to = oldest.reduce(lower) - 1n;
    if (to <= cursor.blockNumber) throw error;
    const missed = { from: cursor.blockNumber + 1n, to };
    return { logs: [], orphaned: [], missed, next: { ...cursor, blockNumber: to, blockHash: ledgerName(to) } };
  }

  return {
    async start(pass, at, signal) {
      const found = await rpc.answer((node) => ledgerAt(node, epochMs(at) / 1_000), signal);
      return cursorOf(pass, found.ledger, found.closedAt_s);
    },

    async cursorAt(pass, ledger, signal) {
      const oldest = await rpc.first(async (node) => (await ledgerRange(node)).oldest, signal);
      if (!oldest) throw new ChainUnavailable(chain.id, []);
      return cursorOf(pass, ledger, ledger < oldest.ledger ? 0 : oldest.closedAt_s);
    },

    async *scan(from, signal) {
      let cursor = from;
      for (let ranges = 0; ranges < rangesMax; ranges++) {
        const range = await rpc
          .first((node) => nextRange(node, cursor), signal)
          .catch((error: unknown) => skipForgotten(cursor, error, signal));
        if (!range) return;
        cursor = range.next;
        yield range;
      }
    },
  };
}

/** The node has forgotten the next ledger: another node may remember it. */
class Forgotten extends RpcFailed {
  constructor(node: string, oldest: bigint, wanted: bigint) {
    super(node, 'getEvents', 'refused', `it remembers ledgers from ${oldest} on, ledger ${wanted} is wanted`);
  }
}

interface RangeRead {
  readonly events: readonly RawEvent[];
  readonly range: LedgerRange;
}

/** All events of the ledgers from `from` to `to`; undefined when they are more than `pagesMax` pages. @throws RpcFailed */
async function readRange(
  node: StellarNode,
  filters: readonly EventFilter[],
  { from, to }: { from: bigint; to: bigint },
): Promise<RangeRead | undefined> {
  const events = new Map<string, RawEvent>();
  let start: PageStart = { startLedger: Number(from), endLedger: Number(to) + 1 };
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await eventsPage(node, filters, start);
    // One URL may stand for several nodes, and this answer may come from one that lags.
    if (page.range.latest.ledger < to)
      throw new RpcFailed(node.name, 'getEvents', 'refused', `it lags behind ledger ${to}`);
    for (const event of page.events) if (event.ledger >= from && event.ledger <= to) events.set(event.id, event);
    const last = page.events.at(-1);
    if (!page.cursor || (last && last.ledger > to)) {
      const sorted = [...events.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
      return { events: sorted, range: page.range };
    }
    start = { cursor: page.cursor };
  }
  return undefined;
}

/**
 * A ledger that closed at or shortly before a time: a scan that begins there misses nothing after the time. It is the oldest ledger of the
 * node when that one closed later. Nodes tell the times of transactions, so the search goes by ledgers that hold one.
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
function cursorAt(cursor: Cursor, to: bigint, { events, range }: RangeRead): Cursor {
  const at_head = range.latest.ledger === to ? instant(range.latest.closedAt_s * 1_000) : undefined;
  const seen = events.at(-1)?.closedAt;
  const chainTime = at_head ?? (seen ? instant(Date.parse(seen)) : cursor.chainTime);
  return { ...cursor, blockNumber: to, blockHash: ledgerName(to), chainTime };
}

/** Payments by the payin contract, and tokens that reach the treasury in any way. A filter takes five contracts at most. */
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
