/** Payins, payouts, webhooks and expiry: what acts on the world. One active instance each, standbys take over. */
import { readFileSync } from 'node:fs';
import { filter, NEVER, type Observable } from 'rxjs';
import { eventCodec } from '../../commands/codec.ts';
import { webhookSecretContext } from '../../commands/manageMerchant.ts';
import { createSendWebhook } from '../../commands/sendWebhook.ts';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { assert } from '../../domain/decider.ts';
import { minute_ms, plus } from '../../domain/time.ts';
import { projectedChannel } from '../../projections/commit.ts';
import { findWebhookSecret } from '../../queries/apps.ts';
import { expectedOfChain, oldestOpenPayment, pendingPayins } from '../../queries/payins.ts';
import { settledPayouts } from '../../queries/payouts.ts';
import { dueExpiries, duePayments, dueWebhooks, unfinishedMatches } from '../../queries/work.ts';
import { allFamilies } from '../chains/families.ts';
import type { OpenChain } from '../chains/family.ts';
import { openSigners, type Signers } from '../chains/open.ts';
import { createCursors } from '../postgres/cursors.ts';
import { createDepositOwners } from '../postgres/depositOwners.ts';
import { createFailures, type WorkFailures } from '../postgres/failures.ts';
import { randomIds } from '../runtime/system.ts';
import { createAddressCheck } from '../security/publicAddress.ts';
import { depositOwnersWorker } from '../subscribers/depositOwners.ts';
import { expiryWorker } from '../subscribers/expiry.ts';
import { watchHeads } from '../subscribers/headWatch.ts';
import { parkedPayinsName, parkedPayinsWorker } from '../subscribers/parkedPayins.ts';
import { type PayinsDeps, payinsWorker } from '../subscribers/payins.ts';
import { payoutAuditWorker } from '../subscribers/payoutAudit.ts';
import { payoutsWorker, payoutsWorkerName } from '../subscribers/payouts.ts';
import { unmatchedName, unmatchedWorker } from '../subscribers/unmatched.ts';
import { webhookDataOf } from '../subscribers/webhookBody.ts';
import { createWebhookPost } from '../subscribers/webhookPost.ts';
import { createWebhookWorker, placesPerApp } from '../subscribers/webhooks.ts';
import type { Core } from './core.ts';
import { payinRange } from './payinRange.ts';
import { runShifts, type Shift } from './shifts.ts';

const expiryLook_ms = 1_000;
const stockLook_ms = 1_000;
const parkedLook_ms = 5_000;
const auditLook_ms = 30_000;
const unmatchedLook_ms = 30_000;
/** A chain's clock may be behind ours: the block that pays a payment can bear a time before its creation. */
const clockDifference_ms = 10 * minute_ms;

/** Resolves when the signal has aborted and what was begun has ended. */
export async function runSubscribersRole(core: Core, signal: AbortSignal): Promise<void> {
  const failures = createFailures(core.database);
  const changes = countChanges(core, signal);
  const signers = openSigners(core.config, core.clock);
  const told = (name: string): Observable<unknown> =>
    core.notifications.pipe(filter(({ channel }) => channel === name));
  const run = (role: string, wake: Observable<unknown>, ...shifts: readonly Shift[]) =>
    runShifts({ ...core, failures, wake }, role, shifts, signal);

  await Promise.all([
    ...[...core.chains.values()].map((chain) => {
      const { ingester, poll_ms } = chain;
      const heads = watchHeads({ nodeHeads: ingester.nodeHeads, clock: core.clock, poll_ms });
      const seen = { moves: heads.moves, changes };
      return run(
        `payins:${ingester.chainId}`,
        NEVER,
        { worker: payins(core, failures, chain, seen), wake: heads.moved, idle_ms: poll_ms },
        { worker: parkedPayins(core, failures, chain), idle_ms: parkedLook_ms },
      );
    }),
    // An instance without the treasury's keys leaves the payouts to one that has them.
    ...(signers.size > 0 ? [run('payouts', told('todo_payments'), ...payouts(core, signers))] : []),
    run('payoutAudit', NEVER, ...payoutAudits(core)),
    run('webhooks', told('todo_webhooks'), { worker: webhooks(core) }),
    run('expiry', NEVER, { worker: expiry(core), idle_ms: expiryLook_ms }),
    ...depositStock(core).map((shift) => run('depositOwners', NEVER, shift)),
    run('unmatched', NEVER, { worker: unmatchedMoney(core), idle_ms: unmatchedLook_ms }),
  ]);
}

/** How often the read models of work have changed. Whoever listens anew was told nothing meanwhile: that counts, too. */
function countChanges({ notifications }: Core, signal: AbortSignal): () => number {
  let count = 0;
  const counting = notifications
    .pipe(filter(({ channel, payload }) => channel === projectedChannel && !payload.startsWith('reports ')))
    .subscribe(() => {
      count += 1;
    });
  signal.addEventListener('abort', () => counting.unsubscribe(), { once: true });
  return () => count;
}

function payins(
  core: Core,
  failures: WorkFailures,
  { ingester }: OpenChain,
  seen: Pick<PayinsDeps, 'moves' | 'changes'>,
) {
  const { clock, crash, database, telemetry } = core;
  const { chainId } = ingester;
  const cursors = createCursors(database);
  return payinsWorker({
    ...payinRange(core, failures, ingester),
    ...seen,
    crash,
    expected: (after) => expectedOfChain(database, chainId, after),
    pendingPayins: (upTo, largeFrom_usd) => pendingPayins(database, chainId, upTo, largeFrom_usd),
    loadCursor: (pass) => cursors.load(chainId, pass),
    saveCursor: (next, previous) => cursors.save(next, previous),
    missed: ({ from, to }) =>
      telemetry.alarm(
        'ledgersMissed',
        { chainId, from: String(from), to: String(to) },
        'no node remembers these ledgers: what they held for us has not been seen',
      ),
    startFrom: async () => plus((await oldestOpenPayment(database)) ?? clock.now(), -clockDifference_ms),
  });
}

const parkedPayins = ({ workHandle, clock }: Core, failures: WorkFailures, { ingester }: OpenChain) =>
  parkedPayinsWorker({
    handle: workHandle,
    clock,
    ingester,
    due: (max, now) => failures.due(parkedPayinsName(ingester.chainId), max, now),
  });

/** One worker per chain, all in one instance: the signers' hourly limit counts over all chains. */
function payouts({ workHandle, clock, crash, chains, database, telemetry }: Core, signers: Signers): readonly Shift[] {
  const steps = ['requestPayout', 'sign', 'broadcast'];
  return [...chains].map(([chainId, { rail, poll_ms }]) => {
    const signer = signers.get(chainOf(chainId).family);
    assert(signer !== undefined, `configuration gives a key for chain ${chainId}`);
    const worker = payoutsWorkerName(chainId);
    return {
      worker: payoutsWorker({
        handle: workHandle,
        clock,
        crash,
        rail,
        signer,
        poll_ms,
        due: (max, now) => duePayments(database, { worker, chainIds: [chainId], steps, max, now }),
        alarm: (paymentId, reason, message) => telemetry.alarm(reason, { chainId, paymentId }, message),
      }),
    };
  });
}

function payoutAudits({ workHandle, chains, database, telemetry }: Core): readonly Shift[] {
  return [...chains].map(([chainId, { rail }]) => ({
    worker: payoutAuditWorker({
      handle: workHandle,
      rail,
      settledSince: (since, max) => settledPayouts(database, { chainId, since, max }),
      alarm: (paymentId, hash) =>
        telemetry.alarm(
          'payoutOrphaned',
          { chainId, paymentId, hash },
          'a settled payout left its chain: its bytes are sent again',
        ),
    }),
    idle_ms: auditLook_ms,
  }));
}

/** Filled by an instance that has the seed. */
function depositStock({ config, clock, database }: Core): readonly Shift[] {
  return allFamilies.flatMap((family) => {
    const treasury = config.treasuries[family.name];
    const ownerOf = treasury && family.depositOwners?.(treasury);
    if (!ownerOf) return [];
    const make = () => ownerOf(randomIds.secret());
    return [
      { worker: depositOwnersWorker({ owners: createDepositOwners(database), clock, make }), idle_ms: stockLook_ms },
    ];
  });
}

function webhooks({ workHandle, clock, crash, config, store, database, box }: Core) {
  const { caFile, allowedCidrs } = config.webhook;
  const post = createWebhookPost({
    clock,
    isAllowed: createAddressCheck(allowedCidrs),
    ...(caFile && { extraCa: [readFileSync(caFile, 'utf8')] }),
  });
  return createWebhookWorker({
    // Twice the places: those that are being claimed are still in the list.
    due: (max, now) => dueWebhooks(database, { worker: 'webhooks', max, now, perApp: 2 * placesPerApp }),
    store: store.workers,
    dataOf: webhookDataOf(eventCodec),
    async secretOf(appId) {
      const secret = await findWebhookSecret(database, appId);
      if (!secret) throw new Error(`app ${appId} has no webhook secret: rotate it to get one`);
      return box.open(secret.ciphertext, webhookSecretContext(appId));
    },
    send: createSendWebhook({ handle: workHandle, clock, post, crash }),
  });
}

const unmatchedMoney = ({ workHandle, clock, database }: Core) =>
  unmatchedWorker({
    handle: workHandle,
    clock,
    due: (max, now) => unfinishedMatches(database, { worker: unmatchedName, max, now }),
  });

function expiry({ workHandle, clock, chains, database }: Core) {
  const cursors = createCursors(database);
  const finalPasses = (chainId: ChainId) =>
    chains.get(chainId)?.ingester.passes.filter((pass) => pass !== 'head') ?? [];
  const passes = [...chains.keys()].flatMap((chainId) => finalPasses(chainId).map((pass) => ({ chainId, pass })));
  return expiryWorker({
    handle: workHandle,
    clock,
    due: (max, now) => dueExpiries(database, { worker: 'expiry', passes, max, now }),
    scannedTo: (chainId) => cursors.scannedTo(chainId, finalPasses(chainId)),
  });
}
