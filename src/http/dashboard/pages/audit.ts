/** Who changed what of an app. */
import Type from 'typebox';
import { auditPage } from '../../../../web/dashboard/audit.ts';
import type { HttpDeps } from '../../deps.ts';
import { fields } from '../fields.ts';
import type { Frames } from '../frames.ts';
import { type AnyPage, page } from '../page.ts';
import { whoDid } from '../whoDid.ts';

const rows = 50;

/** Pages begin below a place among the app's events. */
const Below = Type.Unsafe<string>({ type: 'string', pattern: '^[0-9]{1,9}$', description: 'a number' });

export const auditPages = ({ listChanges }: Pick<HttpDeps, 'listChanges'>, frames: Frames): readonly AnyPage[] => [
  page({
    path: '/dashboard/apps/{appId}/audit',
    audience: 'owner',
    query: fields({ cursor: Type.Optional(Below) }),
    async show(visit) {
      const { cursor = null } = visit.query;
      const [frame, all] = await Promise.all([frames.ofApp(visit), listChanges(visit.visitor.appId)]);
      const below = cursor === null ? all : all.filter(({ revision }) => revision < Number(cursor));
      const listed = below.slice(-rows).reverse();
      const last = listed.at(-1);
      const nextCursor = last && below.length > rows ? String(last.revision) : null;
      const changes = listed.map((change) => ({ ...change, by: whoDid(change.by, visit.visitor, frame) }));
      return { page: auditPage({ ...frame, changes, cursor, nextCursor }) };
    },
  }),
];
