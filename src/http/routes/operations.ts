import type { HttpDeps } from '../deps.ts';
import { type AnyRoute, ok, route } from '../route.ts';
import { HealthResponse, ReadinessResponse } from '../schemas/responses.ts';

const tag = 'Operations';
const notReadyRetry_s = '2';

/** For balancers and monitoring: answered even under overload. Keep /metrics away from the public at the proxy. */
export const operationRoutes = (deps: Pick<HttpDeps, 'readiness' | 'metrics'>): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: '/healthz',
    auth: 'none',
    answers: { 200: { description: 'The process answers', schema: HealthResponse } },
    errors: [],
    always: true,
    doc: { id: 'getHealth', tag, summary: 'Whether the process is alive' },
    handle: async () => ok({ status: 'ok' }),
  }),
  route({
    method: 'get',
    path: '/readyz',
    auth: 'none',
    answers: {
      200: { description: 'Ready', schema: ReadinessResponse },
      503: { description: 'Not ready: checks say why', schema: ReadinessResponse },
    },
    errors: [],
    always: true,
    doc: { id: 'getReadiness', tag, summary: 'Whether requests can be served: store, database, projections, chains' },
    async handle() {
      const readiness = await deps.readiness();
      return readiness.ready
        ? ok(readiness)
        : { status: 503, body: readiness, headers: { 'Retry-After': notReadyRetry_s } };
    },
  }),
  route({
    method: 'get',
    path: '/metrics',
    auth: 'none',
    answers: { 200: { description: 'Prometheus text' } },
    errors: [],
    always: true,
    doc: { id: 'getMetrics', tag, summary: 'Metrics' },
    handle: async () => ({
      status: 200,
      type: 'text/plain; version=0.0.4; charset=utf-8',
      body: await deps.metrics(),
    }),
  }),
];
