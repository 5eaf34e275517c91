/** Follows a chain for one deposit like the service: reads every pass and each set-aside transaction, and confirms only what nodes agree on. */
import { type Cursor, type Ingester, type Pass, type TransferLog, transferOf } from '../../../commands/chainPorts.ts';
import { type Transfer, transferId } from '../../../domain/payment/events.ts';
import type { Payin } from './trial.ts';

const { signal } = new AbortController();

export interface Watched {
  readonly ingesterOf: (urls: readonly string[]) => Ingester;
  readonly urls: readonly string[];
  readonly paid: bigint;
  readonly isOurs: (transfer: Pick<TransferLog, 'to' | 'memo'>) => boolean;
  /** Cursors of the passes at the time of the payin. */
  readonly from: ReadonlyMap<Pass, Cursor>;
}

export function watcher({ ingesterOf, urls, paid, isOurs, from }: Watched): Payin {
  let ingester = ingesterOf(urls);
  const cursors = new Map(from);
  /** Transfers of `final`, and set-aside transactions that are readable now: confirmed once nodes agree. */
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
      // In the service passes run independently: the failure of one does not end another.
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
