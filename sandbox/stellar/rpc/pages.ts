/** Pages that begin at a ledger or follow a cursor, as getTransactions and getLedgers share them. */
import { RpcError, rpcCodes } from './method.ts';
import { formatProblem, structure, text, uint, uint32 } from './params.ts';

export const ledgerPage = structure({
  startLedger: uint32,
  pagination: structure({ cursor: text, limit: uint }),
  xdrFormat: text,
});
type LedgerPage = ReturnType<typeof ledgerPage>;

/** @throws RpcError that names all faults, one a line */
export function checkPage(
  { startLedger, pagination: { cursor, limit }, xdrFormat }: LedgerPage,
  { oldestLedger, latestLedger }: { readonly oldestLedger: number; readonly latestLedger: number },
  limitMax: number,
): void {
  const problems: (string | undefined)[] = [];
  if (cursor !== '') {
    if (startLedger > 0) problems.push(`startLedger (${startLedger}) and cursor (${cursor}) cannot both be set`);
  } else if (startLedger < oldestLedger || startLedger > latestLedger) {
    problems.push(
      `start ledger (${startLedger}) must be between the oldest ledger: ${oldestLedger} and the latest ledger: ${latestLedger} for this rpc instance`,
    );
  } else if (limit > limitMax) problems.push(`limit must not exceed ${limitMax}`);
  problems.push(formatProblem(xdrFormat));
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new RpcError(rpcCodes.invalidRequest, found.join('\n'));
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
