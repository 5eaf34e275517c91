/** Reads the events of a range of ledgers from one node, and never believes a short answer. */
import { lower } from '../../../lib/inParallel.ts';
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
  /** The last ledger that was read: an earlier one than asked for when the node's answer knew no later one. */
  readonly to: bigint;
  readonly range: LedgerRange;
  /** Of which the node showed nothing at all, not even a transaction. */
  readonly quiet: readonly Ledgers[];
}

interface Told extends EventPage {
  readonly quiet: readonly Ledgers[];
}

export interface Pages {
  /** All events of the ledgers; undefined when they are more than `pagesMax` pages. @throws RpcFailed */
  read(node: StellarNode, ledgers: Ledgers): Promise<RangeRead | undefined>;
}

/** Pages of one range; a range with more pages is read as smaller ranges. */
const pagesMax = 20;
const pageEvents = 1_000;
/** One URL may stand for several nodes: an answer of one that lags is asked for again. */
const asksMax = 3;

/**
 * @param filters of what is wanted
 * @param networkPassphrase names the contract of lumens, whose events show that classic events are told
 * @param read takes an answer apart; as left out, without the events of failed transactions
 */
export function createPages(filters: readonly EventFilter[], networkPassphrase: string, read = eventsPageIn): Pages {
  const fees = feesOf(networkPassphrase);
  /** What nodes said that they give at most, by their names. */
  const limits = new Map<string, number>();

  /** A page, and in the same request whether the node tells classic events. */
  async function pageOf(node: StellarNode, start: PageStart, ledgers: Ledgers): Promise<Told> {
    const limit = limits.get(node.name) ?? pageEvents;
    const windows = windowsOf(ledgers);
    const samples = windows.map(({ from, to }) => eventsQuery([fees], between(from, to), 1));
    const queries = [eventsQuery(filters, start, limit), ...samples];
    // One URL may stand for several nodes: the sample is of the one that gives the page, where it takes both at once.
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

  /** A page of a node that knows the first ledger. An answer that does not may come from another one than the next. */
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
        if (page.range.oldest.ledger > from) throw new Forgotten(node.name, page.range.oldest.ledger, from);
        // What lies behind the answer's own last ledger is not in it: the reading ends there.
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

/** The node has forgotten the next ledger: another node may remember it. */
export class Forgotten extends RpcFailed {
  constructor(node: string, oldest: bigint, wanted: bigint) {
    super(node, 'getEvents', 'refused', `it remembers ledgers from ${oldest} on, ledger ${wanted} is wanted`);
  }
}

const between = (from: bigint, to: bigint): PageStart => ({ startLedger: Number(from), endLedger: Number(to) + 1 });

/**
 * Nodes give fewer events than asked for, as they like. So a page is the last one when its cursor stands behind the range, or when it is
 * empty and leads nowhere.
 */
function isEnd({ isEmpty, cursor }: EventPage, start: PageStart, to: bigint): boolean {
  if (cursor === undefined) return true;
  const before = 'cursor' in start ? start.cursor : undefined;
  return isBehind(cursor, to) || (isEmpty && cursor === before);
}

/** Ledger, transaction and operation in one number, then the event's own (SEP-35). */
const cursorPattern = /^(\d{1,19})-\d+$/;

/** Whether a cursor stands at the end of a ledger or in a later one. Nothing is known of a cursor in another form. */
function isBehind(cursor: string, ledger: bigint): boolean {
  const [, position] = cursorPattern.exec(cursor) ?? [];
  return position !== undefined && BigInt(position) >= ((ledger + 1n) << 32n) - 1n;
}

/** Nodes say this of ledgers that they do not know yet, or not any more. */
const isOutOfRange = (error: unknown): boolean =>
  error instanceof RpcFailed && /within the ledger range/.test(error.detail);

/** Most events that the node says it gives, where that is less than it was asked for. */
function smallerLimit(error: unknown, asked: number): number | undefined {
  if (!(error instanceof RpcFailed)) return undefined;
  const [, most] = /limit must not exceed (\d{1,6})\b/i.exec(error.detail) ?? [];
  return most !== undefined && Number(most) >= 1 && Number(most) < asked ? Number(most) : undefined;
}

const window_ledgers = 20n;
const windowsMax = 8n;

/** Parts of a range in which a fee is looked for: near the head, all of it; while catching up, a few that are spread over it. */
function windowsOf({ from, to }: Ledgers): readonly Ledgers[] {
  const ledgers = to - from + 1n;
  const count = lower(windowsMax, (ledgers + window_ledgers - 1n) / window_ledgers);
  return Array.from({ length: Number(count) }, (_, at) => {
    const end = to - (BigInt(at) * ledgers) / count;
    const begin = end - window_ledgers + 1n;
    return { from: begin > from ? begin : from, to: end };
  });
}
