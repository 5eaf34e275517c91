/** Who changed what. */
import type { VNode } from 'preact';
import type { ListedChange } from '../../queries/appHistory.ts';
import { card, empty } from '../parts/boxes.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { pager } from '../parts/pager.ts';
import { appPaths } from '../parts/paths.ts';
import { table } from '../parts/table.ts';
import { when } from '../parts/time.ts';

export interface AuditModel extends Frame {
  /** Newest first; `by` for people. */
  readonly changes: readonly ListedChange[];
  readonly cursor: string | null;
  readonly nextCursor: string | null;
}

export const auditPage = (model: AuditModel): VNode => {
  const { app, changes, cursor, nextCursor } = model;
  return appPage(
    model,
    { title: 'Audit trail', section: 'audit' },
    card(
      { title: 'Who changed what', note: 'from the log: nothing in it can be changed or removed' },
      changes.length === 0
        ? empty('Nothing more', 'Every change of this app’s settings, keys and links is listed here.')
        : html`<div>
            ${table(
              'Changes, newest first',
              [
                { head: 'What', kind: 'title' },
                { head: 'Who', kind: 'detail' },
                { head: 'When', kind: 'when', sorted: 'descending' },
              ],
              changes.map(({ at, by, what }) => [
                bdi(`${what[0]?.toUpperCase() ?? ''}${what.slice(1)}`),
                bdi(by),
                when(at),
              ]),
            )}
            ${pager({ path: appPaths(app.appId).audit, cursor, nextCursor })}
          </div>`,
    ),
  );
};
