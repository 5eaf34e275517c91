/** Every page of the dashboard. */
import type { HttpDeps } from '../deps.ts';
import { createFrames } from './frames.ts';
import type { AnyForm, AnyPage } from './page.ts';
import { deliveryPages } from './pages/deliveries.ts';
import { livePage } from './pages/live.ts';
import { newLinkPages } from './pages/newLink.ts';
import { registerPages } from './pages/register.ts';
import { personalPages } from './pages/sessions.ts';
import { signInPages } from './pages/signIn.ts';

export function dashboardPages(deps: HttpDeps): readonly (AnyPage | AnyForm)[] {
  const frames = createFrames(deps);
  return [
    ...signInPages(deps, frames),
    ...registerPages(deps, frames),
    ...personalPages(deps, frames),
    ...newLinkPages(deps, frames),
    ...deliveryPages(deps, frames),
    livePage(deps),
  ];
}
