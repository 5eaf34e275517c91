/** Results of a transaction, without parts that differ between networks: ledger numbers, times, hashes and sequence numbers. */
import { xdr } from '@stellar/stellar-sdk';
import type { AnyTransaction, Sent } from './pair.ts';
import { type Plain, plain } from './plainXdr.ts';

type Json = Readonly<Record<string, unknown>>;

/** The cost of contract calls depends on metering, which the imitation lacks. */
export interface OutcomeOptions {
  readonly isCall?: boolean;
}

/** The answer of sendTransaction, decoded. */
export function sentOutcome(transaction: AnyTransaction, { answer }: Sent, { isCall = false }: OutcomeOptions): Json {
  const { errorResultXdr, diagnosticEventsXdr } = answer;
  return {
    fields: Object.keys(answer).toSorted(),
    status: answer['status'],
    hash: answer['hash'] === transaction.hash().toString('hex'),
    ...(typeof errorResultXdr === 'string' && { error: resultOf(errorResultXdr, isCall) }),
    ...(Array.isArray(diagnosticEventsXdr) && { diagnostics: diagnosticEventsXdr.map(diagnosticOf) }),
  };
}

/** The answer of getTransaction, or a transaction of getTransactions, decoded. */
export function landedOutcome(answer: Json, { isCall = false }: OutcomeOptions): Json {
  const { transactionEventsXdr, contractEventsXdr, ...moreEvents } = Object(answer['events']) as Json;
  return {
    fields: Object.keys(answer).toSorted(),
    status: answer['status'],
    feeBump: answer['feeBump'],
    result: resultOf(String(answer['resultXdr']), isCall),
    transactionEvents: listOf(transactionEventsXdr).map((each) => feeEventOf(String(each), isCall)),
    contractEvents: listOf(contractEventsXdr).map((each) => listOf(each).map((event) => eventOf(String(event)))),
    moreEvents,
    meta: metaOf(String(answer['resultMetaXdr']), isCall),
    diagnostics: [...new Set(listOf(answer['diagnosticEventsXdr']).map(diagnosticOf))].filter(
      (each) => each !== hostsOwn,
    ),
  };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function resultOf(resultXdr: string, isCall: boolean): Plain {
  const result = plain(xdr.TransactionResult.fromXDR(resultXdr, 'base64'));
  return replaced(result, { transactionHash: 'hash', ...(isCall && { feeCharged: 'fee' }) });
}

const eventOf = (event: string): Plain => plain(xdr.ContractEvent.fromXDR(event, 'base64'));

function feeEventOf(event: string, isCall: boolean): Plain {
  const shown = plain(xdr.TransactionEvent.fromXDR(event, 'base64'));
  return isCall ? replaced(shown, { scvI128: 'fee' }) : shown;
}

/** Metered numbers and log lines, which the imitation lacks. */
const hostsOwn = 'a number or a line of the host';

/** Its topics and whether the call succeeded: the words are the host's own. Each calling contract repeats an error. */
function diagnosticOf(event: unknown): string {
  const diagnostic = xdr.DiagnosticEvent.fromXDR(String(event), 'base64');
  const shown = diagnostic.event();
  const topics = shown.body().v0().topics();
  const [first] = topics;
  if (first?.switch().name === 'scvSymbol' && ['core_metrics', 'log'].includes(first.sym().toString())) return hostsOwn;
  const contract = shown.contractId() ? 'a contract' : 'no contract';
  const about = [shown.type().name, contract, diagnostic.inSuccessfulContractCall(), plain(topics)];
  return JSON.stringify(about);
}

function metaOf(metaXdr: string, isCall: boolean): Plain {
  const meta = xdr.TransactionMeta.fromXDR(metaXdr, 'base64');
  const v4 = meta.v4();
  return {
    version: meta.switch(),
    before: changesOf(v4.txChangesBefore()),
    operations: v4.operations().map((operation) => ({
      changes: changesOf(operation.changes()),
      events: plain(operation.events()),
    })),
    after: changesOf(v4.txChangesAfter()),
    soroban: replaced(plain(v4.sorobanMeta()), {
      totalNonRefundableResourceFeeCharged: 'fee',
      totalRefundableResourceFeeCharged: 'fee',
      rentFeeCharged: 'fee',
    }),
    events: v4.events().map((event) => feeEventOf(event.toXDR('base64'), isCall)),
  };
}

/** Sorted: the network's order follows from hashes. Balances are compared by what they change: others pay the same accounts. */
function changesOf(changes: readonly xdr.LedgerEntryChange[]): readonly Plain[] {
  const shown: Plain[] = [];
  let before = 0n;
  for (const change of changes) {
    const kind = change.switch().name;
    if (kind === 'ledgerEntryRemoved') {
      shown.push(plain(change));
      continue;
    }
    const entry = entryIn(change);
    const balance = balanceIn(entry);
    const moved = kind === 'ledgerEntryState' ? 'some' : `changed by ${(balance ?? 0n) - before}`;
    const normal = replaced(plain(entry), {
      seqNum: 'sequence',
      seqLedger: 'ledger',
      seqTime: 'time',
      ...(balance !== undefined && { balance: moved }),
    });
    before = kind === 'ledgerEntryState' ? (balance ?? 0n) : 0n;
    shown.push({ [kind]: normal });
  }
  return shown.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function balanceIn(entry: xdr.LedgerEntryData): bigint | undefined {
  switch (entry.switch().name) {
    case 'account':
      return entry.account().balance().toBigInt();
    case 'trustline':
      return entry.trustLine().balance().toBigInt();
    default:
      return undefined;
  }
}

function entryIn(change: xdr.LedgerEntryChange): xdr.LedgerEntryData {
  switch (change.switch().name) {
    case 'ledgerEntryCreated':
      return change.created().data();
    case 'ledgerEntryUpdated':
      return change.updated().data();
    default:
      return change.state().data();
  }
}

/** Replaces the values of fields, wherever they are. */
export function replaced(value: Plain, values: Readonly<Record<string, string>>): Plain {
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map((each) => replaced(each, values));
  const fields = Object.entries(value).map(([name, inner]) => [name, values[name] ?? replaced(inner, values)]);
  return Object.fromEntries(fields);
}

const isList = (value: Plain): value is readonly Plain[] => Array.isArray(value);

/** Events of getEvents as texts without what differs between networks, sorted: transactions of a ledger have no order of their own. */
export function eventList({ events }: Json): readonly string[] {
  return listOf(events)
    .map((each) => {
      const { type, operationIndex, transactionIndex, inSuccessfulContractCall, contractId, topic, value } =
        each as Json;
      const topics = listOf(topic).map((one) => plain(xdr.ScVal.fromXDR(String(one), 'base64')));
      const isFee = JSON.stringify(topics[0]) === JSON.stringify({ scvSymbol: 'fee' });
      const moved = isFee ? 'fee' : plain(xdr.ScVal.fromXDR(String(value), 'base64'));
      const place =
        Number(transactionIndex) > 0 && Number(transactionIndex) < lastTransaction ? 'within' : transactionIndex;
      return JSON.stringify([type, place, operationIndex, inSuccessfulContractCall, contractId, topics, moved]);
    })
    .toSorted();
}

/** Where events after all transactions of a ledger are. */
const lastTransaction = 2 ** 20 - 1;
