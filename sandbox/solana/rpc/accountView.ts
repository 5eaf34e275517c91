/** One account as JSON-RPC tells it, in the encoding that was asked for. */
import { type Address, getBase58Decoder, isSome, unwrapOption } from '@solana/kit';
import { AccountState } from '@solana-program/token';
import type { Account } from '../chain/account.ts';
import { mintOf, tokenAccountOf, tokenPrograms, uiAmount } from '../chain/tokens.ts';
import { type Config, invalid, RpcError, rpcCodes } from './method.ts';

type AccountOf = (address: Address) => Account | undefined;

const base58Bytes_max = 128;
/** Accounts pay no rent any more; this is what is told instead of an epoch. */
const rentEpoch = 2n ** 64n - 1n;

/**
 * @param accountOf for the mint of a token account
 * @param how `told`: a notification, which has to say something of data that is too large for base 58
 */
export function accountView(
  account: Account | undefined,
  accountOf: AccountOf,
  config: Config,
  how: 'asked' | 'told' = 'asked',
): unknown {
  if (!account) return null;
  const { lamports, owner, executable, data } = account;
  return {
    data: dataView(account, accountOf, config, how),
    executable,
    lamports,
    owner,
    rentEpoch,
    space: data.length,
  };
}

function dataView(account: Account, accountOf: AccountOf, config: Config, how: 'asked' | 'told'): unknown {
  const data = sliced(account.data, config['dataSlice']);
  const { encoding = 'binary' } = config;
  switch (encoding) {
    case 'jsonParsed':
      return parsedData(account, accountOf) ?? [Buffer.from(data).toString('base64'), 'base64'];
    case 'base64':
      return [Buffer.from(data).toString('base64'), 'base64'];
    case 'base58':
      return [base58(data, how), 'base58'];
    case 'binary':
      return base58(data, how);
    default:
      throw invalid(`encoding ${String(encoding)} is not known here`);
  }
}

function base58(data: Uint8Array, how: 'asked' | 'told'): string {
  if (data.length <= base58Bytes_max) return getBase58Decoder().decode(data);
  if (how === 'told') return 'error: data too large for bs58 encoding';
  throw new RpcError(
    rpcCodes.invalidRequest,
    `Encoded binary (base 58) data should be less than ${base58Bytes_max} bytes, please use Base64 encoding.`,
  );
}

function sliced(data: Uint8Array, slice: unknown): Uint8Array {
  if (slice === undefined || slice === null) return data;
  const { offset, length } = slice as { offset?: unknown; length?: unknown };
  const fits = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  if (!fits(offset) || !fits(length)) throw invalid('dataSlice needs offset and length, whole numbers from 0');
  return data.subarray(offset, offset + length);
}

function parsedData(account: Account, accountOf: AccountOf): unknown {
  const program = tokenPrograms.get(account.owner);
  if (!program) return undefined;
  const told = (type: string, info: object) => ({ parsed: { type, info }, program, space: account.data.length });
  const token = tokenAccountOf(account);
  const itsMint = token && mintOf(accountOf(token.mint));
  if (token && itsMint) {
    const { mint, owner, amount, state } = token;
    return told('account', {
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
