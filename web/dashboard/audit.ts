/** History of changes. */

import type { VNode } from 'preact';
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import { historyCursorPattern, type ListedChange } from '../../queries/merchantAudit.ts';
import { withNames } from '../../queries/team.ts';
import { errorOfRefusal } from '../../src/api/errors.ts';
import type { KeyReads } from '../../src/api/routes/keys.ts';
import type { TeamReads } from '../../src/api/routes/team.ts';
import { card, empty } from '../parts/boxes.ts';
import { when } from '../parts/cells.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { auditPhrases } from '../parts/phrases/audit.ts';
import { phrased } from '../parts/phrases.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { pager, table } from '../parts/table.ts';
import { fields } from './forms.ts';
import { type AnyPage, type Frames, page, whoDid } from './page.ts';

export interface AuditModel extends Frame {
  /** Newest first; `by` is a display text. */
  readonly changes: readonly ListedChange[];
  readonly cursor: string | null;
  readonly nextCursor: string | null;
}

export const auditPage = (model: AuditModel): VNode => {
  const { app, changes, cursor, nextCursor } = model;
  return appPage(
    model,
    { title: sayText('audit'), section: 'audit' },
    card(
      { title: sayText('whoChanged'), note: sayContent('auditNote') },
      changes.length === 0
        ? empty(sayText('nothingMore'), sayContent('nothingMoreText'))
        : html`<div>
            ${table(
              sayText('changesNewest'),
              [
                { head: sayText('whatColumn'), kind: 'title' },
                { head: sayText('who'), kind: 'detail' },
                { head: sayText('when'), kind: 'when', sorted: 'descending' },
              ],
              changes.map(({ at, by, what }) => [
                bdi(capitalized(phrased(auditPhrases, what) ?? what)),
                bdi(by),
                when(at),
              ]),
            )}
            ${pager({ path: appPaths(app.appId).audit, cursor, nextCursor })}
          </div>`,
    ),
  );
};

const capitalized = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;

/** Changes of an app with their authors. */
const rows = 50;

const Cursor = Type.Unsafe<string>({ type: 'string', pattern: historyCursorPattern, description: 'a cursor' });

/** Needs of the page of an app's history. */
export type AuditPagesDeps = Pick<KeyReads, 'listChanges'> & { readonly team: Pick<TeamReads, 'list'> };

export const auditPages = ({ listChanges, team }: AuditPagesDeps, frames: Frames): readonly AnyPage[] => [
  page({
    path: '/dashboard/apps/{appId}/audit',
    audience: 'owner',
    query: fields({ cursor: Type.Optional(Cursor) }),
    async show(visit) {
      const { cursor = null } = visit.query;
      const [frame, found, members] = await Promise.all([
        frames.ofApp(visit),
        listChanges(visit.visitor.appId, { limit: rows, cursor: cursor ?? undefined }),
        team.list(visit.visitor.appId),
      ]);
      if (isRefusal(found)) throw errorOfRefusal(found);
      const changes = found.changes.map((change) => ({
        ...change,
        by: whoDid(change.by, visit.visitor, frame, members),
        what: withNames(change.what, members, sayText('byFormerMember')),
      }));
      return { page: auditPage({ ...frame, changes, cursor, nextCursor: found.nextCursor }) };
    },
  }),
];
