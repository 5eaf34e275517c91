import { xdr } from '@stellar/stellar-sdk';
import { lastPlace, placeOf, totalOrderId } from '../ledger/eventIds.ts';
import type { TransactionRecord } from '../transactions/apply.ts';
import { base64 } from '../xdr.ts';
import {
  checkInRange,
  integerParam,
  invalid,
  ledgerRange,
  limitOf,
  type Method,
  objectParam,
  textParam,
} from './method.ts';

const hashPattern = /^[0-9a-f]{64}$/;
const usualLimit = 50;
const limitMax = 200;

export const getTransaction: Method = ({ chain }, params) => {
  const hash = textParam(params, 'hash');
  if (!hashPattern.test(hash)) throw invalid('hash must be 64 small hex digits');
  const record = chain.history.find(hash);
  const range = ledgerRange(chain);
  if (!record) return { status: 'NOT_FOUND', txHash: hash, ...range };
  return { ...range, ...describe(record), createdAt: String(record.createdAt_s) };
};

/** Pages through transactions in order, from a ledger on or behind a cursor. */
export const getTransactions: Method = ({ chain }, params) => {
  const pagination = objectParam(params, 'pagination');
  const limit = limitOf(pagination, usualLimit, limitMax);
  const after = pagination['cursor'] === undefined ? undefined : placeOf(textParam(pagination, 'cursor'));
  const start = after?.ledger ?? integerParam(params, 'startLedger') ?? 0;
  checkInRange(chain, start);
  const isNext = ({ ledger, order }: TransactionRecord) =>
    after ? ledger > after.ledger || (ledger === after.ledger && order > after.transaction) : ledger >= start;

  const page = chain.history.transactions().filter(isNext).slice(0, limit);
  const last = page.at(-1);
  const end =
    last && page.length === limit
      ? { ledger: last.ledger, transaction: last.order, operation: 1 }
      : lastPlace(chain.history.head().sequence);
  return {
    transactions: page.map((record) => ({ ...describe(record), createdAt: record.createdAt_s })),
    ...ledgerRange(chain),
    cursor: totalOrderId(end),
  };
};

function describe(record: TransactionRecord): object {
  const meta = xdr.TransactionMeta.fromXDR(record.resultMetaXdr, 'base64').v4();
  return {
    status: record.succeeded ? 'SUCCESS' : 'FAILED',
    txHash: record.hash,
    applicationOrder: record.order,
    feeBump: record.innerHash !== undefined,
    envelopeXdr: record.envelopeXdr,
    resultXdr: record.resultXdr,
    resultMetaXdr: record.resultMetaXdr,
    diagnosticEventsXdr: meta.diagnosticEvents().map(base64),
    ledger: record.ledger,
    events: {
      transactionEventsXdr: meta.events().map(base64),
      contractEventsXdr: meta.operations().map((operation) => operation.events().map(base64)),
    },
  };
}
