/** For balancers and monitoring: answered even under overload. */
import type { Clock } from '../../../commands/ports.ts';
import { type Instant, plus } from '../../../domain/time.ts';
import { type Answer, type AnyRoute, ok, route } from '../router.ts';
import { HealthResponse, ReadinessResponse } from '../schemas/responses.ts';

/** Returns one result for all calls within its life, including those during its computation. A failure is not cached. */
export function memoizeFor<V>(
  ask: () => Promise<V>,
  { clock, life_ms }: { readonly clock: Pick<Clock, 'now'>; readonly life_ms: number },
): () => Promise<V> {
  let last: { readonly answer: Promise<V>; until: Instant | null } | undefined;
  return () => {
    if (last && (last.until === null || clock.now() < last.until)) return last.answer;
    const mine = { answer: ask(), until: null as Instant | null };
    last = mine;
    mine.answer.then(
      () => {
        mine.until = plus(clock.now(), life_ms);
      },
      () => {
        if (last === mine) last = undefined;
      },
    );
    return mine.answer;
  };
}

const tag = 'Operations';
const notReadyRetry_s = '2';
/** Minimum interval between two readiness checks of the stores. */
const readinessLife_ms = 1_000;

const readinessAnswer = (ready: boolean, body: object): Answer =>
  ready ? ok(body) : { status: 503, body, headers: { 'Retry-After': notReadyRetry_s } };

const healthRoute = route({
  method: 'get',
  path: '/healthz',
  auth: 'none',
  answers: { 200: { description: 'The process answers', schema: HealthResponse } },
  errors: [],
  always: true,
  doc: {
    id: 'getHealth',
    tag,
    summary: 'Whether the process is alive',
    description: '200 as long as the process answers, also under overload. It does not check the stores.',
  },
  handle: async () => ok({ status: 'ok' }),
});

/** Answer of a readiness check. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>;
}

/** Needs of the routes for probes. */
export interface ReadinessDeps {
  readonly readiness: () => Promise<Readiness>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Needs of the routes of the operations port. */
export interface OperationRoutesDeps extends ReadinessDeps {
  /** Prometheus text. */
  readonly metrics: () => Promise<string>;
}

const sharedReadiness = ({ readiness, clock }: ReadinessDeps) =>
  memoizeFor(readiness, { clock, life_ms: readinessLife_ms });

/** Public probes: status without reasons. */
export function publicOperationRoutes(deps: ReadinessDeps): readonly AnyRoute[] {
  const readiness = sharedReadiness(deps);
  return [
    { ...healthRoute, anyOrigin: true },
    route({
      method: 'get',
      path: '/readyz',
      auth: 'none',
      anyOrigin: true,
      answers: {
        200: { description: 'Ready', schema: ReadinessResponse },
        503: { description: 'Not ready', schema: ReadinessResponse, headers: ['Retry-After'] },
      },
      errors: [],
      always: true,
      doc: {
        id: 'getReadiness',
        tag,
        summary: 'Whether requests can be served; up to a second old',
        description: '200 when the instance serves requests, else 503. Use it for a balancer.',
      },
      async handle() {
        const { ready } = await readiness();
        return readinessAnswer(ready, { ready });
      },
    }),
  ];
}

/** Routes of the operations port, which the public document omits. */
export function operationRoutes(deps: OperationRoutesDeps): readonly AnyRoute[] {
  const readiness = sharedReadiness(deps);
  const inside = { method: 'get', auth: 'none', answers: {}, errors: [], always: true, doc: null } as const;
  return [
    healthRoute,
    route({
      ...inside,
      path: '/readyz',
      async handle() {
        const answer = await readiness();
        return readinessAnswer(answer.ready, answer);
      },
    }),
    route({
      ...inside,
      path: '/metrics',
      handle: async () => ({
        status: 200,
        type: 'text/plain; version=0.0.4; charset=utf-8',
        body: await deps.metrics(),
      }),
    }),
  ];
}
