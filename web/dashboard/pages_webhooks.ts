/** Where an app's webhooks go, the secret that signs them, and what was sent. */
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { errorOfRefusal } from '../../src/api/errors.ts';
import { Cursor } from '../../src/api/schemas/base.ts';
import { emptyForm, type FormState } from '../parts/form.ts';
import { appPaths } from '../parts/paths.ts';
import { confirmPage } from './confirm.ts';
import { entry, fields, noFields } from './fields.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, form, page, type Shown, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';
import { webhooksPage } from './webhooks.ts';

type Deps = Pick<HttpDeps, 'merchants' | 'getSettings' | 'listDeliveries' | 'sendTest' | 'shown'>;
type Own = Visit<'owner'>;

interface Asked {
  readonly state: FormState;
  readonly cursor?: string | null;
  /** Shown in the answer to the POST that made it, and nowhere else. */
  readonly newSecret?: string | null;
}
type Listed = (visit: Own, asked: Asked) => Promise<Shown>;

const path = '/dashboard/apps/{appId}/webhooks';
const rows = 25;

/** Before the page of one delivery, whose id would be taken for these words otherwise. */
export function webhookPages(deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const listed = listing(deps, frames);
  return [
    page({
      path,
      audience: 'owner',
      query: fields({ cursor: Type.Optional(Cursor) }),
      show: (visit) => listed(visit, { state: emptyForm, cursor: visit.query.cursor ?? null }),
    }),
    ...changingUrl(deps, frames, listed),
    ...rotating(deps, frames, listed),
  ];
}

const listing =
  ({ getSettings, listDeliveries }: Deps, frames: Frames): Listed =>
  async (visit, { state, cursor = null, newSecret = null }) => {
    const { appId } = visit.visitor;
    const [frame, settings, sent] = await Promise.all([
      frames.ofApp(visit),
      getSettings(appId),
      listDeliveries(appId, { limit: rows, ...(cursor !== null && { cursor }) }),
    ]);
    if (isRefusal(sent)) throw errorOfRefusal(sent);
    const webhookUrl = settings?.webhookUrl ?? null;
    const values = Object.keys(state.values).length > 0 ? state.values : { webhookUrl: webhookUrl ?? '' };
    const model = {
      webhookUrl,
      fingerprint: settings?.webhookSecretFingerprint ?? null,
      rotatedAt: settings?.webhookSecretRotatedAt ?? null,
      form: { ...state, values },
      newSecret,
      cursor,
      ...sent,
    };
    return { page: webhooksPage({ ...frame, ...model }) };
  };

const changingUrl = (
  { merchants, getSettings, sendTest, shown }: Deps,
  frames: Frames,
  listed: Listed,
): readonly (AnyPage | AnyForm)[] => {
  const again = (visit: Own, state: FormState) => listed(visit, { state });
  return [
    form({
      path: `${path}/url`,
      audience: 'owner',
      fields: fields({ webhookUrl: entry(2_048) }),
      async act({ visitor: { appId }, fields: { webhookUrl }, by }) {
        const changed = await merchants.setWebhookUrl(appId, webhookUrl, by);
        if (isRefusal(changed)) return changed;
        await shown(changed);
        return { to: appPaths(appId).webhooks, told: 'webhookSet' };
      },
      again,
    }),
    page({
      path: `${path}/remove`,
      audience: 'owner',
      async show(visit) {
        const settings = await getSettings(visit.visitor.appId);
        if (!settings?.webhookUrl) throw noSuchPage();
        const danger = { kind: 'removeWebhook', webhookUrl: settings.webhookUrl } as const;
        return { page: confirmPage({ ...(await frames.ofApp(visit)), danger }) };
      },
    }),
    form({
      path: `${path}/remove`,
      audience: 'owner',
      fields: noFields,
      async act({ visitor: { appId }, by }) {
        const changed = await merchants.setWebhookUrl(appId, null, by);
        if (isRefusal(changed)) return changed;
        await shown(changed);
        return { to: appPaths(appId).webhooks, told: 'webhookRemoved' };
      },
      again,
    }),
    form({
      path: `${path}/test`,
      audience: 'owner',
      fields: noFields,
      async act({ visitor: { appId }, by }) {
        const test = await sendTest(appId, by);
        if (isRefusal(test)) return test;
        return { to: appPaths(appId).delivery(test.deliveryId), told: 'testSent' };
      },
      again,
    }),
  ];
};

const rotating = ({ merchants, shown }: Deps, frames: Frames, listed: Listed): readonly (AnyPage | AnyForm)[] => [
  page({
    path: `${path}/rotate`,
    audience: 'owner',
    show: async (visit) => ({
      page: confirmPage({ ...(await frames.ofApp(visit)), danger: { kind: 'rotateSecret' } }),
    }),
  }),
  form({
    path: `${path}/rotate`,
    audience: 'owner',
    fields: noFields,
    async act(visit) {
      const rotated = await merchants.rotateSecret(visit.visitor.appId, visit.by);
      if (isRefusal(rotated)) return rotated;
      await shown(rotated).catch(() => {});
      return listed(visit, { state: emptyForm, newSecret: rotated.webhookSecret });
    },
    again: (visit, state) => listed(visit, { state }),
  }),
];
