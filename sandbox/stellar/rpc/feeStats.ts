import { xdr } from '@stellar/stellar-sdk';
import { baseFee } from '../ledger/network.ts';
import type { TransactionRecord } from '../transactions/apply.ts';
import { parseEnvelope } from '../transactions/envelope.ts';
import { bigintOf } from '../xdr.ts';
import type { Method } from './method.ts';

/** Number of the newest ledgers that count. */
const classic_ledgers = 10;
const soroban_ledgers = 50;
const percentiles = [10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99];

/** Fees per operation of the newest transactions, in stroops; 0 without any. */
export const getFeeStats: Method = ({ chain }) => {
  const latestLedger = chain.history.head().sequence;
  const paidIn = (ledgers: number, isCall: boolean): readonly bigint[] => {
    const recent = newest(chain.history.transactions(), latestLedger - ledgers);
    return recent
      .map((record) => inclusionOf(record, chain.network.passphrase))
      .flatMap((paid) => (paid.isCall === isCall ? [paid.inclusion] : []));
  };
  return {
    sorobanInclusionFee: distribution(paidIn(soroban_ledgers, true), soroban_ledgers),
    inclusionFee: distribution(paidIn(classic_ledgers, false), classic_ledgers),
    latestLedger,
  };
};

/** Transactions after a ledger: the newest are at the end. */
function newest(transactions: readonly TransactionRecord[], after: number): readonly TransactionRecord[] {
  const from = transactions.findLastIndex(({ ledger }) => ledger <= after);
  return transactions.slice(from + 1);
}

function inclusionOf({ envelopeXdr, resultXdr }: TransactionRecord, passphrase: string) {
  const { operationsPaid, sorobanData } = parseEnvelope(envelopeXdr, passphrase);
  const charged = bigintOf(xdr.TransactionResult.fromXDR(resultXdr, 'base64').feeCharged());
  if (!sorobanData) return { isCall: false, inclusion: charged / BigInt(operationsPaid) };
  // A part of the resource fee was refunded, so the charge does not reveal the inclusion fee.
  return { isCall: true, inclusion: baseFee };
}

function distribution(fees: readonly bigint[], ledgerCount: number): object {
  const sorted = fees.toSorted((a, b) => Number(a - b));
  const at = (index: number): string => String(sorted[Math.min(index, sorted.length - 1)] ?? 0n);
  const percentile = (percent: number) => [`p${percent}`, at(Math.ceil((sorted.length * percent) / 100) - 1)];
  return {
    max: at(sorted.length - 1),
    min: at(0),
    mode: mostFrequent(sorted),
    ...Object.fromEntries(percentiles.map(percentile)),
    transactionCount: String(sorted.length),
    ledgerCount,
  };
}

function mostFrequent(fees: readonly bigint[]): string {
  const counts = Map.groupBy(fees, (fee) => fee);
  const [first] = [...counts].toSorted(([, a], [, b]) => b.length - a.length);
  return String(first?.[0] ?? 0n);
}
