/** What people read of the service: payment pages, the dashboard, and the documentation. */
import type { Website } from '../src/api/app.ts';
import type { HttpDeps } from '../src/api/deps.ts';
import { createDashboard } from './dashboard/index.ts';
import { documentationRoutes } from './guides/routes.ts';
import { createPayPages } from './pay/index.ts';

export const createWebsite = (deps: HttpDeps): Website => ({
  pages: [createPayPages(deps), createDashboard(deps)],
  documentation: documentationRoutes,
});
