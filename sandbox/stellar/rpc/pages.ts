/** Pages that begin at a ledger or follow a cursor, as getTransactions and getLedgers share them. */
import { RpcError } from '../../rpcError.ts';
import { rpcCodes } from './method.ts';
import { formatProblem, structure, text, uint, uint32 } from './params.ts';

export const ledgerPage = structure({
  startLedger: uint32,
  pagination: structure({ cursor: text, limit: uint }),
  xdrFormat: text,
});
type LedgerPage = ReturnType<typeof ledgerPage>;

interface Range {
  readonly oldestLedger: number;
  readonly latestLedger: number;
}

/** @throws RpcError that names the first fault of the page, and a fault of its format on a separate line */
export function checkPage(page: LedgerPage, range: Range, limitMax: number): void {
  const problems = [pageProblem(page, range, limitMax), formatProblem(page.xdrFormat)];
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new RpcError(rpcCodes.invalidRequest, found.join('\n'));
}

function pageProblem(
  { startLedger, pagination: { cursor, limit } }: LedgerPage,
  { oldestLedger, latestLedger }: Range,
  limitMax: number,
): string | undefined {
  if (cursor !== '' && startLedger > 0) return `startLedger (${startLedger}) and cursor (${cursor}) cannot both be set`;
  if (cursor === '' && (startLedger < oldestLedger || startLedger > latestLedger))
    return `start ledger (${startLedger}) must be between the oldest ledger: ${oldestLedger} and the latest ledger: ${latestLedger} for this rpc instance`;
  return limit > limitMax ? `limit must not exceed ${limitMax}` : undefined;
}

const integers = {
  /** 64 bits with a sign. */
  ParseInt: { pattern: /^[+-]?\d+$/, min: -(2n ** 63n), max: 2n ** 63n - 1n },
  /** 32 bits. */
  ParseUint: { pattern: /^\d+$/, min: 0n, max: 2n ** 32n - 1n },
};

/** Reads a cursor. @throws RpcError */
export function parseInteger(cursor: string, how: keyof typeof integers): bigint {
  const { pattern, min, max } = integers[how];
  const fail = (why: string) => new RpcError(rpcCodes.invalidParams, `strconv.${how}: parsing "${cursor}": ${why}`);
  if (!pattern.test(cursor)) throw fail('invalid syntax');
  const value = BigInt(cursor.replace('+', ''));
  if (value < min || value > max) throw fail('value out of range');
  return value;
}
