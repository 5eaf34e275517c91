/** Transactions: taken from senders, and found again by hash or page by page. */
import { xdr } from '@stellar/stellar-sdk';
import { lastPosition, positionOf, totalOrderId } from '../chain/eventIds.ts';
import type { TransactionRecord } from '../transactions/apply.ts';
import type { Submitted } from '../transactions/envelope.ts';
import { parseEnvelope } from '../transactions/envelope.ts';
import { refusedResult } from '../transactions/results.ts';
import { base64 } from '../xdr.ts';
import {
  checkInRange,
  integerParam,
  invalid,
  ledgerRange,
  limitOf,
  type Method,
  type Node,
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

/** Pages through transactions in order, from a ledger on or after a cursor. */
export const getTransactions: Method = ({ chain }, params) => {
  const pagination = objectParam(params, 'pagination');
  const limit = limitOf(pagination, usualLimit, limitMax);
  const after = pagination['cursor'] === undefined ? undefined : positionOf(textParam(pagination, 'cursor'));
  const start = after?.ledger ?? integerParam(params, 'startLedger') ?? 0;
  checkInRange(chain, start);
  const isNext = ({ ledger, order }: TransactionRecord) =>
    after ? ledger > after.ledger || (ledger === after.ledger && order > after.transaction) : ledger >= start;

  const page = chain.history.transactions().filter(isNext).slice(0, limit);
  const last = page.at(-1);
  const end =
    last && page.length === limit
      ? { ledger: last.ledger, transaction: last.order, operation: 1 }
      : lastPosition(chain.history.head().sequence);
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

export const sendTransaction: Method = (node, params) => {
  const { chain, queue } = node;
  const submitted = parsed(node, textParam(params, 'transaction'));
  const head = chain.history.head();
  const answer = { hash: submitted.hash, latestLedger: head.sequence, latestLedgerCloseTime: String(head.closedAt_s) };
  if (chain.history.find(submitted.hash)) return { ...answer, status: 'DUPLICATE' };
  const admission = queue.admit(submitted, chain.state, chain.next());
  if (admission.status === 'ERROR') {
    return { ...answer, status: 'ERROR', errorResultXdr: base64(refusedResult(admission.verdict)) };
  }
  if (admission.status === 'PENDING') node.submitted();
  return { ...answer, status: admission.status };
};

/** Answers as if the node had taken the transaction, or not now. The transaction is dropped. */
export const pretendTo = (node: Node, status: 'PENDING' | 'TRY_AGAIN_LATER', transaction: string): object => {
  const head = node.chain.history.head();
  return {
    hash: parsed(node, transaction).hash,
    latestLedger: head.sequence,
    latestLedgerCloseTime: String(head.closedAt_s),
    status,
  };
};

function parsed({ chain }: Node, envelopeXdr: string): Submitted {
  try {
    return parseEnvelope(envelopeXdr, chain.network.passphrase);
  } catch (error) {
    throw invalid(`invalid_xdr: ${(error as Error).message}`);
  }
}
