/** What a transaction did to an account, as its receipt and the transaction itself tell it. */
import { isAddressEqual } from 'viem';
import { type Chain, tokenAt } from '../../../domain/chains.ts';
import { type Change, coin } from '../ports.ts';
import type { Transaction } from './accounts.ts';
import { addressIn, checksummed } from './addresses.ts';
import { type RawLog, type Receipt, transferTopic } from './reads.ts';

/** Since EIP-7708 it logs movements of the coin, which the transaction itself tells here. */
const systemAddress = '0xfffffffffffffffffffffffffffffffffffffffe';

/**
 * Tokens by their own logs, and the coin that the transaction itself carries. What contracts do with the coin no receipt tells. Of others'
 * transactions only tokens of the catalogue count.
 * @param account with its checksum
 */
export function changesIn(
  chain: Chain,
  account: string,
  transaction: Transaction,
  { succeeded, logs }: Receipt,
): readonly Change[] {
  if (!succeeded) return [];
  const own = transaction.from.toLowerCase() === account.toLowerCase();
  const tokens = logs.flatMap((log) => {
    const asset =
      tokenAt(chain, log.address)?.address ?? (own ? checksummed(log.address.slice(2).toLowerCase()) : null);
    return asset === null ? [] : movedIn(log, asset, account);
  });
  return [...coinIn(account, transaction), ...tokens];
}

/** What a log says of an account; nothing where it is no transfer of a token from or to it. */
export function movedIn(log: RawLog, asset: string, account: string): readonly Change[] {
  const [topic, from, to, more] = log.topics;
  const isTransfer = topic === transferTopic && from && to && !more && log.data.length === 66;
  if (!isTransfer || log.removed || isAddressEqual(log.address, systemAddress)) return [];
  return moved(account, { asset, from: addressIn(from), to: addressIn(to), amount: BigInt(log.data) });
}

function coinIn(account: string, { from, to, value_wei }: Transaction): readonly Change[] {
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
  /** Null for a contract that is being made. */
  readonly to: string | null;
  readonly amount: bigint;
}

/** What an account pays to itself changes nothing. */
function moved(account: string, { asset, from, to, amount }: Move): readonly Change[] {
  if (amount === 0n || from === to) return [];
  if (from === account) return [{ asset, amount: -amount, counterparty: to }];
  return to === account ? [{ asset, amount, counterparty: from }] : [];
}
