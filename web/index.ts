/** Pages for people: the front page, payment pages, the dashboard, and the documentation. */
import type { Website } from '../src/api/app.ts';
import { createRelayDoors } from '../src/api/relays/doors.ts';
import type { RelayDoorsDeps } from '../src/api/relays/targets.ts';
import { createDashboard, type DashboardDeps } from './dashboard/index.ts';
import { createFront, type FrontDeps } from './front/index.ts';
import { documentationRoutes } from './guides/routes.ts';
import { pageLanguage } from './parts/say.ts';
import { networkText } from './pay/choice.ts';
import { exampleOrderPage } from './pay/exampleOrder.ts';
import { createPayPages, type PayersDeps } from './pay/index.ts';
import { sayIn } from './pay/messages/index.ts';
import { createReference, type ReferenceDeps } from './reference/index.ts';

/** Needs of all pages for people. */
export type WebsiteDeps = PayersDeps &
  Omit<DashboardDeps, 'drawExample' | 'networkText'> &
  RelayDoorsDeps &
  ReferenceDeps &
  FrontDeps;

export const createWebsite = (deps: WebsiteDeps): Website => ({
  // The front page is last: its error page is for every other path.
  pages: [
    createRelayDoors(deps),
    createPayPages(deps),
    createDashboard({
      ...deps,
      drawExample: exampleOrderPage,
      networkText: (chainId) => networkText(sayIn(pageLanguage()), deps.networkOf(chainId, null)),
    }),
    createReference(deps),
    createFront(deps),
  ],
  documentation: documentationRoutes,
});
