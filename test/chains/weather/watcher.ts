/** Follows a chain for one deposit the way the service does: every pass, what is set aside read by itself, and nothing final unless nodes agree. */
import { type Cursor, type Ingester, type Pass, type TransferLog, transferOf } from '../../../commands/chainPorts.ts';
import { type Transfer, transferId } from '../../../domain/payment/events.ts';
import type { Payin } from './trial.ts';

const { signal } = new AbortController();

export interface Watched {
  readonly ingesterOf: (urls: readonly string[]) => Ingester;
  readonly urls: readonly string[];
  readonly paid: bigint;
  readonly isOurs: (transfer: Pick<TransferLog, 'to' | 'memo'>) => boolean;
  /** Where each pass stands when the payin is made. */
  readonly from: ReadonlyMap<Pass, Cursor>;
}

export function watcher({ ingesterOf, urls, paid, isOurs, from }: Watched): Payin {
  let ingester = ingesterOf(urls);
  const cursors = new Map(from);
  /** What `final` has told of, or what was set aside and can be read now: confirmed once nodes agree. */
  const found = new Map<string, Transfer>();
  const confirmed = new Map<string, bigint>();
  const unreadable = new Set<string>();
  const unexplained = new Set<string>();

  async function add(log: TransferLog): Promise<void> {
    if (!isOurs(log)) return;
    const transfer = ingester.resolve ? await ingester.resolve(log, signal) : transferOf(ingester.chainId, log);
    if (transfer) found.set(transferId(transfer), transfer);
  }

  async function scan(pass: Pass): Promise<void> {
    const cursor = cursors.get(pass);
    if (!cursor) return;
    for await (const range of ingester.scan(cursor, signal)) {
      for (const log of range.logs) await add(log);
      for (const { txHash } of range.unreadable ?? []) unreadable.add(txHash);
      for (const address of range.unexplained ?? []) unexplained.add(address);
      cursors.set(pass, range.next);
    }
  }

  async function readAside(): Promise<void> {
    for (const txHash of unreadable) {
      const transfers = await ingester.lookUp(txHash, signal);
      for (const transfer of transfers) {
        if (isOurs({ to: transfer.to, memo: transfer.memo ?? null })) found.set(transferId(transfer), transfer);
      }
      unreadable.delete(txHash);
    }
    for (const address of unexplained) {
      const read = await ingester.readDeposit?.(address, signal);
      for (const log of read?.logs ?? []) await add(log);
      if (read?.explained) unexplained.delete(address);
    }
  }

  async function confirm(): Promise<void> {
    for (const [id, transfer] of found) {
      const { agreed } = await ingester.agreed(transfer, { pass: 'final', usd: 1n }, signal);
      if (agreed) confirmed.set(id, BigInt(transfer.amount));
    }
  }

  return {
    paid,
    async look() {
      // Passes run apart from each other in the service: the failure of one ends no other.
      const outcomes = [];
      for (const step of [...ingester.passes.map((pass) => () => scan(pass)), readAside, confirm]) {
        outcomes.push(
          await step().then(
            () => undefined,
            (error: Error) => error,
          ),
        );
      }
      const failure = outcomes.find((outcome) => outcome !== undefined);
      if (failure && confirmed.size === 0) throw failure;
    },
    restart(others) {
      ingester = ingesterOf(others);
    },
    confirmed: () => [...confirmed.values()].reduce((sum, amount) => sum + amount, 0n),
  };
}
