/** What is around a page: who is signed in, whose app it is, what was just done. */
import type { AppName, Frame, Outer } from '../../../web/parts/frame.ts';
import type { HttpDeps } from '../deps.ts';
import type { Audience, Visit } from './page.ts';

export interface Frames {
  /** Around a page that belongs to no app. */
  outer(visit: Visit<Audience>): Promise<Outer>;
  /** Around a page of the owner's app. */
  ofApp(visit: Visit<'owner'>): Promise<Frame>;
  /** The apps of somebody, by name. */
  appsOf(developerId: string): Promise<readonly AppName[]>;
}

export function createFrames({ accounts, appsOf, site }: Pick<HttpDeps, 'accounts' | 'appsOf' | 'site'>): Frames {
  const frames: Frames = {
    async outer({ visitor, flash }) {
      const person = visitor && (await accounts.person(visitor.developerId));
      return { mode: site.mode, person: person?.email ?? null, flash };
    },
    async ofApp(visit) {
      const { appId, developerId } = visit.visitor;
      const [outer, apps] = await Promise.all([frames.outer(visit), frames.appsOf(developerId)]);
      const app = apps.find((own) => own.appId === appId) ?? { appId, name: appId };
      return { ...outer, app, apps, logoUrl: null };
    },
    appsOf: async (developerId) => (await appsOf(developerId)).map((appId) => ({ appId, name: appId })),
  };
  return frames;
}
