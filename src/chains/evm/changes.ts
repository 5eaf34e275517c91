/** Effects of a transaction on an account, from the transaction and its receipt. */
import { isAddressEqual } from 'viem';
import { type Chain, tokenAt } from '../../../domain/chains.ts';
import { type BalanceChange, coin } from '../ports.ts';
import type { Transaction } from './accounts.ts';
import { addressIn, checksummed } from './addresses.ts';
import { type RawLog, type Receipt, transferTopic } from './reads.ts';

/** Since EIP-7708 it logs movements of the coin, which are read from the transaction here. */
const systemAddress = '0xfffffffffffffffffffffffffffffffffffffffe';

/**
 * Tokens from their logs, and the coin that the transaction itself carries. No receipt reveals coin that contracts move. Others'
 * transactions count only for catalogue tokens.
 * @param account with its checksum
 */
export function changesIn(
  chain: Chain,
  account: string,
  transaction: Transaction,
  { succeeded, logs }: Receipt,
): readonly BalanceChange[] {
  if (!succeeded) return [];
  const own = transaction.from.toLowerCase() === account.toLowerCase();
  const tokens = logs.flatMap((log) => {
    const asset =
      tokenAt(chain, log.address)?.address ?? (own ? checksummed(log.address.slice(2).toLowerCase()) : null);
    return asset === null ? [] : changeInLog(log, asset, account);
  });
  return [...coinIn(account, transaction), ...tokens];
}

/** Movement of an account in a log; nothing if the log is no token transfer from or to it. */
export function changeInLog(log: RawLog, asset: string, account: string): readonly BalanceChange[] {
  const [topic, from, to, more] = log.topics;
  const isTransfer = topic === transferTopic && from && to && !more && log.data.length === 66;
  if (!isTransfer || log.removed || isAddressEqual(log.address, systemAddress)) return [];
  return moved(account, { asset, from: addressIn(from), to: addressIn(to), amount: BigInt(log.data) });
}

function coinIn(account: string, { from, to, value_wei }: Transaction): readonly BalanceChange[] {
  const spelled = (address: string) => checksummed(address.slice(2).toLowerCase());
  return moved(account, {
    asset: coin,
    from: spelled(from),
    to: to === undefined ? null : spelled(to),
    amount: value_wei,
  });
}

interface Move {
  readonly asset: string;
  readonly from: string;
  /** Null for a contract creation. */
  readonly to: string | null;
  readonly amount: bigint;
}

/** An account's payment to itself changes nothing. */
function moved(account: string, { asset, from, to, amount }: Move): readonly BalanceChange[] {
  if (amount === 0n || from === to) return [];
  if (from === account) return [{ asset, amount: -amount, counterparty: to }];
  return to === account ? [{ asset, amount, counterparty: from }] : [];
}
