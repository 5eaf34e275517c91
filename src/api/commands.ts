/** The commands of payments, with their needs filled in. */
import { chooseSource } from '../../commands/chooseSource.ts';
import { createPayment, quotePayment } from '../../commands/createPayment.ts';
import { registerPayin } from '../../commands/registerPayin.ts';
import { createWithdrawCashback } from '../../commands/withdrawCashback.ts';
import type { Chain } from '../../domain/chains.ts';
import { countOpen } from '../../queries/apps.ts';
import { openObligations, openPromises } from '../../queries/payouts.ts';
import { addressBook, canonicalTxHash } from '../chains/families.ts';
import type { Core } from '../core.ts';
import { randomIds } from '../process/system.ts';
import { followChanges } from '../workers/payins/index.ts';
import { createPayinLookUp } from '../workers/payins/lookUp.ts';
import { createRouteGuard } from '../workers/payouts/routeGuard.ts';
import { payoutCostsOf } from '../workers/refunds/index.ts';
import type { Commands } from './deps.ts';
import { createOpenPlaces } from './openPlaces.ts';

export async function commandsOf(core: Core, signal: AbortSignal): Promise<Commands> {
  const { config, handle, clock, chains, deposits, receiverChecks, telemetry } = core;
  const guard = createRouteGuard({
    clock,
    rails: [...chains.values()].map(({ rail }) => rail),
    perTransfer_usd: config.signer.perTransfer_usd,
    obligations: () => openObligations(core.database),
    promised: () => openPromises(core.database),
    changes: followChanges(core, signal).count,
    alarm: telemetry.alarm,
    observeFloat: telemetry.observeFloat,
  });
  await guard.refresh(signal).catch(() => {});
  void guard.watch(signal);

  const create = {
    handle,
    clock,
    ids: randomIds,
    addresses: addressBook,
    deposits,
    canReceive: receiverChecks,
    feeOf: () => config.fee,
    payoutCostOf: payoutCostsOf(core),
    cashback_basisPoints: config.cashback.basisPoints,
    offers: ({ id }: Chain) => chains.has(id),
    canSeePayins: ({ id }: Chain) => chains.get(id)?.health.nodes.some((node) => node.refused() === null) ?? false,
    checkRoute: guard.check,
    takePlace: createOpenPlaces({
      clock,
      limits: config.open,
      countOpen: (appId, kind, max) => countOpen(core.reads, appId, kind, max),
    }),
  };
  const ingesters = new Map([...chains].map(([id, { ingester }]) => [id, ingester]));
  const lookUp = createPayinLookUp({ handle, clock, ingesters, signal });
  const choice = { handle, clock, deposits, offers: create.offers, crash: core.crash };
  const register = { handle, clock, addresses: addressBook, canonicalTxHash, lookUp };

  return {
    createPayment: (request, app, caller) => createPayment(create, request, app, caller),
    quotePayment: (request, app, caller) => quotePayment({ ...create, checkRoute: guard.look }, request, app, caller),
    chooseSource: (paymentId, source, by) => chooseSource(choice, paymentId, source, by),
    registerPayin: (own, hint, by) => registerPayin(register, own, hint, by),
    withdrawCashback: createWithdrawCashback({ ...create, crash: core.crash }),
  };
}
