/** Reads the events of a ledger range from one node, without trusting a short answer. */
import { lower } from '../../../lib/concurrency.ts';
import { askEach } from '../../node/jsonRpc.ts';
import { feesOf, type Ledgers, mustBeQuiet } from '../changes.ts';
import {
  type EventFilter,
  type EventPage,
  eventsPageIn,
  eventsQuery,
  type LedgerRange,
  type PageStart,
  type RawEvent,
} from '../reads.ts';
import { RpcFailed, type StellarNode } from '../rpc.ts';

export interface RangeRead {
  readonly events: readonly RawEvent[];
  /** Last ledger that was read: earlier than requested if the node's answer did not know later ones. */
  readonly to: bigint;
  readonly range: LedgerRange;
  /** Ledgers for which the node returned nothing at all, not even a transaction. */
  readonly quiet: readonly Ledgers[];
}

interface Told extends EventPage {
  readonly quiet: readonly Ledgers[];
}

export interface EventPages {
  /** All events of the ledgers; undefined if there are more than `pagesMax` pages. @throws RpcFailed */
  read(node: StellarNode, ledgers: Ledgers): Promise<RangeRead | undefined>;
}

/** Maximum pages of one range; a range with more pages is read as smaller ranges. */
const pagesMax = 20;
const pageEvents = 1_000;
/** One URL may lead to several nodes: repeats a query that a lagging one answered. */
const asksMax = 3;

/**
 * @param filters of the wanted events
 * @param networkPassphrase determines the contract of lumens, whose events prove that classic events are enabled
 * @param read parses an answer. Default: without events of failed transactions
 */
export function createPages(
  filters: readonly EventFilter[],
  networkPassphrase: string,
  read = eventsPageIn,
): EventPages {
  const fees = feesOf(networkPassphrase);
  /** Stated maximum of each node, by name. */
  const limits = new Map<string, number>();

  /** A page, and in the same request a check that the node emits classic events. */
  async function pageOf(node: StellarNode, start: PageStart, ledgers: Ledgers): Promise<Told> {
    const limit = limits.get(node.name) ?? pageEvents;
    const windows = windowsOf(ledgers);
    const samples = windows.map(({ from, to }) => eventsQuery([fees], between(from, to), 1));
    const queries = [eventsQuery(filters, start, limit), ...samples];
    // One URL may lead to several nodes: the check reaches the page's node if both fit into one request.
    const together = (node.limits.most('calls') ?? queries.length) >= queries.length;
    const answers = await askEach(node, 'getEvents', queries, read, { together }).catch((error: unknown) => {
      const most = smallerLimit(error, limit);
      if (most === undefined) throw error;
      limits.set(node.name, most);
      return undefined;
    });
    if (answers === undefined) return pageOf(node, start, ledgers);
    const [page, ...told] = answers;
    if (!page) throw new RpcFailed(node.name, 'getEvents', 'malformed', 'it left an answer out');
    const quiet = windows.filter((_, at) => told[at]?.isEmpty);
    for (const window of quiet) await mustBeQuiet(node, window, page.range);
    return { ...page, quiet };
  }

  /** A page of a node that knows the first ledger. A negative answer may come from another node than the next one. */
  async function freshPage(node: StellarNode, start: PageStart, ledgers: Ledgers): Promise<Told> {
    for (let asks = 1; ; asks++) {
      const page = await pageOf(node, start, ledgers).catch((error: unknown) => {
        if (isOutOfRange(error) && asks < asksMax) return undefined;
        throw error;
      });
      if (page && page.range.latest.ledger >= ledgers.from) return page;
      if (asks === asksMax)
        throw new RpcFailed(node.name, 'getEvents', 'refused', `it lags behind ledger ${ledgers.from}`);
    }
  }

  return {
    async read(node, { from, to: wanted }) {
      const events = new Map<string, RawEvent>();
      const quiet: Ledgers[] = [];
      let to = wanted;
      let start: PageStart = between(from, to);
      for (let pages = 0; pages < pagesMax; pages++) {
        const page = await freshPage(node, start, { from, to });
        if (page.range.oldest.ledger > from) throw new LedgerForgotten(node.name, page.range.oldest.ledger, from);
        // The read ends at the answer's own last ledger, which limits its events.
        to = lower(to, page.range.latest.ledger);
        quiet.push(...page.quiet);
        for (const event of page.events) if (event.ledger >= from) events.set(event.id, event);
        if (isEnd(page, start, to)) {
          const read = [...events.values()].filter(({ ledger }) => ledger <= to);
          return { events: read.toSorted((a, b) => (a.id < b.id ? -1 : 1)), to, range: page.range, quiet };
        }
        start = { cursor: page.cursor ?? '' };
      }
      return undefined;
    },
  };
}

/** The node has dropped the next ledger: another node may remember it. */
export class LedgerForgotten extends RpcFailed {
  constructor(node: string, oldest: bigint, wanted: bigint) {
    super(node, 'getEvents', 'refused', `it remembers ledgers from ${oldest} on, ledger ${wanted} is wanted`);
  }
}

const between = (from: bigint, to: bigint): PageStart => ({ startLedger: Number(from), endLedger: Number(to) + 1 });

/**
 * Nodes may return fewer events than requested. So a page is the last one if its cursor is past the range, or if it is empty and has no
 * further cursor.
 */
function isEnd({ isEmpty, cursor }: EventPage, start: PageStart, to: bigint): boolean {
  if (cursor === undefined) return true;
  const before = 'cursor' in start ? start.cursor : undefined;
  return isBehind(cursor, to) || (isEmpty && cursor === before);
}

/** Ledger, transaction and operation in one number, then the event's own (SEP-35). */
const cursorPattern = /^(\d{1,19})-\d+$/;

/** True if a cursor is at the end of a ledger or in a later one. False for a cursor in another form. */
function isBehind(cursor: string, ledger: bigint): boolean {
  const [, position] = cursorPattern.exec(cursor) ?? [];
  return position !== undefined && BigInt(position) >= ((ledger + 1n) << 32n) - 1n;
}

/** Refusals of nodes for ledgers that they do not know yet, or not any more. */
const isOutOfRange = (error: unknown): boolean =>
  error instanceof RpcFailed && /within the ledger range/.test(error.detail);

/** The node's stated maximum of events, if it is below the requested one. */
function smallerLimit(error: unknown, asked: number): number | undefined {
  if (!(error instanceof RpcFailed)) return undefined;
  const [, most] = /limit must not exceed (\d{1,6})\b/i.exec(error.detail) ?? [];
  return most !== undefined && Number(most) >= 1 && Number(most) < asked ? Number(most) : undefined;
}

const window_ledgers = 20n;
const windowsMax = 8n;

/** Parts of a range in which a fee event is searched: near the head, all of it; while catching up, a few spread over it. */
function windowsOf({ from, to }: Ledgers): readonly Ledgers[] {
  const ledgers = to - from + 1n;
  const count = lower(windowsMax, (ledgers + window_ledgers - 1n) / window_ledgers);
  return Array.from({ length: Number(count) }, (_, at) => {
    const end = to - (BigInt(at) * ledgers) / count;
    const begin = end - window_ledgers + 1n;
    return { from: begin > from ? begin : from, to: end };
  });
}
