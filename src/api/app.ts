import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express';
import { ChainBroken } from '../../commands/codec.ts';
import { TransientError, Unavailable } from '../../commands/ports.ts';
import { type Access, type AccessDeps, createAccess } from './auth.ts';
import { ApiError, errorType, problem, statusOfError, unavailable } from './errors.ts';
import {
  createRequestLimit,
  type HttpLimits,
  localsOf,
  requireLocalHost,
  requireOneHost,
  securityHeaders,
  type TrackDeps,
  track,
} from './middleware.ts';
import { ListenersFull } from './news.ts';
import type { DocumentJson } from './openapi/components.ts';
import { openApiDocument } from './openapi/document.ts';
import { type Admission, type Clients, createAdmission, type Rates, rateLimited } from './rateLimits.ts';
import { type FacilitatorDeps, facilitatorRoutes } from './relays/facilitator.ts';
import { type Answer, type AnyRoute, createRouter, type Gate, send } from './router.ts';
import { type AccountRoutesDeps, accountRoutes } from './routes/accounts.ts';
import { type CashbackRoutesDeps, cashbackRoutes } from './routes/cashback.ts';
import { type CreationRoutesDeps, creationRoutes } from './routes/createPayment.ts';
import { type DeliveryRoutesDeps, deliveryRoutes } from './routes/deliveries.ts';
import { type FeedRoutesDeps, feedRoutes } from './routes/feed.ts';
import { type KeyRoutesDeps, keyRoutes } from './routes/keys.ts';
import { type LinkRoutesDeps, linkRoutes } from './routes/links.ts';
import {
  type OperationRoutesDeps,
  operationRoutes,
  publicOperationRoutes,
  type ReadinessDeps,
} from './routes/operations.ts';
import { type MerchantRoutesDeps, merchantRoutes, type PaymentRoutesDeps, paymentRoutes } from './routes/payments.ts';
import { type PreparedPaymentRoutesDeps, preparedPaymentRoutes } from './routes/preparedPayments.ts';
import { type ProofRoutesDeps, proofRoutes } from './routes/proof.ts';
import { type RefundRoutesDeps, refundRoutes } from './routes/refunds.ts';
import { type LogoRoutesDeps, logoRoutes, type SettingsRoutesDeps, settingsRoutes } from './routes/settings.ts';
import { type TeamRoutesDeps, teamRoutes } from './routes/team.ts';

/** Pages for people, such as the dashboard, beside the routes for programs. */
export interface PageRoutes {
  /**
   * Serves the pages; a request for any other path goes on to the next router.
   * @param document returns the OpenAPI document, computed at each call
   */
  routerBehind(gate: Gate, document: () => DocumentJson): Router;
  /** Returns the page of an error; undefined for programs' requests. */
  errorPage(error: ApiError, request: Request, response: Response): Pick<Answer, 'type' | 'body'> | undefined;
}

/** Pages for people, mounted beside the API. */
export interface Website {
  readonly pages: readonly PageRoutes[];
  /** Routes of the documentation, which includes the OpenAPI document. */
  readonly documentation: (document: () => DocumentJson) => readonly AnyRoute[];
}

/** Needs of every request, whatever its route. */
export interface ServerDeps extends TrackDeps {
  readonly clients: Pick<Clients, 'of'>;
  readonly rates: Rates;
  readonly limits: HttpLimits;
  /** Receives the reason of each 503 that has one. */
  readonly reportUnavailable?: (cause: unknown) => void;
}

/** Needs of the API: those of its routes. */
export type ApiDeps = ServerDeps &
  AccessDeps &
  CreationRoutesDeps &
  PaymentRoutesDeps &
  PreparedPaymentRoutesDeps &
  RefundRoutesDeps &
  ProofRoutesDeps &
  FeedRoutesDeps &
  AccountRoutesDeps &
  MerchantRoutesDeps &
  SettingsRoutesDeps &
  KeyRoutesDeps &
  TeamRoutesDeps &
  LinkRoutesDeps &
  FacilitatorDeps &
  LogoRoutesDeps &
  DeliveryRoutesDeps &
  CashbackRoutesDeps &
  ReadinessDeps;

/** Needs of the operations port. */
export interface OperationsDeps extends ServerDeps, OperationRoutesDeps {
  /** Names with dots that the operations port has in the network of its operator. Default: none. */
  readonly names?: readonly string[];
  /** Pages for operators. Default: none. */
  readonly pages?: readonly PageRoutes[];
}

/** The service's HTTP interface: stateless but for short-lived caches of keys and app settings. */
export function createApp(deps: ApiDeps, website: Website): Express {
  const access = createAccess(deps);
  const api: readonly AnyRoute[] = [
    ...creationRoutes(deps, access),
    ...paymentRoutes(deps, access),
    ...preparedPaymentRoutes(deps),
    ...refundRoutes(deps),
    ...proofRoutes(deps),
    ...feedRoutes(deps),
    ...accountRoutes(deps),
    ...merchantRoutes(deps),
    ...settingsRoutes(deps),
    ...keyRoutes(deps),
    ...teamRoutes(deps),
    ...linkRoutes(deps, access),
    ...facilitatorRoutes(deps),
    ...logoRoutes(deps),
    ...deliveryRoutes(deps),
    ...cashbackRoutes(deps, access),
    ...publicOperationRoutes(deps),
  ];
  const document = () => openApiDocument(api, deps.publicUrl());
  return serve(deps, access, [...api, ...website.documentation(document)], { pages: website.pages, document });
}

/** For operators only: health, readiness with its reasons, metrics. */
export function createOperationsApp(deps: OperationsDeps): Express {
  const nobody: Access = { authenticate: async () => null as never, findApp: async () => null };
  const website = { pages: deps.pages ?? [], document: () => ({}) };
  return serve(deps, nobody, operationRoutes(deps), website, [requireLocalHost(deps.names ?? [])]);
}

function serve(
  deps: ServerDeps,
  access: Access,
  routes: readonly AnyRoute[],
  { pages, document }: Pick<Website, 'pages'> & { readonly document: () => DocumentJson },
  guards: readonly RequestHandler[] = [],
): Express {
  const app = express();
  const admission = createAdmission(deps.rates, deps.clients);
  const gate = { access, admission, clients: deps.clients, limit: createRequestLimit(deps.limits.concurrentMax) };
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use(track(deps));
  app.use(securityHeaders);
  app.use(requireOneHost);
  for (const guard of guards) app.use(guard);
  app.use(countOptions(admission));
  // API requests are the most frequent, and the first routes match fastest: creating a payment is first. No page has a path of theirs.
  app.use(createRouter(routes, gate));
  for (const each of pages) app.use(each.routerBehind(gate, document));
  app.use(() => {
    throw new ApiError('notFound', 'there is no such endpoint: see /openapi.json or /docs');
  });
  app.use(answerError(deps, admission, pages));
  return app;
}

/** No router counts OPTIONS: browsers send it before a request, without credentials. */
const countOptions =
  (admission: Admission): RequestHandler =>
  async (request, response, next) => {
    if (request.method === 'OPTIONS') await admission.ofStranger(request, response);
    next();
  };

/** Express calls it for errors because it has four parameters. */
const answerError =
  (
    { logger, reportUnavailable }: Pick<ServerDeps, 'logger' | 'reportUnavailable'>,
    admission: Admission,
    pages: readonly PageRoutes[],
  ): ErrorRequestHandler =>
  async (thrown, request, response, next) => {
    if (response.headersSent) return next(thrown);
    const { requestId, route } = localsOf(response);
    const failed = asApiError(thrown);
    // Errors of the service do not count against a caller's limit.
    const isCallers = statusOfError(failed.code) < 500;
    const refused = isCallers && (await admission.ofUncounted(request, response).catch(asApiError));
    const error = refused || failed;
    localsOf(response).errorCode = error.code;
    if (error.code === 'internal') logger.error({ err: thrown, requestId, route }, 'request failed');
    if (error.code === 'unavailable' && error.cause !== undefined) reportUnavailable?.(error.cause);
    const { headers } = error;
    const status = statusOfError(error.code);
    for (const each of pages) {
      const page = each.errorPage(error, request, response);
      if (page) return send(response, { status, headers, ...page });
    }
    const type = errorType(request.headers.accept);
    send(response, { status, headers, type, body: problem(error.code, error.message, requestId, error.errors) });
  };

/** Waiting requests wait half a minute at most. */
const fullRetry_s = 5;

/** Chain nodes are unavailable for longer than stores. */
const passingRetry_s = 2;

/** A damaged stream is refused until an operator has repaired it. */
const brokenRetry_s = 60;

function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof Unavailable) {
    return unavailable('the service cannot reach its storage at present: try again', thrown.retryAfter_s, thrown);
  }
  if (thrown instanceof TransientError) {
    return unavailable(
      'the service cannot reach what this request needs at present: try again',
      passingRetry_s,
      thrown,
    );
  }
  // Instances that read the stream earlier still answer from memory. An operator must repair the log; the alarm says so.
  if (thrown instanceof ChainBroken) {
    return unavailable('the service refuses to read records that this request needs: try again', brokenRetry_s, thrown);
  }
  if (thrown instanceof ListenersFull) {
    return thrown.of === 'one' ? rateLimited(thrown.message, fullRetry_s) : unavailable(thrown.message, fullRetry_s);
  }
  if (thrown instanceof URIError) return new ApiError('invalidRequest', 'the path is not properly percent-encoded');
  return new ApiError('internal', 'the service failed: tell its operator the requestId');
}
