/**
 * Payins, payouts, webhooks and expiry: all actions on the world. One active instance each, with standbys; webhooks and expiry can be
 * shared.
 */
import { filter, NEVER, type Observable } from 'rxjs';
import { eventCodec } from '../../commands/codec.ts';
import { currentState } from '../../commands/handle.ts';
import { triesInOutage } from '../../commands/sendWebhook.ts';
import type { ChainId } from '../../domain/chains.ts';
import { merchant } from '../../domain/merchant/state.ts';
import {
  dueExpiries,
  duePolicyRefunds,
  dueWebhooks,
  endedFundings,
  unfinishedMatches,
  type WorkerShare,
} from '../../queries/work.ts';
import { createRates } from '../api/rateLimits.ts';
import { allFamilies } from '../chains/families.ts';
import type { DepositOwner } from '../chains/family.ts';
import { createSpentLately } from '../chains/money/spending.ts';
import { openRelaySigners } from '../chains/open.ts';
import type { Core } from '../core.ts';
import { createCursors, endPassedChannel } from '../postgres/cursors.ts';
import { createDepositOwners, stockChannel } from '../postgres/depositOwners.ts';
import { createFailures } from '../postgres/failures.ts';
import { randomIds } from '../process/system.ts';
import { refuseSetBack } from '../readmodels/logSetBack.ts';
import { remoteOwnersOf, remoteSignerOf, signersOf } from '../signer/index.ts';
import { openOutbox } from './accounts/index.ts';
import { notifyMembers } from './accounts/memberNotices.ts';
import { followForNotices } from './accounts/notices.ts';
import { cashbackChannel, cashbackWorkers } from './cashback/index.ts';
import type { Worker } from './engine.ts';
import { expiryWorker } from './expiry.ts';
import { runHeads } from './heads/index.ts';
import { runChainHealth } from './health/index.ts';
import { depositOwnersWorker } from './payins/depositNeeds.ts';
import { followChanges, payinWorkers } from './payins/index.ts';
import { unfinishedMatchesName, unfinishedMatchesWorker } from './payins/unfinishedMatches.ts';
import { impossiblePayouts, relayWorkers, transferAudits, transferWorkers } from './payouts/index.ts';
import { rebalanceWorkers } from './rebalances/index.ts';
import { refundsOf } from './refunds/index.ts';
import {
  fundedRefundsWorker,
  fundedRefundsWorkerName,
  policyRefundsWorker,
  policyRefundsWorkerName,
} from './refunds/policyRefunds.ts';
import { type RoleWorker, runRoleWorkers, runSharedWorkers } from './run.ts';
import { booksWorkers, sweepWorkers } from './treasury/index.ts';
import { webhookSender } from './webhooks/index.ts';
import { createWebhookWorker, deliveriesPerAppMax, deliveriesPerEndpointMax } from './webhooks/webhooks.ts';

const unmatchedIdle_ms = 30_000;

/** Resolves when the signal has aborted and started work has ended. */
export async function runSubscribersRole(core: Core, signal: AbortSignal): Promise<void> {
  const failures = createFailures(core.database);
  const changes = followChanges(core, signal);
  const lately = createSpentLately();
  const signers = signersOf(core, lately);
  const rebalancing = rebalanceWorkers(core);
  const relaySigners = openRelaySigners(core.config, core.clock, remoteOwnersOf(core.config));
  const told = (name: string): Observable<unknown> =>
    core.notifications.pipe(filter(({ channel }) => channel === name));
  const run = (role: string, wake: Observable<unknown>, ...workers: readonly RoleWorker[]) =>
    runRoleWorkers({ ...core, failures, wake }, role, workers, signal);
  // biome-ignore lint/suspicious/noExplicitAny: a worker hands its own items to itself
  const shared = (role: string, wake: Observable<unknown>, workerOf: (share: WorkerShare) => Worker<any>) => {
    const workersOf = (share: WorkerShare) => [{ worker: workerOf(share) }];
    return runSharedWorkers({ ...core, failures, wake }, role, core.config.workerShares, workersOf, signal);
  };

  await Promise.all([
    ...[...core.chains.values()].map((chain) =>
      run(`payins:${chain.ingester.chainId}`, NEVER, ...payinWorkers(core, failures, chain, changes)),
    ),
    // An instance without the treasury's keys leaves the payouts to one with them.
    ...(signers.size > 0 ? [run('payouts', told('transfers'), ...transferWorkers(core, signers, lately))] : []),
    // A separate role: payouts continue when relays do not, and the reverse.
    ...(relaySigners.size > 0 ? [run('relays', told('transfers'), ...relayWorkers(core, relaySigners))] : []),
    run('books', NEVER, ...booksWorkers(core)),
    ...(rebalancing.length > 0 ? [run('rebalances', NEVER, ...rebalancing)] : []),
    run('payoutAudit', NEVER, ...transferAudits(core)),
    ...impossiblePayouts(core).map((worker) => run('impossiblePayouts', NEVER, worker)),
    run('policyRefunds', told('todo_policy_refunds'), { worker: policyRefunds(core) }, { worker: fundedRefunds(core) }),
    shared('webhooks', told('todo_webhooks'), (share) => webhooks(core, share)),
    run('cashback', told(cashbackChannel), ...cashbackWorkers(core)),
    shared('expiry', told(endPassedChannel), (share) => expiry(core, share)),
    ...depositStock(core).map((worker) => run('depositOwners', told(stockChannel), worker)),
    run('unmatched', NEVER, { worker: unmatchedMoney(core), idle_ms: unmatchedIdle_ms }),
    ...sweepWorkers(core).map((worker) => run('sweeps', NEVER, worker)),
    notices(core, signal),
    memberNotices(core, signal),
    runHeads(core, signal),
    runChainHealth(core, signal),
  ]);
}

/** Filled by an instance with the seed, or with a signer that has it. */
function depositStock({ config, clock, database }: Core): readonly RoleWorker[] {
  const owners = createDepositOwners(database);
  const stocked = (make: (count: number) => Promise<readonly DepositOwner[]>): RoleWorker => ({
    worker: depositOwnersWorker({ owners, clock, make }),
  });
  const remote = config.treasuries.solana && remoteSignerOf(config);
  if (remote) return [stocked((count) => remote.depositOwners(count))];
  return allFamilies.flatMap((family) => {
    const treasury = config.treasuries[family.name];
    const ownerOf = treasury && family.depositOwners?.(treasury);
    return ownerOf ? [stocked(async (count) => Array.from({ length: count }, () => ownerOf(randomIds.secret())))] : [];
  });
}

const policyRefunds = (core: Core) =>
  policyRefundsWorker({
    clock: core.clock,
    refunds: refundsOf({ ...core, handle: core.workHandle }),
    due: (max, now) => duePolicyRefunds(core.database, { worker: policyRefundsWorkerName, max, now }),
  });

const fundedRefunds = ({ workHandle: handle, clock, database }: Core) =>
  fundedRefundsWorker({
    handle,
    clock,
    due: (max, now) => endedFundings(database, { worker: fundedRefundsWorkerName, max, now }),
  });

function webhooks(core: Core, share: WorkerShare) {
  // For all shares together, on any instance.
  const perAppMax = Math.ceil(deliveriesPerAppMax / share.of);
  const perEndpointMax = Math.ceil(deliveriesPerEndpointMax / share.of);
  // Twice as many, because claimed ones are still in the list.
  const most = { perApp: 2 * perAppMax, perEndpoint: 2 * perEndpointMax };
  return createWebhookWorker({
    perAppMax,
    perEndpointMax,
    due: (max, now) => dueWebhooks(core.database, { worker: 'webhooks', max, now, ...most, share }),
    send: webhookSender(core, { handle: core.workHandle, store: core.store.workers, triesMax: triesInOutage }),
  });
}

/** Without mail nobody is notified; a later SMTP_URL begins at that time. */
async function notices(core: Core, signal: AbortSignal): Promise<void> {
  const { config, leases, workHandle, database, store, clock, telemetry } = core;
  if (config.mail === null) return;
  const rates = createRates(database, config.rates);
  const deps = {
    store: store.workers,
    codec: eventCodec,
    sql: database,
    outbox: openOutbox(core),
    clock,
    ownerOf: async (appId: string) => (await currentState(workHandle, merchant, appId)).developerId,
    dashboard: config.publicUrl === null ? null : `${config.publicUrl}/dashboard`,
    count: (kind: string) => rates.count('notice', kind),
    countInvited: (developerId: string) => rates.count('invitation', developerId),
    recognizeLog: (until: AbortSignal) => refuseSetBack(database, store.workers, { clock, signal: until }),
    failed: (error: unknown) => telemetry.logger.warn({ error: String(error) }, 'notices wait: tried again'),
  };
  await leases.hold('notices', signal, (held) => followForNotices(deps, held));
}

/** Mails to members about payments, as they chose. */
async function memberNotices(core: Core, signal: AbortSignal): Promise<void> {
  const { config, leases, workHandle, database, store, clock, telemetry } = core;
  if (config.mail === null) return;
  const deps = {
    store: store.workers,
    sql: database,
    outbox: openOutbox(core),
    clock,
    stateOf: (appId: string) => currentState(workHandle, merchant, appId),
    dashboard: config.publicUrl === null ? null : `${config.publicUrl}/dashboard`,
    recognizeLog: (until: AbortSignal) => refuseSetBack(database, store.workers, { clock, signal: until }),
    failed: (error: unknown) => telemetry.logger.warn({ error: String(error) }, 'notices of members wait: tried again'),
  };
  await leases.hold('memberNotices', signal, (held) => notifyMembers(deps, held));
}

const unmatchedMoney = ({ workHandle, clock, database }: Core) =>
  unfinishedMatchesWorker({
    handle: workHandle,
    clock,
    due: (max, now) => unfinishedMatches(database, { worker: unfinishedMatchesName, max, now }),
  });

function expiry({ workHandle, clock, chains, database }: Core, share: WorkerShare) {
  const cursors = createCursors(database);
  const finalPasses = (chainId: ChainId) =>
    chains.get(chainId)?.ingester.passes.filter((pass) => pass !== 'head') ?? [];
  const passes = [...chains.keys()].flatMap((chainId) => finalPasses(chainId).map((pass) => ({ chainId, pass })));
  return expiryWorker({
    handle: workHandle,
    clock,
    due: (max, now) => dueExpiries(database, { worker: 'expiry', passes, max, now, share }),
    scannedTo: (chainId) => cursors.scannedTo(chainId, finalPasses(chainId)),
  });
}
