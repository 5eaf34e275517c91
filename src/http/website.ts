/** What people read of the service: payment pages, the dashboard, and the documentation. */
import type { Website } from './app.ts';
import { createDashboard } from './dashboard/index.ts';
import type { HttpDeps } from './deps.ts';
import { createPayPages } from './pay/index.ts';
import { documentationRoutes } from './routes/documentation.ts';

export const createWebsite = (deps: HttpDeps): Website => ({
  pages: [createPayPages(deps), createDashboard(deps)],
  documentation: documentationRoutes,
});
