/** The real virtual machine with its real programs; it knows accounts and a clock, and nothing of blocks. */
import { type Address, lamports, type Transaction } from '@solana/kit';
import { FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from 'litesvm';
import type { Account } from './account.ts';
import { type CctpView, type Played, playCctp } from './cctp.ts';
import { type TransactionError, transactionError } from './errors.ts';

export interface CompiledInner {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  /** Base64. */
  readonly data: string;
  readonly stackHeight: number;
}

/** Outcome of a transaction. Plain JSON. */
export interface Outcome {
  readonly err: TransactionError | null;
  readonly logs: readonly string[];
  readonly unitsConsumed: number;
  readonly inner: readonly { readonly index: number; readonly instructions: readonly CompiledInner[] }[];
}

export interface Simulated {
  readonly outcome: Outcome;
  /** Accounts as a successful transaction left them. */
  readonly changed: ReadonlyMap<Address, Account>;
}

export interface Machine {
  get(address: Address): Account | undefined;
  put(address: Address, account: Account | undefined): void;
  setClock(slot: number, time_s: number): void;
  /** @param keys all accounts that the transaction names: it changes no others */
  execute(transaction: Transaction, keys: readonly Address[]): Outcome;
  /** Runs it without effect, regardless of signatures. */
  simulate(transaction: Transaction): Simulated;
  /** Lamports that an account of this many bytes must hold. */
  rentExempt(bytes: number): bigint;
}

const none: Account = {
  lamports: 0n,
  owner: '11111111111111111111111111111111' as Address,
  executable: false,
  data: new Uint8Array(),
};

/** Accounts that change with every slot. */
const sysvars = 'Sysvar1111111111111111111111111111111111111' as Address;
/** Maximum cached accounts. Reading one from the virtual machine is the slowest part of an answer. */
const rememberedMax = 50_000;

/** The chain checks blockhashes and duplicates, because only it knows the rollbacks. */
export function createMachine(): Machine {
  const svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n);
  const remembered = new Map<Address, Account | undefined>();
  const read = (address: Address): Account | undefined => {
    const account = svm.getAccount(address);
    if (!account.exists) return undefined;
    const { lamports, programAddress: owner, executable, data } = account;
    return { lamports, owner, executable, data: new Uint8Array(data) };
  };
  const view = (): CctpView => {
    const { slot, unixTimestamp: time_s } = svm.getClock();
    return { get: read, rentExempt: (bytes) => svm.minimumBalanceForRentExemption(BigInt(bytes)), slot, time_s };
  };
  const unchecked = <T>(act: () => T): T => {
    svm.withSigverify(false);
    try {
      return act();
    } finally {
      svm.withSigverify(true);
    }
  };
  const self: Machine = {
    get(address) {
      if (remembered.has(address)) return remembered.get(address);
      const account = read(address);
      if (remembered.size >= rememberedMax) remembered.clear();
      if (account?.owner !== sysvars) remembered.set(address, account);
      return account;
    },
    put(address, account = none) {
      const { owner, executable, data } = account;
      remembered.delete(address);
      svm.setAccount({
        address,
        lamports: lamports(account.lamports),
        programAddress: owner,
        executable,
        data,
        space: BigInt(data.length),
      });
    },
    setClock(slot, time_s) {
      const clock = svm.getClock();
      clock.slot = BigInt(slot);
      clock.unixTimestamp = BigInt(time_s);
      svm.setClock(clock);
      svm.setSlotHashes([{ slot: BigInt(slot - 1), hash: svm.latestBlockhash() }]);
    },
    execute(transaction, keys) {
      for (const key of keys) remembered.delete(key);
      const played = playCctp(transaction, view(), keys);
      if (!played) return outcomeOf(svm.sendTransaction(transaction));
      // The chain has checked the signatures, which cover the whole message.
      const outcome = withCalls(outcomeOf(unchecked(() => svm.sendTransaction(played.rest))), played);
      if (outcome.err === null)
        for (const [address, effect] of played.effects) self.put(address, effect(read(address)));
      return outcome;
    },
    simulate(transaction) {
      const played = playCctp(transaction, view());
      const result = unchecked(() => svm.simulateTransaction(played?.rest ?? transaction));
      if (result instanceof FailedTransactionMetadata)
        return { outcome: withCalls(outcomeOf(result), played), changed: new Map() };
      const after = result.postAccounts().map(({ address, lamports, programAddress: owner, executable, data }) => {
        const account: Account = { lamports, owner, executable, data: new Uint8Array(data) };
        return [address, account] as const;
      });
      const changed = new Map(after);
      for (const [address, effect] of played?.effects ?? [])
        changed.set(address, effect(changed.get(address) ?? read(address)));
      return { outcome: withCalls(outcomeOf(result.meta()), played), changed };
    },
    rentExempt: (bytes) => svm.minimumBalanceForRentExemption(BigInt(bytes)),
  };
  return self;
}

/** The outcome with the calls of the protocol, which the machine did not run. */
function withCalls(outcome: Outcome, played: Played | undefined): Outcome {
  if (!played) return outcome;
  const { failed, logs, units } = played;
  const isRun = typeof outcome.err === 'object' && outcome.err !== null && 'InstructionError' in outcome.err;
  return {
    ...outcome,
    ...(failed && isRun && { err: { InstructionError: [failed.index, failed.error] } }),
    logs: failed ? logs : [...outcome.logs, ...logs],
    unitsConsumed: outcome.unitsConsumed + units,
  };
}

function outcomeOf(result: FailedTransactionMetadata | TransactionMetadata): Outcome {
  const failed = result instanceof FailedTransactionMetadata;
  const meta = failed ? result.meta() : result;
  const inner = meta.innerInstructions().map((instructions, index) => ({
    index,
    instructions: instructions.map((each) => {
      const instruction = each.instruction();
      return {
        programIdIndex: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: Buffer.from(instruction.data()).toString('base64'),
        stackHeight: each.stackHeight(),
      };
    }),
  }));
  return {
    err: failed ? transactionError(result.err()) : null,
    logs: meta.logs(),
    unitsConsumed: Number(meta.computeUnitsConsumed()),
    inner: inner.filter(({ instructions }) => instructions.length > 0),
  };
}
