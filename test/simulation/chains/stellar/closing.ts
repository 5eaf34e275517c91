/** Closes ledgers: includes pending transactions, as fees and sequence numbers allow. */
import type { Submitted } from '../../../../sandbox/stellar/transactions/envelope.ts';
import type { Kernel } from '../../kernel/ports.ts';
import { landing } from './landing.ts';
import { balanceKey, type Landed, type Ledger, type Ledgers, native, sequenceKey } from './ledgers.ts';
import { apply, baseFee, type Entries, entriesAt, outbids, problemOf } from './transactions.ts';

export interface Closing {
  /** Closes a ledger; undefined while the network is stopped. */
  close(): Ledger | undefined;
  /** A transaction that a node announces. */
  take(submitted: Submitted): void;
  /** A foreign transaction, for the ledger after this many. */
  put(submitted: Submitted, wait_ledgers: number): void;
  /** True if no ledger will include it any more. */
  isOver(source: string, hash: string): boolean;
  /** Current minimum offer of an operation, in stroops. */
  inclusion(): bigint;
  calm(): void;
}

interface ClosingOptions {
  readonly kernel: Kernel;
  readonly ledgers: Ledgers;
  readonly passphrase: string;
}

const dear_stroops = 5_000n;

export function createClosing({ kernel, ledgers, passphrase }: ClosingOptions): Closing {
  const { fails, random } = kernel;
  const queue = new Map<string, Submitted>();
  let others: { readonly submitted: Submitted; readonly from: number }[] = [];
  let standsUntil_ms = 0;
  let dearUntil = 0;

  const inclusion = () => (ledgers.head().sequence < dearUntil ? dear_stroops : baseFee);

  /** Customers have the money that they send. */
  function endow(entries: Entries, { source, transaction }: Submitted): void {
    entries.set(sequenceKey(source), BigInt(transaction.sequence) - 1n);
    entries.set(balanceKey(native, source), 10n ** 10n);
    for (const operation of transaction.operations)
      if (operation.type === 'payment')
        entries.set(balanceKey(`${operation.asset.getCode()}:${operation.asset.getIssuer()}`, source), 10n ** 18n);
  }

  function landedIn(sequence: number, closedAt_s: number, entries: Entries): readonly Landed[] {
    const landed: Landed[] = [];
    const land = (submitted: Submitted) => {
      const where = { passphrase, sequence, closedAt_s, order: landed.length + 1 };
      landed.push(landing(submitted, apply(submitted, entries), where));
    };
    for (const { submitted } of others.filter(({ from }) => from <= sequence)) {
      endow(entries, submitted);
      land(submitted);
    }
    others = others.filter(({ from }) => from > sequence);
    for (const [source, submitted] of queue) {
      if (problemOf(submitted, entries, closedAt_s) !== undefined) {
        queue.delete(source);
        continue;
      }
      const offered = submitted.feeMax / BigInt(submitted.operationsPaid);
      if (offered < inclusion() || fails('stellar.queue.waits', 0.1)) continue;
      queue.delete(source);
      if (!fails('stellar.queue.loses', 0.03)) land(submitted);
    }
    return landed;
  }

  return {
    inclusion,
    put: (submitted, wait_ledgers) => void others.push({ submitted, from: ledgers.head().sequence + 1 + wait_ledgers }),
    take(submitted) {
      const other = queue.get(submitted.source);
      if (!other || outbids(submitted, other)) queue.set(submitted.source, submitted);
    },
    isOver: (source, hash) => queue.get(source)?.hash !== hash,
    close() {
      if (kernel.now_ms() < standsUntil_ms) return undefined;
      if (fails('stellar.ledger.stalls', 0.003)) {
        standsUntil_ms = kernel.now_ms() + (10 + random.below(60)) * 1_000;
        return undefined;
      }
      if (fails('stellar.fees.rise', 0.005)) dearUntil = ledgers.head().sequence + 2 + random.below(60);
      const before = ledgers.head();
      const sequence = before.sequence + 1;
      const closedAt_s = Math.max(before.closedAt_s + 1, Math.floor(kernel.now_ms() / 1_000));
      const entries = entriesAt(ledgers, before.sequence);
      const ledger = { sequence, closedAt_s, landed: landedIn(sequence, closedAt_s, entries) };
      ledgers.close(ledger, entries.changes);
      return ledger;
    },
    calm() {
      standsUntil_ms = 0;
      dearUntil = 0;
    },
  };
}
