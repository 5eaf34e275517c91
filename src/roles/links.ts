/** Reusable payment links over HTTP. */
import { currentState } from '../../commands/handle.ts';
import { createManageLinks } from '../../commands/manageLinks.ts';
import type { Chain } from '../../domain/chains.ts';
import { isLinkId, link } from '../../domain/link.ts';
import { countOpenLinks, listLinks } from '../../queries/links.ts';
import { addressBook } from '../chains/families.ts';
import type { LinkDeps } from '../http/deps.ts';
import { admitApp, type Rates } from '../http/rates.ts';
import { randomIds } from '../runtime/system.ts';
import type { Core } from './core.ts';

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
