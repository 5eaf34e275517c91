import { StrKey, xdr } from '@stellar/stellar-sdk';
import { RpcError } from '../../rpcError.ts';
import { endOfLedger, eventId, ledgerOf, positionOf, startOfLedger } from '../chain/eventIds.ts';
import type { EventRecord } from '../chain/history.ts';
import { base64, strictBase64 } from '../xdr.ts';
import { invalid, ledgerRange, type Method, rpcCodes } from './method.ts';
import { formatProblem, listOf, optional, parsedBy, readParams, structure, text, uint, uint32 } from './params.ts';

const usualLimit = 100;
const limitMax = 10_000;
const filtersMax = 5;
const contractIdsMax = 5;
const topicsMax = 5;
/** Excludes a final `**`. */
const segmentsMax = 4;
/** Maximum ledgers of one request's search; its cursor is the end. */
const scanned_ledgers = 10_000;

const anyOne = '*';
const anyNumber = '**';
/** A wildcard, or a value as base64 XDR in its one spelling. */
const segment = parsedBy(text, (wanted) =>
  wanted === anyOne || wanted === anyNumber ? wanted : base64(xdr.ScVal.fromXDR(strictBase64(wanted))),
);
const eventFilter = structure({ type: text, contractIds: listOf(text), topics: listOf(listOf(segment)) });
type Filter = ReturnType<typeof eventFilter>;
const request = structure({
  startLedger: uint32,
  endLedger: uint32,
  filters: listOf(eventFilter),
  pagination: structure({ cursor: optional(parsedBy(text, cursorIn)), limit: uint }),
  xdrFormat: text,
});
type Request = ReturnType<typeof request>;

/** Events of a range of ledgers, or after a cursor, that pass one of the filters. */
export const getEvents: Method = ({ chain }, params) => {
  const wanted = readParams(request, params);
  const problem = problemOf(wanted);
  if (problem !== undefined) throw invalid(problem);
  const { filters, endLedger: asked, pagination } = wanted;
  const { cursor, limit: askedLimit } = pagination;
  const limit = askedLimit || usualLimit;
  const startLedger = cursor === undefined ? wanted.startLedger : ledgerOf(cursor);
  const range = ledgerRange(chain);
  const { latestLedger, oldestLedger } = range;
  if (startLedger < oldestLedger || startLedger > latestLedger) {
    const message = `startLedger must be within the ledger range: ${oldestLedger} - ${latestLedger}`;
    throw new RpcError(rpcCodes.invalidRequest, message);
  }
  const isNext =
    cursor === undefined
      ? ({ id }: EventRecord) => id >= startOfLedger(startLedger)
      : ({ id }: EventRecord) => id > cursor;
  const endLedger = Math.min(asked || Number.POSITIVE_INFINITY, startLedger + scanned_ledgers, latestLedger + 1);

  const page: EventRecord[] = [];
  for (const event of chain.history.events()) {
    if (event.position.ledger >= endLedger || page.length === limit) break;
    if (isNext(event) && passes(event, filters)) page.push(event);
  }
  const last = page.length === limit ? page.at(-1)?.id : undefined;
  return { events: page.map(describe), cursor: last ?? endOfLedger(endLedger - 1), ...range };
};

/** An event's id, which need not have its leading zeros. @throws Error for other text */
function cursorIn(cursor: string): string {
  const [, position = '', index = ''] = /^(\d+)-(\d+)$/.exec(cursor) ?? [];
  if (position === '' || BigInt(position) >= 2n ** 63n || Number(index) >= 2 ** 32)
    throw new Error(`invalid event id ${cursor}`);
  return eventId(positionOf(position), Number(index));
}

/** Checks in the node's order. @returns its message for the first fault */
function problemOf({ startLedger, endLedger, filters, pagination, xdrFormat }: Request): string | undefined {
  const format = formatProblem(xdrFormat);
  if (format !== undefined) return format;
  const { cursor, limit } = pagination;
  if (cursor !== undefined && (startLedger > 0 || endLedger > 0)) return 'ledger ranges and cursor cannot both be set';
  if (cursor === undefined && startLedger === 0) return 'startLedger must be positive';
  if (limit > limitMax) return `limit must not exceed ${limitMax}`;
  if (filters.length > filtersMax) return `maximum ${filtersMax} filters per request`;
  const problems = filters.map(filterProblem);
  const at = problems.findIndex((problem) => problem !== undefined);
  return at < 0 ? undefined : `filter ${at + 1} invalid: ${problems[at]}`;
}

const eventTypes = ['system', 'contract'];

function filterProblem({ type, contractIds, topics }: Filter): string | undefined {
  if (type !== '' && type.split(',').some((each) => !eventTypes.includes(each)))
    return "filter type invalid: if set, type must be either 'system' or 'contract'";
  if (contractIds.length > contractIdsMax) return `maximum ${contractIdsMax} contract IDs per filter`;
  if (topics.length > topicsMax) return `maximum ${topicsMax} topics per filter`;
  const unknown = contractIds.findIndex((id) => !StrKey.isValidContract(id));
  if (unknown >= 0) return `contract ID ${unknown + 1} invalid`;
  const problems = topics.map(topicProblem);
  const at = problems.findIndex((problem) => problem !== undefined);
  return at < 0 ? undefined : `topic ${at + 1} invalid: ${problems[at]}`;
}

function topicProblem(topic: readonly string[]): string | undefined {
  if (topic.length === 0) return 'topic must have at least 1 segment';
  const segments = topic.at(-1) === anyNumber ? topic.slice(0, -1) : topic;
  const misplaced = segments.indexOf(anyNumber);
  if (misplaced >= 0)
    return `segment ${misplaced + 1} invalid: wildcard '${anyNumber}' is only allowed as the last segment`;
  return segments.length > segmentsMax ? `topic cannot have more than ${segmentsMax} segments` : undefined;
}

function passes({ contractId, topics }: EventRecord, filters: readonly Filter[]): boolean {
  if (filters.length === 0) return true;
  return filters.some(
    (filter) =>
      (filter.type === '' || filter.type.split(',').includes('contract')) &&
      (filter.contractIds.length === 0 || filter.contractIds.includes(contractId)) &&
      (filter.topics.length === 0 || filter.topics.some((wanted) => topicsMatch(wanted, topics))),
  );
}

/** `*` matches one segment, a final `**` any number of them. */
function topicsMatch(wanted: readonly string[], topics: readonly string[]): boolean {
  const open = wanted.at(-1) === anyNumber;
  const segments = open ? wanted.slice(0, -1) : wanted;
  if (open ? topics.length < segments.length : topics.length !== segments.length) return false;
  return segments.every((each, at) => each === anyOne || each === topics[at]);
}

const describe = ({ id, position, contractId, transaction, topics, value }: EventRecord) => ({
  type: 'contract',
  ledger: position.ledger,
  ledgerClosedAt: new Date(transaction.createdAt_s * 1_000).toISOString().replace('.000Z', 'Z'),
  contractId,
  id,
  operationIndex: position.operation,
  transactionIndex: position.transaction,
  txHash: transaction.hash,
  inSuccessfulContractCall: transaction.succeeded,
  topic: topics,
  value,
});
