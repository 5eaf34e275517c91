/** Pages for people: payment pages, the dashboard, and the documentation. */
import type { Website } from '../src/api/app.ts';
import { createRelayDoors } from '../src/api/relays/doors.ts';
import type { RelayDoorsDeps } from '../src/api/relays/link.ts';
import { createDashboard, type DashboardDeps } from './dashboard/index.ts';
import { documentationRoutes } from './guides/routes.ts';
import { exampleOrderPage } from './pay/exampleOrder.ts';
import { createPayPages, type PayersDeps } from './pay/index.ts';

/** Needs of all pages for people. */
export type WebsiteDeps = PayersDeps & Omit<DashboardDeps, 'drawExample'> & RelayDoorsDeps;

export const createWebsite = (deps: WebsiteDeps): Website => ({
  pages: [createRelayDoors(deps), createPayPages(deps), createDashboard({ ...deps, drawExample: exampleOrderPage })],
  documentation: documentationRoutes,
});
