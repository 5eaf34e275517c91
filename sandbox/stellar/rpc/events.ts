import { endOfLedger, isEventId, ledgerOf, startOfLedger } from '../chain/eventIds.ts';
import type { EventRecord } from '../chain/history.ts';
import {
  checkInRange,
  integerParam,
  invalid,
  ledgerRange,
  limitOf,
  listParam,
  type Method,
  objectParam,
  type Params,
} from './method.ts';

const usualLimit = 100;
const limitMax = 10_000;
const filtersMax = 5;
const contractIdsMax = 5;
const topicsMax = 5;
const segmentsMax = 5;
/** Most ledgers that one request searches; its cursor says how far it came. */
const scanned_ledgers = 10_000;

interface Filter {
  readonly contractIds: readonly string[];
  readonly topics: readonly (readonly string[])[];
}

/** Events of a range of ledgers, or after a cursor, that pass one of the filters. */
export const getEvents: Method = ({ chain }, params) => {
  const pagination = objectParam(params, 'pagination');
  const limit = limitOf(pagination, usualLimit, limitMax);
  const filters = listParam(params, 'filters', filtersMax).map((filter) => filterOf(filter as Params));
  const { isNext, startLedger } = startOf(params, pagination);
  checkInRange(chain, startLedger);
  const asked = integerParam(params, 'endLedger') ?? Number.POSITIVE_INFINITY;
  const endLedger = Math.min(asked, startLedger + scanned_ledgers, chain.history.head().sequence + 1);

  const page: EventRecord[] = [];
  for (const event of chain.history.events()) {
    if (event.position.ledger >= endLedger || page.length === limit) break;
    if (isNext(event) && passes(event, filters)) page.push(event);
  }
  const last = page.length === limit ? page.at(-1)?.id : undefined;
  return { events: page.map(describe), cursor: last ?? endOfLedger(endLedger - 1), ...ledgerRange(chain) };
};

function startOf(params: Params, pagination: Params) {
  const { cursor } = pagination;
  const startLedger = integerParam(params, 'startLedger');
  if (cursor === undefined) {
    const from = startLedger ?? 0;
    return { startLedger: from, isNext: ({ id }: EventRecord) => id >= startOfLedger(from) };
  }
  if (startLedger) throw invalid('ledger ranges and cursor cannot both be set');
  if (typeof cursor !== 'string' || !isEventId(cursor)) throw invalid(`invalid cursor ${cursor}`);
  return { startLedger: ledgerOf(cursor), isNext: ({ id }: EventRecord) => id > cursor };
}

function filterOf(filter: Params): Filter {
  const topics = listParam(filter, 'topics', topicsMax).map((topic) =>
    listParam({ topic }, 'topic', segmentsMax).map(String),
  );
  return { contractIds: listParam(filter, 'contractIds', contractIdsMax).map(String), topics };
}

function passes({ contractId, topics }: EventRecord, filters: readonly Filter[]): boolean {
  if (filters.length === 0) return true;
  return filters.some(
    (filter) =>
      (filter.contractIds.length === 0 || filter.contractIds.includes(contractId)) &&
      (filter.topics.length === 0 || filter.topics.some((wanted) => topicsMatch(wanted, topics))),
  );
}

/** `*` stands for one segment, a last `**` for any number of them. */
function topicsMatch(wanted: readonly string[], topics: readonly string[]): boolean {
  const open = wanted.at(-1) === '**';
  const segments = open ? wanted.slice(0, -1) : wanted;
  if (open ? topics.length < segments.length : topics.length !== segments.length) return false;
  return segments.every((segment, at) => segment === '*' || segment === topics[at]);
}

const describe = ({ id, position, contractId, transaction, topics, value }: EventRecord) => ({
  type: 'contract',
  ledger: position.ledger,
  ledgerClosedAt: new Date(transaction.createdAt_s * 1_000).toISOString().replace('.000Z', 'Z'),
  contractId,
  id,
  operationIndex: position.operation,
  transactionIndex: position.transaction,
  inSuccessfulContractCall: transaction.succeeded,
  txHash: transaction.hash,
  topic: topics,
  value,
});
