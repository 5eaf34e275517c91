/** Frame of a page: signed-in person, app, and last outcome. */

import type { OwnApp } from '../../queries/apps.ts';
import type { Accounts } from '../../src/accounts/accounts.ts';
import { logoPath } from '../../src/api/resource.ts';
import type { SettingsReads } from '../../src/api/routes/settings.ts';
import type { AppName, Frame, Outer, Site } from '../parts/frame.ts';
import type { Audience, Visit } from './page.ts';

export interface Frames {
  /** Frame of a page without an app. */
  outer(visit: Visit<Audience>): Promise<Outer>;
  /** Frame of a page of the owner's app. */
  ofApp(visit: Visit<'owner'>): Promise<Frame>;
  /** A person's apps, by name. */
  appsOf(developerId: string): Promise<readonly AppName[]>;
}

/** Dependencies of a page's frame. */
export interface FramesDeps extends Pick<SettingsReads, 'listApps'> {
  readonly accounts: Accounts;
  readonly notices: { countUnread(appId: string, developerId: string): Promise<number> };
  readonly site: Site;
}

export function createFrames({ accounts, listApps, notices, site }: FramesDeps): Frames {
  const frames: Frames = {
    async outer({ visitor, flash }) {
      const person = visitor && (await accounts.person(visitor.developerId));
      return { mode: site.mode, person: person?.email ?? null, flash };
    },
    async ofApp(visit) {
      const { appId, developerId } = visit.visitor;
      const [outer, own, unread] = await Promise.all([
        frames.outer(visit),
        listApps(developerId),
        notices.countUnread(appId, developerId),
      ]);
      const app = own.find((each) => each.appId === appId);
      const logoUrl = app?.logo ? logoPath(app.logo) : null;
      return { ...outer, app: nameOf(app ?? { appId, name: null }), apps: own.map(nameOf), logoUrl, unread };
    },
    appsOf: async (developerId) => (await listApps(developerId)).map(nameOf),
  };
  return frames;
}

const nameOf = ({ appId, name }: Pick<OwnApp, 'appId' | 'name'>): AppName => ({ appId, name: name ?? appId });
