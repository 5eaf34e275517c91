/** The chain of slots over the virtual machine: transactions land in the newest one; forks remove them again. */
import type { Address } from '@solana/kit';
import { type Account, saveAccount } from './account.ts';
import type { Accounts, SavedAccounts } from './accounts.ts';
import type { Blockhashes } from './blockhashes.ts';
import type { BlockTimes } from './blockTimes.ts';
import { type Finality, slotAt } from './commitments.ts';
import { execute } from './execute.ts';
import type { History, TransactionRecord } from './history.ts';
import { type JournalLine, openJournal } from './journal.ts';
import type { Machine } from './machine.ts';
import { compacted, type RestoreOptions, restore } from './restore.ts';
import { isSigned } from './signatures.ts';
import { parseTransaction, type Submitted } from './transaction.ts';

export interface Chain {
  readonly genesis: string;
  readonly finality: Finality;
  readonly machine: Machine;
  readonly accounts: Accounts;
  readonly history: History;
  readonly blockhashes: Blockhashes;
  readonly times: BlockTimes;
  /** The first slot since the process started. */
  readonly openedAt: number;
  /** The newest slot. */
  head(): number;
  /** Advances to later slots, each at least this many seconds after the previous one. */
  advance(slots: number, seconds?: number): void;
  /** Undefined: it cannot land, or has landed before; nothing has changed. */
  land(submitted: Submitted): TransactionRecord | undefined;
  /** Lands it now, or in a later slot if its accounts allow that before its blockhash expires. Nodes try again, too. */
  send(submitted: Submitted): void;
  /** Writes accounts without a transaction. */
  plant(write: (accounts: Pick<Accounts, 'get'>) => readonly (readonly [Address, Account])[]): void;
  /**
   * Removes everything after a slot; other blocks, without transactions, replace it.
   * @param landAgain the same transactions land again in the newest slot, if they still can
   * @returns the removed signatures
   * @throws Error if the slot is final
   */
  fork(to: number, landAgain: boolean): readonly string[];
  /** Called after each change. */
  onChange(listener: () => void): void;
  stop(): void;
}

export interface ChainOptions extends RestoreOptions {
  readonly finality: Finality;
}

/** Maximum empty slots between two lines of the journal. A restart continues after them. */
const reserve_slots = 32;
/** Maximum lag of a node. */
export const lag_slotsMax = 64;
const waitingMax = 1_000;
/** Journal size at which it is rewritten without forgotten transactions. */
const journalBytesMax = 64 * 1024 * 1024;

export function openChain(options: ChainOptions): Chain {
  const { finality, stateFile, now_s } = options;
  const parts = restore(options);
  const { genesis, machine, accounts, history, blockhashes, times } = parts;
  const open = () => (stateFile ? openJournal(stateFile, ...compacted(parts, head)) : undefined);
  let { head } = parts;
  let reserved = head;
  let journal = open();
  const listeners: (() => void)[] = [];
  /** Sent transactions that cannot land yet, by signature. A restart forgets them. */
  const waiting = new Map<string, Submitted>();

  const note = (line: Omit<JournalLine, 'slot' | 'time_s' | 'reserved'>) => {
    if (head > reserved) reserved = head + reserve_slots;
    journal?.append({ slot: head, time_s: times.at(head), reserved, ...line });
    if (journal && journal.written() > journalBytesMax) {
      journal.close();
      journal = open();
    }
    for (const listener of listeners) listener();
  };
  const saved = (addresses: Iterable<Address>): SavedAccounts =>
    Object.fromEntries([...addresses].map((each) => [each, saveAccount(accounts.get(each))]));

  const mayLand = ({ signature, message, transaction }: Submitted): boolean =>
    history.find(signature) === undefined &&
    blockhashes.find(message.lifetimeToken, head) !== undefined &&
    isSigned(transaction);

  const self: Chain = {
    genesis,
    finality,
    machine,
    accounts,
    history,
    blockhashes,
    times,
    openedAt: head + 1,
    head: () => head,
    advance(slots, seconds = 0) {
      if (slots < 1) return;
      times.add(head + slots, Math.max(times.at(head) + slots * seconds, now_s()));
      head += slots;
      blockhashes.reach(head);
      if (head > reserved) note({});
      else for (const listener of listeners) listener();
      for (const submitted of waiting.values()) {
        if (self.land(submitted) !== undefined || !mayLand(submitted)) waiting.delete(submitted.signature);
      }
      // Subscribers are notified of the slots' changes before they are forgotten.
      accounts.settle(slotAt('finalized', head, finality) - lag_slotsMax);
    },
    land(submitted) {
      if (history.find(submitted.signature)) return undefined;
      if (Object.values(submitted.transaction.signatures).includes(null)) return undefined;
      if (blockhashes.find(submitted.message.lifetimeToken, head) === undefined) return undefined;
      const landed = execute(parts, { slot: head, time_s: times.at(head) }, submitted);
      if (!landed) return undefined;
      history.add(landed.record);
      note({ transaction: landed.record, accounts: saved(landed.changed) });
      return landed.record;
    },
    send(submitted) {
      if (self.land(submitted) !== undefined || !mayLand(submitted)) return;
      if (waiting.size < waitingMax) waiting.set(submitted.signature, submitted);
    },
    plant(write) {
      const written = write(accounts);
      for (const [address, account] of written) accounts.put(head, address, account);
      note({ accounts: saved(written.map(([address]) => address)) });
    },
    fork(to, landAgain) {
      const final = slotAt('finalized', head, finality);
      if (to < final || to >= head) throw new Error(`a fork goes back to a slot from ${final} to ${head - 1}`);
      const gone = history.rollback(to);
      accounts.rollback(to);
      blockhashes.fork(to + 1);
      self.advance(1);
      note({ rolledBackTo: to });
      if (landAgain) for (const { bytes } of gone) self.land(parseTransaction(Buffer.from(bytes, 'base64')));
      return gone.map(({ signature }) => signature);
    },
    onChange: (listener) => void listeners.push(listener),
    stop: () => journal?.close(),
  };
  self.advance(1);
  return self;
}
