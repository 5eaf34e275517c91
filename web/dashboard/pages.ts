/** Every page of the dashboard. */
import type { HttpDeps } from '../../src/api/deps.ts';
import { deliveryPages } from './deliveries.ts';
import { createFrames } from './frames.ts';
import { livePage } from './live.ts';
import type { AnyForm, AnyPage } from './page.ts';
import { auditPages } from './pages_audit.ts';
import { brandingPages } from './pages_branding.ts';
import { cashbackPages } from './pages_cashback.ts';
import { embeddingPages } from './pages_embedding.ts';
import { keyPages } from './pages_keys.ts';
import { linkPages } from './pages_links.ts';
import { newLinkPages } from './pages_newLink.ts';
import { overviewPages } from './pages_overview.ts';
import { payFromPages } from './pages_payFrom.ts';
import { paymentPages } from './pages_payments.ts';
import { policyPages } from './pages_policy.ts';
import { refundPages } from './pages_refunds.ts';
import { registerPages } from './pages_register.ts';
import { personalPages } from './pages_sessions.ts';
import { signInPages } from './pages_signIn.ts';
import { webhookPages } from './pages_webhooks.ts';
import { settlementPages } from './settlement.ts';

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
