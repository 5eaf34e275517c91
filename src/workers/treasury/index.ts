/** Dependencies of withdrawal orders. */
import type { BlocksAfter, BooksAccount, BooksDeps, RecordedMovements } from '../../../commands/books.ts';
import { currentState } from '../../../commands/handle.ts';
import type { PaidDeposit } from '../../../commands/sweeps/ports.ts';
import type { SweepDeps } from '../../../commands/sweeps/sweep.ts';
import type { TransferOwners } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { assert, type Cause } from '../../../domain/decider.ts';
import { coinOf, microUsdDecimals, parseAmount } from '../../../domain/money.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { terminalStatuses } from '../../../domain/payment/view.ts';
import { hour_ms, minute_ms, plus } from '../../../domain/time.ts';
import type { Sql } from '../../../projections/sql.ts';
import { paidDeposits } from '../../../queries/payins.ts';
import { openObligations } from '../../../queries/payouts.ts';
import {
  depositsAmong,
  type MovementsOf,
  movedBetween,
  movedHashes,
  openTransfersOf,
  owedCoin,
  recordedHashes,
  transfersToAsk,
} from '../../../queries/treasury.ts';
import { familyAddresses } from '../../chains/families.ts';
import type { OpenChain } from '../../chains/family.ts';
import type { Core } from '../../core.ts';
import { createCursors } from '../../postgres/cursors.ts';
import { createFailures } from '../../postgres/failures.ts';
import { unexplainedName } from '../payins/unreadable.ts';
import type { OwedOn } from '../payouts/unsettledAmounts.ts';
import type { RoleWorker } from '../run.ts';
import type { AdoptDeps } from './adopt.ts';
import { booksWorker } from './books.ts';
import { sweepsWorker } from './sweeps.ts';
import type { UnknownTransactionsDeps } from './unknownTransactions.ts';
import type { WithdrawalDeps } from './withdraw.ts';

/** Amounts that a chain's treasury owes, from the read models. */
export const owedOn =
  (sql: Sql): OwedOn =>
  async (chainId, but) => {
    const [obligations, coin] = await Promise.all([openObligations(sql, but), owedCoin(sql, chainId, but)]);
    const own = obligations.filter((each) => each.chainId === chainId);
    const withdrawn = parseAmount(coin.withdrawn, coinOf(chainId).decimals);
    assert(typeof withdrawn === 'bigint', 'amounts of coin are kept in whole coins');
    return {
      tokens: new Map(own.map(({ tokenAddress, amount }) => [tokenAddress, amount])),
      coin: withdrawn,
      payouts: coin.payouts,
    };
  };

const inMicroUsd = (whole: bigint): bigint => whole * 10n ** BigInt(microUsdDecimals);

/** Waits for the read models, which must know recent orders. */
export function withdrawals({ config, handle, clock, chains, database, caughtUp }: Core): WithdrawalDeps {
  const coins = new Map(config.chains.map(({ chainId, coin }) => [chainId, coin]));
  const owed = owedOn(database);
  return {
    handle,
    clock,
    addresses: familyAddresses,
    rails: new Map([...chains].map(([id, { rail }]) => [id, rail])),
    owedOn: async (chainId, but) => {
      await caughtUp();
      return owed(chainId, but);
    },
    priceOf(chainId) {
      const coin = coins.get(chainId);
      assert(coin !== undefined, 'a chain that is configured has a coin');
      return coin;
    },
    limits: {
      approval_microUsd: inMicroUsd(config.withdrawals.approval_usd),
      perTransfer_microUsd: inMicroUsd(config.signer.perTransfer_usd),
    },
  };
}

// Dependencies of the search for unknown transactions.

/** Waits for the read models, which must know recent signatures. */
export function unknownTransactionsOn(
  core: Core,
  chainId: ChainId,
  owners: TransferOwners,
): UnknownTransactionsDeps & AdoptDeps {
  const { clock, chains, database, caughtUp } = core;
  const chain = chains.get(chainId);
  assert(chain !== undefined, 'a chain that is asked about is configured');
  return {
    handle: core.handle,
    clock,
    rail: chain.rail,
    history: chain.history,
    owners,
    addresses: familyAddresses,
    recorded: async (hashes, since) => {
      await caughtUp();
      return recordedHashes(database, { chainId, hashes, since });
    },
    toAsk: (since) => transfersToAsk(database, { chainId, since }),
    async payinsReadTo() {
      const cursors = createCursors(database);
      const ends = [...chains].map(([id, { ingester }]) =>
        cursors.scannedTo(
          id,
          ingester.passes.filter((pass) => pass !== 'head'),
        ),
      );
      const [earliest = null] = (await Promise.all(ends)).toSorted((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1));
      return earliest;
    },
    openTransfers: async (asset, amount) => {
      await caughtUp();
      return openTransfersOf(database, { chainId, asset, amount });
    },
  };
}

/** Dependencies of the treasury accounts' books, for the worker that watches them and for the operator's tool. */
const booksIdle_ms = 15_000;

/** The account itself, those that number its transfers, and the relay account. @throws ChainUnavailable */
export async function booksAccountsOf(
  { rail, ingester, relaying }: OpenChain,
  signal: AbortSignal,
): Promise<readonly BooksAccount[]> {
  const { chainId, account: own } = rail;
  const { numbering } = rail;
  const numberedBy = numbering.kind === 'sequence' ? await numbering.accounts(signal) : [];
  const relay = relaying ? [relaying.rail.account] : [];
  const accounts = new Set([own, ...numberedBy.map(({ account }) => account), ...relay]);
  const shared = ingester.sharedAddresses.includes(own) ? ingester.sharedAddresses : [];
  return [...accounts].map((account) => ({ chainId, account, payinAddresses: account === own ? shared : [] }));
}

export const recordedMovements = (
  { chainId, account, payinAddresses }: BooksAccount,
  range: BlocksAfter,
): MovementsOf => ({
  chainId,
  account,
  accounts: [...new Set([account, ...payinAddresses])],
  ...range,
});

const recordedIn = (sql: Sql): RecordedMovements => ({
  moved: (of, range) => movedBetween(sql, recordedMovements(of, range)),
  hashes: (of, range) => movedHashes(sql, recordedMovements(of, range)),
  deposits: (addresses) => depositsAmong(sql, addresses),
});

export const booksDeps = (
  { workHandle, clock, database }: Pick<Core, 'workHandle' | 'clock' | 'database'>,
  { history }: OpenChain,
): BooksDeps => ({ handle: workHandle, clock, history, recorded: recordedIn(database) });

export const booksWorkers = (core: Core): readonly RoleWorker[] =>
  [...core.chains].map(([chainId, chain]) => ({
    worker: booksWorker(
      {
        ...booksDeps(core, chain),
        accounts: (signal) => booksAccountsOf(chain, signal),
        alarm: core.telemetry.alarm,
      },
      chainId,
    ),
    idle_ms: booksIdle_ms,
  }));

// Sweeps that this process can order: no key is needed for that.

/** Age of receipts that scheduled sweeps consider; the command considers all. */
const lately_ms = 30 * 24 * hour_ms;

/** Undefined for a chain that needs none, or is not served. @param lately excludes older receipts */
export function sweepDepsFor(
  { chains, config, workHandle: handle, clock, crash, database }: Core,
  chainId: ChainId,
  by: Cause,
  { lately = false } = {},
): SweepDeps | undefined {
  const sweep = chains.get(chainId)?.openSweep?.((paymentId) => currentState(handle, paymentDecider, paymentId));
  const coin = config.chains.find((setting) => setting.chainId === chainId)?.coin;
  if (!sweep || !coin) return undefined;
  const statuses = terminalStatuses;
  const since = () => (lately ? { since: plus(clock.now(), -lately_ms) } : {});
  const paid = (after: PaidDeposit | null, max: number) =>
    paidDeposits(database, chainId, { statuses, after: after?.paymentId ?? '', max, ...since() });
  const failures = createFailures(database);
  const readUnrecorded = (address: string) =>
    failures.note(unexplainedName(chainId), address, 'a sweep found money that is not recorded', clock.now());
  return { handle, clock, crash, by, sweep, coin, paid, readUnrecorded };
}

/** None unless configured. */
export function sweepWorkers(core: Core): readonly RoleWorker[] {
  const { config, telemetry } = core;
  const { every_min, least_microUsd } = config.sweeps;
  if (every_min === null) return [];
  const swept = config.chains.flatMap(({ chainId, sweepGasPriceMax: gasPriceMax = null }) => {
    const deps = sweepDepsFor(core, chainId, 'worker:sweeps', { lately: true });
    return deps ? [[chainId, { deps, limits: { least_microUsd, gasPriceMax, evenAtALoss: false } }] as const] : [];
  });
  const worker = sweepsWorker({
    chains: new Map(swept),
    every_ms: every_min * minute_ms,
    tell: (chainId, summary) => telemetry.logger.info({ chainId, ...summary }, 'deposits were swept'),
    waits: (chainId, why) => telemetry.logger.info({ chainId }, `sweeps wait: ${why}`),
  });
  return swept.length > 0 ? [{ worker, idle_ms: minute_ms }] : [];
}
