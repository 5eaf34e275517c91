/** Who changed what of an app. */
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import { historyCursorPattern } from '../../queries/appHistory.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { errorOfRefusal } from '../../src/api/errors.ts';
import { auditPage } from './audit.ts';
import { fields } from './fields.ts';
import type { Frames } from './frames.ts';
import { type AnyPage, page } from './page.ts';
import { whoDid } from './whoDid.ts';

const rows = 50;

const Cursor = Type.Unsafe<string>({ type: 'string', pattern: historyCursorPattern, description: 'a cursor' });

export const auditPages = ({ listChanges }: Pick<HttpDeps, 'listChanges'>, frames: Frames): readonly AnyPage[] => [
  page({
    path: '/dashboard/apps/{appId}/audit',
    audience: 'owner',
    query: fields({ cursor: Type.Optional(Cursor) }),
    async show(visit) {
      const { cursor = null } = visit.query;
      const [frame, found] = await Promise.all([
        frames.ofApp(visit),
        listChanges(visit.visitor.appId, { limit: rows, cursor: cursor ?? undefined }),
      ]);
      if (isRefusal(found)) throw errorOfRefusal(found);
      const changes = found.changes.map((change) => ({ ...change, by: whoDid(change.by, visit.visitor, frame) }));
      return { page: auditPage({ ...frame, changes, cursor, nextCursor: found.nextCursor }) };
    },
  }),
];
