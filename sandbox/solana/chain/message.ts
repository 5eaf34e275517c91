/** Content of a transaction: one form for legacy messages, version 0 and version 1. */
import {
  type Address,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  decompileTransactionMessage,
  getCompiledTransactionMessageDecoder,
  type ReadonlyUint8Array,
} from '@solana/kit';

export interface Instruction {
  readonly programAddressIndex: number;
  readonly accountIndices?: readonly number[];
  readonly data?: ReadonlyUint8Array;
}

export interface LookupTable {
  readonly lookupTableAddress: Address;
  readonly writableIndexes: readonly number[];
  readonly readonlyIndexes: readonly number[];
}

type Compiled = CompiledTransactionMessage & CompiledTransactionMessageWithLifetime;

export interface Message extends Pick<Compiled, 'version' | 'header' | 'staticAccounts' | 'lifetimeToken'> {
  readonly instructions: readonly Instruction[];
  /** Empty except in version 0. */
  readonly lookupTables: readonly LookupTable[];
  /** Only in version 1: the other versions call the compute budget program instead. */
  readonly budget: Budget | undefined;
}

/** Limits of version 1: an omitted one is zero. The fee is for all units together. */
export interface Budget {
  readonly computeUnitLimit?: number;
  readonly heapSize?: number;
  readonly loadedAccountsDataSizeLimit?: number;
  readonly priorityFeeLamports?: bigint;
}

/** @throws Error if the bytes are not a message of a known version */
export function messageIn(bytes: ReadonlyUint8Array): Message {
  const message = getCompiledTransactionMessageDecoder().decode(bytes);
  const { version, header, staticAccounts, lifetimeToken } = message;
  const common = { version, header, staticAccounts, lifetimeToken };
  if (message.version !== 1) {
    const lookupTables = ('addressTableLookups' in message && message.addressTableLookups) || [];
    return { ...common, instructions: message.instructions, lookupTables, budget: undefined };
  }
  const instructions = message.instructionHeaders.map(({ programAccountIndex }, place) => ({
    programAddressIndex: programAccountIndex,
    accountIndices: message.instructionPayloads[place]?.instructionAccountIndices ?? [],
    data: message.instructionPayloads[place]?.instructionData ?? new Uint8Array(),
  }));
  return { ...common, instructions, lookupTables: [], budget: decompileTransactionMessage(message).config ?? {} };
}
