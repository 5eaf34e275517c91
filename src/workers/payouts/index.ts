/** Outgoing transfers of the treasury: one worker per chain executes them, another checks their nonces, a third rechecks settled ones. */

import { Unavailable } from '../../../commands/ports.ts';
import type { PayoutRail, TransferOwners } from '../../../commands/transferPorts.ts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { assert, isRefusal } from '../../../domain/decider.ts';
import { hour_ms } from '../../../domain/time.ts';
import { referenceOf, type TransferKey } from '../../../domain/transfer/shapes.ts';
import {
  dueTransfers,
  recentTransfers,
  settledTransfers,
  unsettledOf,
  waitingPayouts,
} from '../../../queries/transfers.ts';
import { derivesDepositFromPayment, ownDepositsOf } from '../../chains/families.ts';
import type { SpentLately } from '../../chains/money/spending.ts';
import type { Signers } from '../../chains/open.ts';
import type { Core } from '../../core.ts';
import { serializeByKey } from '../../lib/concurrency.ts';
import {
  arePayoutsToPause,
  notePayoutWait,
  payoutsArePaused,
  payoutsWaitingSince,
} from '../../postgres/payoutWaits.ts';
import type { RoleWorker } from '../run.ts';
import { pausePayouts } from '../treasury/account.ts';
import { owedOn, unknownTransactionsOn } from '../treasury/index.ts';
import { compareOutflows } from '../treasury/outflows.ts';
import { auditWorker, createOutflowCheck } from './audit.ts';
import { batchesWorker, createTogether } from './batches.ts';
import { noncesWorker } from './cancels.ts';
import { impossibleWorker } from './fate.ts';
import {
  createFundingProof,
  createFundingUses,
  createOwnMoney,
  createUnmatchedProof,
  type FundingUses,
  type OwnMoneyChecks,
} from './fundingProof.ts';
import { numberingMemory } from './numberingAccounts.ts';
import {
  batchOwner,
  operationOwner,
  payoutOwner,
  rebalanceOwner,
  refundOwner,
  relayOwner,
  unmatchedRefundOwner,
} from './owners.ts';
import { createRecall, pauseAfterRestore } from './recall.ts';
import { createUnsettledAmounts, type OwedOn } from './unsettledAmounts.ts';
import { transfersWorker, transfersWorkerName } from './worker.ts';

/** The signers' limit of remembered signatures. */
const recentMax = 100_000;
const auditIdle_ms = 30_000;
const noncesIdle_ms = 5_000;
const impossibleIdle_ms = 60_000;
const batchesIdle_ms = 1_000;
const lookLeast_ms = 200;

export interface OwnerNeeds extends Pick<Core, 'workHandle' | 'clock' | 'chains' | 'receiverChecks'> {
  /** Amount that a withdrawal must leave. */
  readonly owed: OwedOn;
  /** Null on an instance whose signer checks the money's owner, or that signs nothing. */
  readonly own: OwnMoneyChecks | null;
  /** Null in the same cases. */
  readonly uses: FundingUses | null;
}

/** Every stream that may owe a transfer; the only list of them. */
export function transferOwners(needs: OwnerNeeds): TransferOwners {
  const { workHandle: handle, clock, chains, receiverChecks, owed, own, uses } = needs;
  const ofPayments = { handle, clock, proveFunding: createFundingProof(chains, own, uses) };
  const railOf = (chainId: ChainId) => chains.get(chainId)?.rail;
  return {
    payout: payoutOwner(ofPayments),
    refund: refundOwner(ofPayments),
    batch: batchOwner(ofPayments),
    relay: relayOwner({ handle, clock }),
    operation: operationOwner({ handle, clock, railOf, owedOn: owed }),
    rebalance: rebalanceOwner({ handle, clock, railOf, owedOn: owed, receiverChecks }),
    unmatchedRefund: unmatchedRefundOwner({ handle, clock, proveMoney: createUnmatchedProof(chains, own, uses) }),
  };
}

/** A separate signer makes the same check itself, and only it can identify deposits on Solana. */
function ownMoneyOf({ config, workHandle: handle, store, chains }: Core): OwnMoneyChecks | null {
  if (config.signing.remote !== null) return null;
  const ingesters = new Map([...chains].map(([chainId, { ingester }]) => [chainId, ingester]));
  return createOwnMoney({ handle, store: store.workers, ingesters, isOwnDeposit: ownDepositsOf(config.treasuries) });
}

function fundingUsesOf({ config, workHandle: handle, clock }: Core): FundingUses | null {
  return config.signing.remote === null ? createFundingUses({ handle, clock, derivesDepositFromPayment }) : null;
}

const ownersOn = (core: Core): TransferOwners =>
  transferOwners({ ...core, owed: owedOn(core.database), own: ownMoneyOf(core), uses: fundingUsesOf(core) });

/** All in one instance: the signers' hourly limit counts over all chains. */
export function transferWorkers(core: Core, signers: Signers, lately: SpentLately): readonly RoleWorker[] {
  const { workHandle, clock, crash, chains, database, telemetry } = core;
  const turn = serializeByKey();
  const owners = ownersOn(core);
  const recent = (since: Parameters<typeof recentTransfers>[1]['since']) =>
    recentTransfers(database, { since, max: recentMax });
  const coins = new Map(core.config.chains.map(({ chainId, coin }) => [chainId, coin]));
  const recall = createRecall({ clock, lately, owners, coins, recent });
  return [...chains].flatMap(([chainId, { rail, poll_ms }]) => {
    const signer = signers.get(chainOf(chainId).family);
    assert(signer !== undefined, `configuration gives a key for chain ${chainId}`);
    const worker = transfersWorkerName(chainId);
    const memory = numberingMemory();
    const oneByOne = <T>(work: () => Promise<T>) => turn(worker, work);
    const signing = { handle: workHandle, clock, rail, signer, memory, owners, inTurn: oneByOne };
    const outflows = createOutflowCheck({
      clock,
      compare: async (signal) => {
        const { found, unseenBefore } = await compareOutflows(unknownTransactionsOn(core, chainId, owners), signal);
        return { unknown: found.length, unseenBefore };
      },
      alarm: (reason, message) => telemetry.alarm(reason, { chainId }, message),
    });
    const restored = restoredOn(core, rail);
    const settings = core.config.chains.find((chain) => chain.chainId === chainId)?.payoutBatch;
    const together = settings && createTogether(settings.wait_s * 1_000);
    const transfers = {
      worker: transfersWorker({
        ...signing,
        crash,
        poll_ms,
        look_ms: lookAt(chainId, poll_ms),
        due: async (max, now) => {
          await restored();
          await recall();
          await outflows();
          const left = together && { together: together.left(now) };
          return await dueTransfers(database, { worker, chainId, max, now, ...left });
        },
        refused: (kind, detail) => telemetry.countRefusal(chainId, kind, detail),
        alarm: (key, reason, message) => telemetry.alarm(reason, factsOf(chainId, key), message),
        noteWait: (key, reason, message) => {
          const wait = { paymentId: referenceOf(key), chainId, reason, message };
          void notePayoutWait(database, wait, clock.now()).catch(() => {});
        },
        unsettledAmounts: createUnsettledAmounts((token, but) => unsettledOf(database, { chainId, token, but }), clock),
      }),
      // No notification announces payouts that are paid alone after all.
      ...(together && { idle_ms: batchesIdle_ms }),
    };
    const nonces = { worker: noncesWorker({ ...signing, alarm: telemetry.alarm }), idle_ms: noncesIdle_ms };
    if (!settings || !together || !rail.batching) return [transfers, nonces];
    const batches = batchesWorker({
      handle: workHandle,
      clock,
      crash,
      rail,
      batching: rail.batching,
      together,
      ...settings,
      waiting: (max, now) => waitingPayouts(database, { worker, chainId, max, now }),
      tell: (told) => telemetry.logger.info({ chainId, ...told }, 'payouts share a transaction'),
    });
    return [transfers, nonces, { worker: batches, idle_ms: batchesIdle_ms }];
  });
}

/**
 * Relays of payers' authorizations: of each chain with a relay account, transfers and nonces of that account alone. They share no nonce, no
 * signer, no worker and no limit with payouts.
 */
export function relayWorkers(core: Core, signers: Signers): readonly RoleWorker[] {
  const { workHandle: handle, clock, crash, chains, database, telemetry } = core;
  const turn = serializeByKey();
  const owners = ownersOn(core);
  return [...chains].flatMap(([chainId, { relaying, poll_ms }]) => {
    const signer = signers.get(chainOf(chainId).family);
    if (!relaying || !signer) return [];
    const { rail } = relaying;
    const name = relaysWorkerName(chainId);
    const inTurn = <T>(work: () => Promise<T>) => turn(name, work);
    const signing = { handle, clock, rail, signer, memory: numberingMemory(), owners, inTurn };
    const worker = transfersWorker({
      ...signing,
      name,
      crash,
      poll_ms,
      look_ms: lookAt(chainId, poll_ms),
      due: (max, now) => dueTransfers(database, { worker: name, chainId, max, now, relays: true }),
      refused: (kind, detail) => telemetry.countRefusal(chainId, kind, detail),
      alarm: (key, reason, message) => telemetry.alarm(reason, factsOf(chainId, key), message),
      // An authorization uses only gas of the relay account's balance.
      unsettledAmounts: createUnsettledAmounts(async () => 0n, clock),
    });
    const nonces = noncesWorker({ ...signing, name: `${name}:nonces`, alarm: telemetry.alarm });
    return [{ worker }, { worker: nonces, idle_ms: noncesIdle_ms }];
  });
}

const relaysWorkerName = (chainId: ChainId): string => `relays:${chainId}`;

/** A nonce becomes free with a block: a busy account is checked once per block, at most a few times a second. */
const lookAt = (chainId: ChainId, poll_ms: number): number =>
  Math.min(poll_ms, Math.max(chainOf(chainId).block_ms, lookLeast_ms));

const restoredReason = 'the log was restored from a backup: compare the treasury first, docs/operate/backup.md';

/** Before its first read of payouts a chain's worker pauses them if the log was restored. */
function restoredOn({ workHandle: handle, clock, database, telemetry }: Core, rail: PayoutRail): () => Promise<void> {
  const { chainId } = rail;
  return pauseAfterRestore({
    toPause: () => arePayoutsToPause(database, chainId),
    async pause() {
      const paused = await pausePayouts({ handle, clock }, rail, restoredReason, { cause: 'worker:payouts' });
      if (isRefusal(paused)) throw new Unavailable(paused.message);
      const message = `payouts are paused: ${restoredReason}; then npm run treasury -- resume`;
      telemetry.alarm('logRestored', { chainId }, message);
    },
    paused: () => payoutsArePaused(database, chainId),
  });
}

/** None if payouts are never given up. */
export function impossiblePayouts(core: Core): readonly RoleWorker[] {
  const { config, workHandle: handle, clock, chains, database, telemetry } = core;
  if (config.payoutImpossible_hours === 0) return [];
  const worker = impossibleWorker({
    handle,
    clock,
    owners: ownersOn(core),
    rails: new Map([...chains].map(([id, { rail }]) => [id, rail])),
    after_ms: config.payoutImpossible_hours * hour_ms,
    refusedSince: (since, max) => payoutsWaitingSince(database, 'refusedByToken', since, max),
    alarm: ({ chainId, paymentId }, message) => telemetry.alarm('payoutImpossible', { chainId, paymentId }, message),
  });
  return [{ worker, idle_ms: impossibleIdle_ms }];
}

export function transferAudits(core: Core): readonly RoleWorker[] {
  const { chains, database, telemetry } = core;
  const owners = ownersOn(core);
  return [...chains].map(([chainId, { rail }]) => ({
    worker: auditWorker({
      owners,
      rail,
      settledSince: (since, max) => settledTransfers(database, { chainId, since, max }),
      alarm: (key, hash) =>
        telemetry.alarm(
          `${key.kind}Orphaned`,
          { ...factsOf(chainId, key), hash },
          'a settled transfer was reorganised out of its chain: its bytes are sent again',
        ),
    }),
    idle_ms: auditIdle_ms,
  }));
}

/** Facts that identify a transfer in alarms. */
const factsOf = (chainId: ChainId, key: TransferKey) =>
  key.kind === 'payout' ? { chainId, paymentId: key.id } : { chainId, transfer: referenceOf(key) };
