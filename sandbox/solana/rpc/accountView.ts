/** One account as JSON-RPC returns it, in the encoding that a request names. */
import { zstdCompressSync } from 'node:zlib';
import { type Address, getBase58Decoder, isSome, unwrapOption } from '@solana/kit';
import { AccountState } from '@solana-program/token';
import { RpcError } from '../../rpcError.ts';
import type { Account } from '../chain/account.ts';
import { mintOf, tokenAccountOf, tokenPrograms, uiAmount } from '../chain/tokens.ts';
import type { AccountEncoding } from './configs.ts';
import { rpcCodes } from './method.ts';

type AccountOf = (address: Address) => Account | undefined;

export interface AccountOptions {
  readonly encoding?: AccountEncoding | undefined;
  readonly dataSlice?: { readonly offset: number; readonly length: number } | undefined;
}

const base58Bytes_max = 128;
/** Accounts pay no rent any more; nodes return this instead of an epoch. */
const rentEpoch = 2n ** 64n - 1n;

/**
 * @param accountOf for the mint of a token account
 * @param how `told`: a notification, which must handle data that is too large for base 58
 */
export function accountView(
  account: Account | undefined,
  accountOf: AccountOf,
  options: AccountOptions = {},
  how: 'asked' | 'told' = 'asked',
): unknown {
  if (!account) return null;
  const { lamports, owner, executable, data } = account;
  return {
    data: dataView(account, accountOf, options, how),
    executable,
    lamports,
    owner,
    rentEpoch,
    space: data.length,
  };
}

function dataView(account: Account, accountOf: AccountOf, options: AccountOptions, how: 'asked' | 'told'): unknown {
  const { encoding = 'binary', dataSlice: { offset, length } = { offset: 0, length: account.data.length } } = options;
  const data = account.data.subarray(offset, offset + length);
  switch (encoding) {
    case 'jsonParsed':
      return parsedData(account, accountOf) ?? [base64(data), 'base64'];
    case 'base64':
      return [base64(data), encoding];
    case 'base64+zstd':
      return [base64(zstdCompressSync(data)), encoding];
    case 'base58':
      return [base58(data, how), encoding];
    case 'binary':
      return base58(data, how);
  }
}

const base64 = (data: Uint8Array): string => Buffer.from(data).toString('base64');

function base58(data: Uint8Array, how: 'asked' | 'told'): string {
  if (data.length <= base58Bytes_max) return getBase58Decoder().decode(data);
  if (how === 'told') return 'error: data too large for bs58 encoding';
  throw new RpcError(
    rpcCodes.invalidRequest,
    `Encoded binary (base 58) data should be less than ${base58Bytes_max} bytes, please use Base64 encoding.`,
  );
}

function parsedData(account: Account, accountOf: AccountOf): unknown {
  const program = tokenPrograms.get(account.owner);
  if (!program) return undefined;
  const told = (type: string, info: object) => ({ parsed: { type, info }, program, space: account.data.length });
  const token = tokenAccountOf(account);
  const itsMint = token && mintOf(accountOf(token.mint));
  if (token && itsMint) {
    const { mint, owner, amount, state, delegatedAmount } = token;
    const [delegate, closeAuthority] = [unwrapOption(token.delegate), unwrapOption(token.closeAuthority)];
    return told('account', {
      ...(closeAuthority && { closeAuthority }),
      ...(delegate && { delegate, delegatedAmount: uiAmount(delegatedAmount, itsMint.decimals) }),
      isNative: isSome(token.isNative),
      mint,
      owner,
      state: state === AccountState.Frozen ? 'frozen' : 'initialized',
      tokenAmount: uiAmount(amount, itsMint.decimals),
    });
  }
  const mint = mintOf(account);
  if (!mint) return undefined;
  return told('mint', {
    decimals: mint.decimals,
    freezeAuthority: unwrapOption(mint.freezeAuthority),
    isInitialized: mint.isInitialized,
    mintAuthority: unwrapOption(mint.mintAuthority),
    supply: String(mint.supply),
  });
}
