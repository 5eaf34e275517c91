/** Reusable payment links over HTTP. */
import { currentState } from '../../commands/handle.ts';
import { createManageLinks } from '../../commands/links.ts';
import type { Chain } from '../../domain/chains.ts';
import { isLinkId, link } from '../../domain/link.ts';
import { countOpenLinks, listLinks } from '../../queries/links.ts';
import { addressBook } from '../chains/families.ts';
import type { Core } from '../core.ts';
import { randomIds } from '../process/system.ts';
import type { LinkDeps } from './deps.ts';
import { admitApp, type Rates } from './rateLimits.ts';

export function linksOf({ handle, clock, chains, reads }: Core, rates: Rates): LinkDeps {
  const manage = createManageLinks({
    handle,
    clock,
    ids: randomIds,
    addresses: addressBook,
    offers: ({ id }: Chain) => chains.has(id),
    countOpen: (appId, max) => countOpenLinks(reads, appId, max),
  });
  return {
    // Nobody fills the log with links. To close one is never too much.
    async create(app, request, by) {
      await admitApp(rates, 'changes', app.appId);
      return manage.create(app, request, by);
    },
    close: manage.close,
    find: async (linkId) => (isLinkId(linkId) ? currentState(handle, link, linkId) : null),
    list: (appId, page) => listLinks(reads, appId, page),
  };
}
