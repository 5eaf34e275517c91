/** The HTTP role: commands and queries with their needs filled in. Stateless; any number of instances may run. */
import { eventCodec } from '../../commands/codec.ts';
import { createPayment } from '../../commands/createPayment.ts';
import { readStream } from '../../commands/handle.ts';
import { paymentIdOf } from '../../commands/paymentId.ts';
import { registerPayin } from '../../commands/recordPayin.ts';
import { loadPayment } from '../../commands/settlePayout.ts';
import { type Chain, chainOf } from '../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import type { Payment } from '../../domain/payment/state.ts';
import { viewOf } from '../../domain/payment/view.ts';
import { findApiKey, findApp } from '../../queries/apps.ts';
import { getPayment, getPaymentByOrder } from '../../queries/getPayment.ts';
import { listPayments } from '../../queries/listPayments.ts';
import { openObligations } from '../../queries/payouts.ts';
import { getStats, listDeliveries, listTransactions } from '../../queries/reports.ts';
import { addressBook, canonicalTxHash } from '../chains/addresses.ts';
import { paymentLinkOf } from '../chains/families.ts';
import { createApp, createOperationsApp } from '../http/app.ts';
import { type Commands, defaultLimits, type Queries } from '../http/deps.ts';
import { type HttpServer, startHttp } from '../http/server.ts';
import { randomIds } from '../runtime/ids.ts';
import { createRouteGuard } from '../runtime/routeGuard.ts';
import { createPayinLookUp } from '../subscribers/payinLookUp.ts';
import type { Core } from './core.ts';
import { metrics } from './metrics.ts';
import { readiness } from './readiness.ts';

export async function startApiRole(core: Core, signal: AbortSignal): Promise<HttpServer> {
  const asked = queries(core);
  const app = createApp({
    ...operations(core),
    ...(await commands(core, asked.getPayment, signal)),
    ...asked,
    paymentLink: paymentLinkOf,
  });
  return startHttp(app, core.config);
}

/** What every instance answers, whatever its roles: health, readiness, metrics. */
export const startOperations = (core: Core): Promise<HttpServer> =>
  startHttp(createOperationsApp(operations(core)), core.config);

const operations = (core: Core) => ({
  clock: core.clock,
  ids: randomIds,
  logger: core.telemetry.logger,
  limits: defaultLimits,
  metrics: () => metrics(core),
  readiness: () => readiness(core),
  observe: core.telemetry.requested,
});

async function commands(core: Core, byId: Queries['getPayment'], signal: AbortSignal): Promise<Commands> {
  const { config, handle, clock, chains, deposits, receiverChecks, telemetry } = core;
  const guard = createRouteGuard({
    clock,
    rails: [...chains.values()].map(({ rail }) => rail),
    perTransfer_usd: config.signer.perTransfer_usd,
    obligations: () => openObligations(core.database),
    alarm: telemetry.alarm,
    observeFloat: telemetry.floated,
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
    offers: ({ id }: Chain) => chains.has(id),
    checkRoute: guard.check,
  };
  const ingesters = new Map([...chains].map(([id, { ingester }]) => [id, ingester]));
  const lookUp = createPayinLookUp({ handle, clock, ingesters, signal });

  return {
    createPayment: (request, app, caller) => createPayment(create, request, app, caller),
    async registerPayin(paymentId, { txHash, fromAddress }, cause) {
      const payment = await loadPayment(handle, paymentId);
      if (!payment) return refuse('paymentNotFound', 'no payment has this id: check it against the create response');
      const hint = readHint(payment, txHash, fromAddress);
      if (isRefusal(hint)) return hint;
      const handled = await registerPayin({ handle, clock }, payment.terms, hint, cause);
      if (isRefusal(handled)) return handled;
      lookUp(payment, hint.txHash);
      const repeated = handled.appended === 0 ? await byId(paymentId) : null;
      return { payment: repeated ?? viewOf(handled.state as Payment, handled.at ?? clock.now()) };
    },
  };
}

function readHint(
  { terms }: Payment,
  txHash: string,
  fromAddress: string,
): { readonly txHash: string; readonly senderAddress: string } | Refusal {
  const chain = chainOf(terms.source.chainId);
  const hash = canonicalTxHash(chain, txHash);
  if (hash === null) return refuse('invalidRequest', `this is no transaction hash of ${chain.name}`, '/txHash');
  const senderAddress = addressBook.canonical(chain, fromAddress);
  if (senderAddress === null) return refuse('invalidRequest', `this is no address of ${chain.name}`, '/fromAddress');
  return { txHash: hash, senderAddress };
}

function queries({ clock, reads, store }: Core): Queries {
  const reading = { sql: reads, history: (stream: string) => readStream(store, stream), read: eventCodec.read };
  const byId = (paymentId: string) => getPayment(reading, paymentId);
  return {
    getPayment: byId,
    async getPaymentByOrder(appId, orderId) {
      const row = await getPaymentByOrder(reads, appId, orderId);
      if (row) return row;
      // Created a moment ago: its id follows from the app's salt, and its stream answers.
      const app = await findApp(reads, appId);
      if (!app) return null;
      return (await byId(paymentIdOf(app.idSalt, orderId))) ?? (await byId(paymentIdOf(app.idSalt, orderId, true)));
    },
    listPayments: (filter) => listPayments(reads, filter),
    listTransactions: (paymentId) => listTransactions(reads, paymentId),
    getStats: (appId, period) => getStats(reads, appId, period, clock.now()),
    listDeliveries: (appId, limit) => listDeliveries(reads, appId, limit),
    findApiKey: (hash) => findApiKey(reads, hash),
    findApp: (appId) => findApp(reads, appId),
  };
}
