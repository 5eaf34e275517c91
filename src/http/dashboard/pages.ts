/** Every page of the dashboard. */
import type { HttpDeps } from '../deps.ts';
import { createFrames } from './frames.ts';
import type { AnyForm, AnyPage } from './page.ts';
import { auditPages } from './pages/audit.ts';
import { brandingPages } from './pages/branding.ts';
import { cashbackPages } from './pages/cashback.ts';
import { deliveryPages } from './pages/deliveries.ts';
import { embeddingPages } from './pages/embedding.ts';
import { keyPages } from './pages/keys.ts';
import { linkPages } from './pages/links.ts';
import { livePage } from './pages/live.ts';
import { newLinkPages } from './pages/newLink.ts';
import { overviewPages } from './pages/overview.ts';
import { payFromPages } from './pages/payFrom.ts';
import { paymentPages } from './pages/payments.ts';
import { policyPages } from './pages/policy.ts';
import { refundPages } from './pages/refunds.ts';
import { registerPages } from './pages/register.ts';
import { personalPages } from './pages/sessions.ts';
import { settlementPages } from './pages/settlement.ts';
import { signInPages } from './pages/signIn.ts';
import { webhookPages } from './pages/webhooks.ts';

export function dashboardPages(deps: HttpDeps): readonly (AnyPage | AnyForm)[] {
  const frames = createFrames(deps);
  return [
    ...signInPages(deps, frames),
    ...registerPages(deps, frames),
    ...personalPages(deps, frames),
    ...overviewPages(deps, frames),
    ...paymentPages(deps, frames),
    ...refundPages(deps, frames),
    ...newLinkPages(deps, frames),
    ...linkPages(deps, frames),
    ...cashbackPages(deps, frames),
    ...webhookPages(deps, frames),
    ...deliveryPages(deps, frames),
    ...keyPages(deps, frames),
    ...settlementPages(deps, frames),
    ...brandingPages(deps, frames),
    ...embeddingPages(deps, frames),
    ...payFromPages(deps, frames),
    ...policyPages(deps, frames),
    ...auditPages(deps, frames),
    livePage(deps),
  ];
}
