/** Transactions: accepted from senders, and found by hash or page by page. */
import { xdr } from '@stellar/stellar-sdk';
import { RpcError } from '../../rpcError.ts';
import { positionOf, totalOrderId } from '../chain/eventIds.ts';
import type { TransactionRecord } from '../transactions/apply.ts';
import type { Submitted } from '../transactions/envelope.ts';
import { parseEnvelope } from '../transactions/envelope.ts';
import { isBanned } from '../transactions/queue.ts';
import { refusedResult } from '../transactions/results.ts';
import { base64, strictBase64 } from '../xdr.ts';
import { invalid, ledgerRange, type Method, type Node, rpcCodes } from './method.ts';
import { checkPage, ledgerPage, parseInteger } from './pages.ts';
import { formatProblem, readParams, structure, text } from './params.ts';
import { unknownTransaction } from './unknownTransaction.ts';

const usualLimit = 50;
const limitMax = 200;
const hashLength = 64;

const hashRequest = structure({ hash: text, xdrFormat: text });

export const getTransaction: Method = ({ chain }, params) => {
  const { hash, xdrFormat } = readParams(hashRequest, params);
  const problem = formatProblem(xdrFormat) ?? hashProblem(hash);
  if (problem !== undefined) throw invalid(problem);
  const range = ledgerRange(chain);
  const record = chain.history.find(hash.toLowerCase());
  if (!record) return { ...range, ...unknownTransaction, txHash: hash };
  // Returns the requested hash, of a fee bump or of its transaction, in its spelling.
  return { ...range, ...describe(record), txHash: hash, createdAt: String(record.createdAt_s) };
};

/** Checks in the node's order. A last digit too many has a message of its own. */
function hashProblem(hash: string): string | undefined {
  if (Math.floor(hash.length / 2) !== hashLength / 2) return `unexpected hash length (${hash.length})`;
  const [invalid] = /[^0-9a-f]/i.exec(hash) ?? [];
  if (invalid !== undefined) return `incorrect hash: encoding/hex: invalid byte: ${named(invalid)}`;
  return hash.length > hashLength ? 'incorrect hash: encoding/hex: odd length hex string' : undefined;
}

const named = (character: string): string =>
  `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')} '${character}'`;

/** Pages through transactions in order, from a ledger on or after a cursor. */
export const getTransactions: Method = ({ chain }, params) => {
  const request = readParams(ledgerPage, params);
  checkPage(request, ledgerRange(chain), limitMax);
  const { cursor, limit: askedLimit } = request.pagination;
  const limit = askedLimit || usualLimit;
  const after = cursor === '' ? undefined : positionOf(String(parseInteger(cursor, 'ParseInt')));
  const { oldestLedger, latestLedger } = ledgerRange(chain);
  const start = after?.ledger ?? request.startLedger;
  if (start < oldestLedger)
    throw new RpcError(rpcCodes.invalidParams, `database does not contain metadata for ledger: ${start >>> 0}`);
  const isNext = ({ ledger, order }: TransactionRecord) =>
    after ? ledger > after.ledger || (ledger === after.ledger && order > after.transaction) : ledger >= start;

  const page = chain.history.transactions().filter(isNext).slice(0, limit);
  const last = page.at(-1);
  const isFull = last !== undefined && page.length === limit;
  const inLatest = last?.ledger === latestLedger ? last.order : 0;
  const end = isFull ? last : { ledger: latestLedger, order: inLatest };
  return {
    transactions: page.map((record) => ({ ...describe(record), createdAt: record.createdAt_s })),
    latestLedger,
    latestLedgerCloseTimestamp: chain.history.head().closedAt_s,
    oldestLedger,
    oldestLedgerCloseTimestamp: chain.history.oldest().closedAt_s,
    cursor: start > latestLedger ? '0' : totalOrderId({ ledger: end.ledger, transaction: end.order, operation: 1 }),
  };
};

function describe(record: TransactionRecord): object {
  const meta = xdr.TransactionMeta.fromXDR(record.resultMetaXdr, 'base64').v4();
  const diagnostics = meta.diagnosticEvents().map(base64);
  const events = meta.operations().map((operation) => operation.events().map(base64));
  return {
    status: record.succeeded ? 'SUCCESS' : 'FAILED',
    txHash: record.hash,
    applicationOrder: record.order,
    feeBump: record.innerHash !== undefined,
    envelopeXdr: record.envelopeXdr,
    resultXdr: record.resultXdr,
    resultMetaXdr: record.resultMetaXdr,
    ...(diagnostics.length > 0 && { diagnosticEventsXdr: diagnostics }),
    events: {
      transactionEventsXdr: meta.events().map(base64),
      ...(events.length > 0 && { contractEventsXdr: events }),
    },
    ledger: record.ledger,
  };
}

const envelopeRequest = structure({ transaction: text, xdrFormat: text });

export const sendTransaction: Method = (node, params) => {
  const { transaction, xdrFormat } = readParams(envelopeRequest, params);
  const problem = formatProblem(xdrFormat);
  if (problem !== undefined) throw invalid(problem);
  const { chain, queue } = node;
  const submitted = parsed(node, transaction);
  const answer = (status: SendStatus) => answerOf(node, submitted, status);
  if (landedLately(node, submitted)) return answer('TRY_AGAIN_LATER');
  const admission = queue.admit(submitted, chain.state, chain.next());
  if (admission.status === 'ERROR') {
    const { diagnostics = [] } = admission.refusal;
    return {
      errorResultXdr: base64(refusedResult(submitted, admission.refusal)),
      ...(diagnostics.length > 0 && { diagnosticEventsXdr: diagnostics.map(base64) }),
      ...answer('ERROR'),
    };
  }
  const answered = answer(admission.status);
  if (admission.status === 'PENDING') node.submitted();
  return answered;
};

/** Only by the hash of the envelope, also after a restart. Later the used sequence number refuses the transaction. */
function landedLately({ chain }: Node, { hash }: Submitted): boolean {
  const record = chain.history.find(hash);
  return record?.hash === hash && isBanned(record.ledger, chain.history.head().sequence);
}

type SendStatus = 'PENDING' | 'DUPLICATE' | 'TRY_AGAIN_LATER' | 'ERROR';

function answerOf({ chain }: Node, { hash }: Submitted, status: SendStatus): object {
  const head = chain.history.head();
  return { status, hash, latestLedger: head.sequence, latestLedgerCloseTime: String(head.closedAt_s) };
}

/** Answers as if the node had accepted the transaction, or refused it for now. The transaction is dropped. */
export const pretendTo = (node: Node, status: 'PENDING' | 'TRY_AGAIN_LATER', transaction: string): object =>
  answerOf(node, parsed(node, transaction), status);

function parsed({ chain }: Node, envelopeXdr: string): Submitted {
  try {
    strictBase64(envelopeXdr);
    return parseEnvelope(envelopeXdr, chain.network.passphrase);
  } catch {
    throw invalid('invalid_xdr');
  }
}
