/** A landed transaction in JSON-RPC's format, in the requested encoding. */
import { getBase58Decoder } from '@solana/kit';
import { RpcError } from '../../rpcError.ts';
import { isLoadFailure } from '../chain/execute.ts';
import type { TransactionRecord } from '../chain/history.ts';
import type { Budget } from '../chain/message.ts';
import { isWritable, parseTransaction, type Submitted } from '../chain/transaction.ts';
import type { TransactionEncoding } from './configs.ts';
import { parseInstruction } from './instructions.ts';
import { rpcCodes } from './method.ts';

export interface TransactionOptions {
  readonly encoding?: TransactionEncoding | undefined;
  readonly maxSupportedTransactionVersion?: number | undefined;
  /** For a block. */
  readonly rewards?: boolean | undefined;
}

const base58 = getBase58Decoder();

/** @throws RpcError if the caller does not support the transaction's version */
export function transactionView(record: TransactionRecord, config: TransactionOptions) {
  const { encoding = 'json' } = config;
  const submitted = understood(record, config);
  return {
    transaction: encoded(record, submitted, encoding),
    meta: metaView(record, config),
    ...versionFor(submitted, config),
  };
}

/**
 * For `transactionDetails: accounts`, in any encoding: its accounts in order, and the outcome.
 * @throws RpcError as `transactionView`
 */
export function accountsView(record: TransactionRecord, config: TransactionOptions) {
  const submitted = understood(record, config);
  const { err, status, fee, rewards, ...balances } = metaView(record, config);
  const { preBalances, postBalances, preTokenBalances, postTokenBalances } = balances;
  return {
    transaction: { signatures: submitted.signatures, accountKeys: accountKeys(record, submitted.message) },
    meta: {
      err,
      status,
      fee,
      preBalances,
      postBalances,
      preTokenBalances,
      postTokenBalances,
      ...(rewards && { rewards }),
    },
    ...versionFor(submitted, config),
  };
}

const versionFor = (
  { message: { version } }: Submitted,
  { maxSupportedTransactionVersion: supported }: TransactionOptions,
) => (supported === undefined ? {} : { version });

function understood(
  { bytes }: TransactionRecord,
  { maxSupportedTransactionVersion: supported }: TransactionOptions,
): Submitted {
  const submitted = parseTransaction(Buffer.from(bytes, 'base64'));
  const { version } = submitted.message;
  if (version === 'legacy' || (supported !== undefined && supported >= version)) return submitted;
  throw new RpcError(
    rpcCodes.unsupportedVersion,
    `Transaction version (${version}) is not supported by the requesting client. ` +
      'Please try the request again with the following configuration parameter: ' +
      `"maxSupportedTransactionVersion": ${version}`,
  );
}

function encoded(record: TransactionRecord, submitted: Submitted, encoding: TransactionEncoding): unknown {
  if (encoding === 'base64') return [record.bytes, 'base64'];
  if (encoding === 'base58') return [base58.decode(submitted.bytes), 'base58'];
  if (encoding === 'binary') return base58.decode(submitted.bytes);
  const { signatures, message } = submitted;
  const parsed = encoding === 'jsonParsed';
  const addressTableLookups = message.lookupTables.map(({ lookupTableAddress, writableIndexes, readonlyIndexes }) => ({
    accountKey: lookupTableAddress,
    writableIndexes,
    readonlyIndexes,
  }));
  return {
    signatures,
    message: {
      accountKeys: parsed ? accountKeys(record, message) : message.staticAccounts,
      ...(!parsed && { header: headerView(message) }),
      recentBlockhash: message.lifetimeToken,
      instructions: message.instructions.map((instruction) =>
        instructionView(
          record,
          {
            programIdIndex: instruction.programAddressIndex,
            accounts: instruction.accountIndices ?? [],
            data: new Uint8Array(instruction.data ?? []),
            stackHeight: 1,
          },
          encoding,
        ),
      ),
      ...(message.version === 0 && { addressTableLookups }),
      ...(message.budget && { transactionConfig: budgetView(message.budget) }),
    },
  };
}

const budgetView = ({ computeUnitLimit, heapSize, loadedAccountsDataSizeLimit, priorityFeeLamports }: Budget) => ({
  computeUnitLimit: computeUnitLimit ?? null,
  heapSize: heapSize ?? null,
  loadedAccountsDataSizeLimit: loadedAccountsDataSizeLimit ?? null,
  priorityFee: priorityFeeLamports ?? null,
});

const headerView = ({ header }: Submitted['message']) => ({
  numRequiredSignatures: header.numSignerAccounts,
  numReadonlySignedAccounts: header.numReadonlySignerAccounts,
  numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
});

const accountKeys = ({ keys, loaded }: TransactionRecord, message: Submitted['message']) =>
  keys.map((pubkey, place) => ({
    pubkey,
    signer: place < message.header.numSignerAccounts,
    source: place < message.staticAccounts.length ? 'transaction' : 'lookupTable',
    writable: isWritable(message, loaded, place),
  }));

interface Instruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

function instructionView(
  { keys }: Pick<TransactionRecord, 'keys'>,
  instruction: Instruction,
  encoding: TransactionEncoding,
): object {
  const { programIdIndex, accounts, data, stackHeight } = instruction;
  if (encoding !== 'jsonParsed') return { programIdIndex, accounts, data: base58.decode(data), stackHeight };
  const programId = keys[programIdIndex] ?? '';
  const named = accounts.map((place) => keys[place] ?? '');
  const parsed = parseInstruction(programId, named, data);
  return parsed
    ? { ...parsed, programId, stackHeight }
    : { programId, accounts: named, data: base58.decode(data), stackHeight };
}

/** The inner calls of instructions, by instruction. */
export const innerView = (
  record: Pick<TransactionRecord, 'inner' | 'keys'>,
  encoding: TransactionEncoding,
): readonly object[] =>
  record.inner.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((each) =>
      instructionView(record, { ...each, data: Buffer.from(each.data, 'base64') }, encoding),
    ),
  }));

function metaView(record: TransactionRecord, { encoding = 'json', rewards = true }: TransactionOptions) {
  const { err, fee, logs, unitsConsumed, costUnits, loaded } = record;
  const { preBalances, postBalances, preTokenBalances, postTokenBalances } = record;
  const isRun = !isLoadFailure(err);
  return {
    err,
    status: err === null ? { Ok: null } : { Err: err },
    fee,
    preBalances,
    postBalances,
    preTokenBalances,
    postTokenBalances,
    innerInstructions: isRun ? innerView(record, encoding) : null,
    logMessages: isRun ? logs : null,
    computeUnitsConsumed: unitsConsumed,
    costUnits,
    rewards: rewards ? [] : null,
    ...(encoding !== 'jsonParsed' && { loadedAddresses: loaded }),
  };
}
