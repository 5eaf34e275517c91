/** Accepts transactions: checks them first, unless the caller skips that, and puts them into the newest slot. */
import { type Address, getSolanaErrorFromTransactionError } from '@solana/kit';
import { RpcError } from '../../rpcError.ts';
import type { Account } from '../chain/account.ts';
import type { TransactionError } from '../chain/errors.ts';
import { isLoadFailure, loadedBytes, tokenBalances } from '../chain/execute.ts';
import { feeOf } from '../chain/fee.ts';
import type { TokenBalance } from '../chain/history.ts';
import type { Outcome } from '../chain/machine.ts';
import { isSigned } from '../chain/signatures.ts';
import {
  keysOf,
  type LoadedAddresses,
  loadAddresses,
  parseTransaction,
  type Submitted,
  sanitize,
} from '../chain/transaction.ts';
import { airdrop } from '../faucet.ts';
import { accountView } from './accountView.ts';
import { bytesOfTransaction, undecodable } from './bytes.ts';
import { checkHealth, latestBlockhash } from './cluster.ts';
import { airdropConfig, sendConfig, simulateConfig, type TransactionEncoding } from './configs.ts';
import { addressOf, contextSlot, inContext, invalid, type Params, rpcCodes, type View } from './method.ts';
import { defineMethod, optional, readParams, text, u64 } from './params.ts';
import { innerView } from './transactionView.ts';

const noSendOptions = sendConfig({});
const noSimulateOptions = simulateConfig({});

export const sendTransaction = defineMethod(
  [text, optional(sendConfig)],
  1,
  (view, encoded, config = noSendOptions) => {
    const submitted = submittedFrom(encoded, config.encoding);
    if (!config.skipPreflight) preflight(view, submitted, config);
    // A transaction that cannot land is accepted, too, as on the network.
    if (view.head === view.chain.head()) view.chain.send(submitted);
    return submitted.signature;
  },
);

/** Returns the signature that `sendTransaction` would return without a preflight. @throws RpcError */
export function signatureIn(params: Params): string {
  const [encoded, config] = readParams(params, 1, [text, optional(sendConfig)]);
  return submittedFrom(encoded, config?.encoding).signature;
}

/** @throws RpcError if the text is not a transaction */
function submittedFrom(encoded: string, encoding: TransactionEncoding = 'base58'): Submitted {
  if (encoding === 'json' || encoding === 'jsonParsed')
    throw invalid(`unsupported encoding: ${encoding}. Supported encodings: base58, base64`);
  const bytes = bytesOfTransaction(encoded, encoding === 'base64' ? 'base64' : 'base58');
  let submitted: Submitted;
  try {
    submitted = parseTransaction(bytes);
  } catch (error) {
    throw undecodable(error instanceof Error ? error.message : String(error));
  }
  if (sanitize(submitted)) return submitted;
  throw invalid('invalid transaction: Transaction failed to sanitize accounts offsets correctly');
}

function preflight(view: View, submitted: Submitted, config: typeof noSendOptions): void {
  const { preflightCommitment: commitment, minContextSlot } = config;
  const slot = contextSlot(view, { commitment, minContextSlot });
  const simulation = simulate(view, submitted, { slot, signaturesChecked: true, anyBlockhash: false });
  if (simulation.err !== 'SignatureFailure') checkHealth(view);
  if (simulation.err === null) return;
  throw new RpcError(rpcCodes.preflightFailure, `Transaction simulation failed: ${errorText(simulation)}`, {
    ...outcomeView(simulation),
    loadedAddresses: null,
    preBalances: null,
    postBalances: null,
    preTokenBalances: null,
    postTokenBalances: null,
  });
}

interface Options {
  /** Runs on the state of this slot. */
  readonly slot: number;
  readonly signaturesChecked: boolean;
  readonly anyBlockhash: boolean;
}

interface Balances {
  readonly preBalances: readonly number[];
  readonly postBalances: readonly number[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
}

interface Simulation extends Outcome {
  /** Null: the transaction could not even begin. In lamports. */
  readonly fee: number | null;
  readonly loadedBytes: number;
  readonly loaded: LoadedAddresses;
  readonly keys: readonly Address[];
  /** False if no instruction began. */
  readonly isRun: boolean;
  /** Undefined: the signatures are wrong, and nothing was loaded. */
  readonly balances: Balances | undefined;
  /** An account as the transaction left it. */
  readonly after: (address: Address) => Account | undefined;
}

const nothingLoaded: LoadedAddresses = { writable: [], readonly: [] };
/** The first account cannot pay: no block accepts the transaction. */
const neverBegun: readonly TransactionError[] = ['AccountNotFound', 'InsufficientFundsForFee', 'InvalidAccountForFee'];

function simulate(view: View, submitted: Submitted, options: Options): Simulation {
  const { chain } = view;
  const { slot, signaturesChecked, anyBlockhash } = options;
  const { transaction, message } = submitted;
  const accountOf = (address: Address) => chain.accounts.get(address, slot);
  const loaded = loadAddresses(submitted, accountOf);
  const keys = keysOf(submitted, loaded ?? nothingLoaded);
  const notRun = (err: TransactionError): Simulation => ({
    ...{ err, logs: [], unitsConsumed: 0, inner: [] },
    ...{ fee: null, isRun: false, loadedBytes: 0, loaded: loaded ?? nothingLoaded, keys, after: accountOf },
    balances: err === 'SignatureFailure' ? undefined : balancesOf(keys, accountOf, accountOf),
  });
  if (signaturesChecked && !isSigned(transaction)) return notRun('SignatureFailure');
  if (!loaded) return notRun('AddressLookupTableNotFound');
  if (!anyBlockhash && chain.blockhashes.find(message.lifetimeToken, slot) === undefined)
    return notRun('BlockhashNotFound');
  // A block only knows earlier transactions, in itself or in a previous one.
  const landed = chain.history.find(submitted.signature);
  if (landed && landed.slot <= slot) return notRun('AlreadyProcessed');
  chain.machine.setClock(slot, chain.times.at(slot));
  const { outcome, changed } = chain.accounts.asOf(slot, keys, () => chain.machine.simulate(transaction));
  if (outcome.err !== null && neverBegun.includes(outcome.err)) return notRun(outcome.err);
  const fee = feeOf(message);
  const after = (address: Address) => changed.get(address) ?? charged(address, accountOf(address));
  // A failed transaction changes only the balance of its first account, which pays.
  const charged = (address: Address, account: Account | undefined) =>
    outcome.err !== null && address === keys[0] && account ? { ...account, lamports: account.lamports - fee } : account;
  return {
    ...outcome,
    ...{
      fee: Number(fee),
      isRun: !isLoadFailure(outcome.err),
      loadedBytes: loadedBytes(keys, accountOf),
      loaded,
      keys,
      after,
    },
    balances: balancesOf(keys, accountOf, after),
  };
}

type AccountOf = (address: Address) => Account | undefined;

function balancesOf(keys: readonly Address[], before: AccountOf, after: AccountOf): Balances {
  const lamports = (accountOf: AccountOf) => keys.map((key) => Number(accountOf(key)?.lamports ?? 0n));
  return {
    preBalances: lamports(before),
    postBalances: lamports(after),
    preTokenBalances: tokenBalances(keys, before),
    postTokenBalances: tokenBalances(keys, after),
  };
}

/** In the network's words: the last line of the logs contains an instruction's failure, too. */
function errorText({ err, logs }: Outcome): string {
  if (err === 'SignatureFailure') return 'Transaction did not pass signature verification';
  if (typeof err !== 'object' || err === null || !('InstructionError' in err)) {
    return getSolanaErrorFromTransactionError(err as never).message;
  }
  const [index, reason] = err['InstructionError'] as [number, unknown];
  const [, said] = logs.findLast((line) => line.includes(' failed: '))?.split(' failed: ') ?? [];
  return `Error processing Instruction ${index}: ${said ?? JSON.stringify(reason)}`;
}

const outcomeView = ({ err, logs, unitsConsumed, fee, loadedBytes }: Simulation) => ({
  accounts: null as unknown,
  err,
  fee,
  innerInstructions: null as unknown,
  loadedAccountsDataSize: loadedBytes,
  logs,
  replacementBlockhash: null as unknown,
  returnData: null,
  unitsConsumed,
});

export const simulateTransaction = defineMethod(
  [text, optional(simulateConfig)],
  1,
  (view, encoded, config = noSimulateOptions) => {
    const { sigVerify, replaceRecentBlockhash, innerInstructions, accounts } = config;
    const submitted = submittedFrom(encoded, config.encoding);
    const slot = contextSlot(view, config);
    if (sigVerify && replaceRecentBlockhash) throw invalid('sigVerify may not be used with replaceRecentBlockhash');
    const simulation = simulate(view, submitted, {
      slot,
      signaturesChecked: sigVerify,
      anyBlockhash: replaceRecentBlockhash,
    });
    const { balances, loaded, keys } = simulation;
    return inContext(slot, {
      ...outcomeView(simulation),
      accounts: accounts ? accountsAfter(simulation, accounts) : null,
      ...(innerInstructions &&
        simulation.isRun && { innerInstructions: innerView({ ...simulation, keys }, 'jsonParsed') }),
      loadedAddresses: loaded,
      preBalances: balances?.preBalances ?? null,
      postBalances: balances?.postBalances ?? null,
      preTokenBalances: balances?.preTokenBalances ?? null,
      postTokenBalances: balances?.postTokenBalances ?? null,
      ...(replaceRecentBlockhash && { replacementBlockhash: latestBlockhash(view, slot) }),
    });
  },
);

function accountsAfter(
  { err, keys, after }: Simulation,
  {
    encoding = 'base64',
    addresses,
  }: { readonly encoding?: Encoding | undefined; readonly addresses: readonly string[] },
): readonly unknown[] {
  if (encoding === 'binary' || encoding === 'base58') throw invalid('base58 encoding not supported');
  if (addresses.length > keys.length) throw invalid(`Too many accounts provided; max ${keys.length}`);
  const wanted = addresses.map(addressOf);
  return wanted.map((address) =>
    err === null && keys.includes(address) ? accountView(after(address), after, { encoding }) : null,
  );
}

type Encoding = NonNullable<Parameters<typeof accountView>[2]>['encoding'] & {};

export const requestAirdrop = defineMethod(
  [text, u64, optional(airdropConfig)],
  2,
  ({ chain }, key, lamports, _config) => {
    const latest = { blockhash: chain.blockhashes.at(chain.head()), count: chain.history.count() };
    const record = chain.land(airdrop(chain.genesis, addressOf(key), BigInt(lamports), latest));
    if (!record) throw new RpcError(rpcCodes.internal, 'airdrop request failed');
    return record.signature;
  },
);
