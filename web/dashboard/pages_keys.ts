/** API keys: issued and shown once, renamed, revoked. */

import Type, { type Static } from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import { type Instant, plus } from '../../domain/time.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { issueKey } from '../../src/api/issueKey.ts';
import { oneOf, Uuid } from '../../src/api/schemas/base.ts';
import { emptyForm, type FormState } from '../parts/form.ts';
import { appPaths } from '../parts/paths.ts';
import { confirmPage } from './confirm.ts';
import { entry, fields, noFields } from './fields.ts';
import type { Frames } from './frames.ts';
import { type KeysModel, keysPage } from './keys.ts';
import { type AnyForm, type AnyPage, form, page, type Shown, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';
import { whoDid } from './whoDid.ts';

type Deps = Pick<HttpDeps, 'merchants' | 'listKeys' | 'shown' | 'clock'>;
type Own = Visit<'owner'>;

const path = '/dashboard/apps/{appId}/keys';
const day_ms = 86_400_000;

const NewKey = fields({
  name: entry(100),
  scope: oneOf(['orders', 'admin']),
  expiresInDays: Type.Optional(
    Type.Unsafe<string>({ type: 'string', pattern: '^[1-9][0-9]{0,3}$', description: 'a whole number of days' }),
  ),
});
const KeyPath = Type.Object({ keyId: Uuid });

export function keyPages(deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { merchants, listKeys, shown } = deps;
  const listed = async (visit: Own, state: FormState, issued: KeysModel['issued'] = null): Promise<Shown> => {
    const [frame, all] = await Promise.all([frames.ofApp(visit), listKeys(visit.visitor.appId)]);
    const keys = all.map((key) => ({ ...key, createdBy: whoDid(key.createdBy, visit.visitor, frame) }));
    return { page: keysPage({ ...frame, keys, form: state, issued, now: deps.clock.now() }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => listed(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: NewKey,
      async act(visit) {
        const { appId } = visit.visitor;
        const { name, scope } = visit.fields;
        const issued = await issueKey(deps, appId, { name, scope, expiresAt: expiryOf(visit.fields) }, visit.by);
        if (isRefusal(issued)) return issued;
        // The key is in this answer alone: a page that is led to could be read again.
        return listed(visit, emptyForm, { key: issued.key, name, scope });
      },
      again: listed,
    }),
    form({
      path: `${path}/{keyId}/rename`,
      audience: 'owner',
      params: KeyPath,
      fields: fields({ name: entry(100) }),
      async act({ visitor: { appId }, params, fields: { name }, by }) {
        const renamed = await merchants.renameKey(appId, params.keyId, name, by);
        if (isRefusal(renamed)) return renamed;
        await shown(renamed).catch(() => {});
        return { to: appPaths(appId).keys, told: 'keyRenamed' };
      },
      again: listed,
    }),
    ...revoking(deps, frames, listed),
  ];

  function expiryOf({ expiresInDays }: Static<typeof NewKey>): Instant | null {
    return expiresInDays === undefined ? null : plus(deps.clock.now(), Number(expiresInDays) * day_ms);
  }
}

const revoking = (
  { merchants, listKeys, shown }: Deps,
  frames: Frames,
  listed: (visit: Own, state: FormState) => Promise<Shown>,
): readonly (AnyPage | AnyForm)[] => [
  page({
    path: `${path}/{keyId}/revoke`,
    audience: 'owner',
    params: KeyPath,
    async show(visit) {
      const { appId } = visit.visitor;
      const key = (await listKeys(appId)).find(({ keyId }) => keyId === visit.params.keyId);
      if (!key || key.revokedAt !== null) throw noSuchPage();
      const { keyId, name, hint, lastUsedAt } = key;
      const danger = { kind: 'revokeKey', keyId, name, hint, lastUsedAt } as const;
      return { page: confirmPage({ ...(await frames.ofApp(visit)), danger }) };
    },
  }),
  form({
    path: `${path}/{keyId}/revoke`,
    audience: 'owner',
    params: KeyPath,
    fields: noFields,
    async act({ visitor: { appId }, params, by }) {
      const revoked = await merchants.revokeKey(appId, params.keyId, by);
      if (isRefusal(revoked)) return revoked;
      await shown(revoked).catch(() => {});
      return { to: appPaths(appId).keys, told: 'keyRevoked' };
    },
    again: listed,
  }),
];
