/** The ledgers of a simulated Stellar: closed ones stay. What accounts held is known for each of them, so that nodes may be behind. */
import type { EventRecord } from '../../../../sandbox/stellar/chain/history.ts';
import type { TransactionRecord } from '../../../../sandbox/stellar/transactions/apply.ts';

export interface Moved {
  /** Asset in the catalogue's spelling; `native` for lumens. */
  readonly asset: string;
  readonly from: string;
  readonly to: string;
  readonly memo: string | null;
  readonly amount: bigint;
}

/** A transaction in a ledger, and its events in the nodes' format. */
export interface Landed {
  readonly record: TransactionRecord;
  /** Events of its fee, then of its operation. */
  readonly events: readonly EventRecord[];
  /** Events in full, XDR in base64. */
  readonly feeXdr: string;
  readonly operationXdr: readonly string[];
  readonly moved: readonly Moved[];
}

export interface Ledger {
  readonly sequence: number;
  readonly closedAt_s: number;
  readonly landed: readonly Landed[];
}

export const sequenceKey = (account: string): string => `sequence ${account}`;
/** Undefined where an account does not exist, or has no trustline. */
export const balanceKey = (asset: string, account: string): string => `${asset} ${account}`;
export const native = 'native';

export interface Ledgers {
  head(): Ledger;
  first(): Ledger;
  at(sequence: number): Ledger | undefined;
  /** Ledgers with transactions, oldest first. */
  busy(): readonly Ledger[];
  close(ledger: Ledger, changes: ReadonlyMap<string, bigint>): void;
  /** Something as of a ledger. */
  valueAt(sequence: number, key: string): bigint | undefined;
  find(hash: string): Landed | undefined;
}

interface Version {
  readonly since: number;
  readonly value: bigint;
}

/** Empty ledgers before the first: nodes remember more than a day, and are queried for it. */
const before_ledgers = 30_000;

export function createLedgers(first: Ledger, held: ReadonlyMap<string, bigint>, ledger_ms: number): Ledgers {
  const empty = (sequence: number): Ledger => ({
    sequence,
    closedAt_s: first.closedAt_s - Math.ceil(((first.sequence - sequence) * ledger_ms) / 1_000),
    landed: [],
  });
  const oldest = empty(first.sequence - before_ledgers);
  const all: Ledger[] = [];
  const busy: Ledger[] = [];
  const versions = new Map<string, Version[]>();
  const byHash = new Map<string, Landed>();

  function close(ledger: Ledger, changes: ReadonlyMap<string, bigint>): void {
    all.push(ledger);
    if (ledger.landed.length > 0) busy.push(ledger);
    for (const [key, value] of changes) {
      const known = versions.get(key) ?? [];
      known.push({ since: ledger.sequence, value });
      versions.set(key, known);
    }
    for (const landed of ledger.landed) {
      const { hash, innerHash } = landed.record;
      byHash.set(hash, landed);
      if (innerHash) byHash.set(innerHash, landed);
    }
  }
  close(first, held);

  return {
    head: () => all.at(-1) ?? first,
    first: () => oldest,
    at: (sequence) => (sequence < first.sequence ? empty(sequence) : all[sequence - first.sequence]),
    busy: () => busy,
    close,
    valueAt: (sequence, key) => versions.get(key)?.findLast(({ since }) => since <= sequence)?.value,
    find: (hash) => byHash.get(hash),
  };
}
