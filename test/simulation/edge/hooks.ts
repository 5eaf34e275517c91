/**
 * Replaces the service's edges when its modules are loaded, so that the rest of its code runs unchanged. Edges are
 * nodes, stores, receivers, the machine's clock and randomness. Import this before any module of the service.
 */
import { registerHooks } from 'node:module';

const root = new URL('../../../', import.meta.url).href;
/** Neither the simulation nor the specs and benchmarks beside it are the service. */
const own = new URL('../../', import.meta.url).href;

/** Each replaces the service's module that its first line names. */
const replaced: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'src/chains/attestations.ts': 'attestations.ts',
    'src/chains/node/http.ts': 'http.ts',
    'src/store/client.ts': 'eventStoreClient.ts',
    'src/store/index.ts': 'eventStore.ts',
    'src/postgres/database.ts': 'database.ts',
    'src/postgres/migrate.ts': 'migrate.ts',
    'src/lib/connections.ts': 'connections.ts',
    'src/process/system.ts': 'system.ts',
    'src/process/telemetry.ts': 'telemetry.ts',
    'src/workers/webhooks/webhookPost.ts': 'webhookPost.ts',
  }).map(([product, edge]) => [`${root}${product}`, new URL(edge, import.meta.url).href]),
);

const builtIn: ReadonlyMap<string, string> = new Map([
  ['node:crypto', new URL('crypto.ts', import.meta.url).href],
  ['node:https', new URL('https.ts', import.meta.url).href],
  ['node:timers/promises', new URL('timersPromises.ts', import.meta.url).href],
]);

const isProduct = (url: string | undefined): boolean =>
  url?.startsWith(root) === true && !url.startsWith(own) && !url.includes('/node_modules/');

registerHooks({
  resolve(specifier, context, next) {
    const edge = isProduct(context.parentURL) ? builtIn.get(specifier) : undefined;
    if (edge !== undefined) return { url: edge, format: 'module-typescript', shortCircuit: true };
    const resolved = next(specifier, context);
    const instead = replaced.get(resolved.url);
    return instead === undefined ? resolved : { ...resolved, url: instead };
  },
});
