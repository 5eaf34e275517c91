/**
 * A Stellar node as of some ledgers ago: newer events and transactions are missing. For ledger entries it returns its earlier answer, if
 * there was one: the local Stellar keeps no older states.
 */
import { RpcError } from '../../rpcError.ts';

import { unknownTransaction } from '../../stellar/rpc/unknownTransaction.ts';
import { type Ask, type Call, type Fields, fieldsOf, listOf } from '../call.ts';
import type { CallEffect } from '../quirk.ts';

const keysMax = 10_000;
const versionsMax = 8;

export interface StellarMemory {
  behind(ledgers: number): CallEffect;
}

export function createStellarMemory(): StellarMemory {
  /** Newest last. */
  const versions = new Map<string, readonly Fields[]>();

  async function entriesAt(ledgers: number, { method, params }: Call, next: Ask) {
    const answer = fieldsOf(await next(method, params));
    const head = Number(answer['latestLedger']) - ledgers;
    const entries = listOf(answer['entries']).map((entry) => {
      const known = remember(fieldsOf(entry));
      return known.findLast((each) => Number(each['lastModifiedLedgerSeq']) <= head) ?? known.at(-1);
    });
    return { ...answer, entries, latestLedger: head };
  }

  function remember(entry: Fields): readonly Fields[] {
    const key = String(entry['key']);
    const before = versions.get(key) ?? [];
    const isNew = before.at(-1)?.['lastModifiedLedgerSeq'] !== entry['lastModifiedLedgerSeq'];
    const known = isNew ? [...before, entry].slice(-versionsMax) : before;
    if (versions.size >= keysMax) versions.clear();
    versions.set(key, known);
    return known;
  }

  return {
    behind: (ledgers) => async (call, next) => {
      const { method, params } = call;
      if (method === 'getLedgerEntries') return entriesAt(ledgers, call, next);
      if (method === 'getEvents' && ledgers > 0) return eventsBehind(ledgers, call, next);
      const answer = await next(method, params);
      return ledgers === 0 ? answer : olderAnswer(ledgers, call, fieldsOf(answer));
    },
  };
}

function olderAnswer(ledgers: number, { method }: Call, answer: Fields): unknown {
  const older = withOlderHead(ledgers, answer);
  const head = Number(older['latestLedger']);
  switch (method) {
    case 'getLatestLedger':
      return { ...answer, sequence: Number(answer['sequence']) - ledgers };
    case 'getTransaction':
      if (!(Number(answer['ledger']) > head)) return older;
      return { ...rangeOf(older), ...unknownTransaction, txHash: answer['txHash'] };
    case 'getTransactions':
      return { ...older, transactions: upTo(head, answer['transactions']) };
    default:
      return older;
  }
}

/** Its cursor is at most at its head: later events are still to be returned. */
async function eventsBehind(ledgers: number, { method, params }: Call, next: Ask): Promise<unknown> {
  const asked = fieldsOf(params);
  const head = Number(fieldsOf(await next('getLatestLedger', {}))['sequence']) - ledgers;
  const { startLedger } = asked;
  if (Number(startLedger) > head) {
    throw new RpcError(-32600, `startLedger must be within the ledger range: 1 - ${head}`);
  }
  const end = Math.min(Number(asked['endLedger'] ?? head + 1), head + 1);
  const answer = fieldsOf(await next(method, startLedger === undefined ? asked : { ...asked, endLedger: end }));
  const events = upTo(head, answer['events']);
  const clipped = events.length < listOf(answer['events']).length;
  const told = fieldsOf(events.at(-1))['id'] ?? fieldsOf(asked['pagination'])['cursor'];
  return { ...answer, events, latestLedger: head, ...(clipped && { cursor: told }) };
}

const upTo = (head: number, list: unknown) => listOf(list).filter((each) => Number(fieldsOf(each)['ledger']) <= head);

const withOlderHead = (ledgers: number, answer: Fields): Fields =>
  typeof answer['latestLedger'] === 'number' ? { ...answer, latestLedger: answer['latestLedger'] - ledgers } : answer;

const rangeOf = ({ oldestLedger, oldestLedgerCloseTime, latestLedger, latestLedgerCloseTime }: Fields): Fields => ({
  ...{ oldestLedger, oldestLedgerCloseTime, latestLedger, latestLedgerCloseTime },
});
