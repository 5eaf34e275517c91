/** The API reference at /docs, drawn from the OpenAPI document, with the app and key of a signed-in reader in its examples. */

import { Router } from 'express';
import Type, { type Static } from 'typebox';
import type { Clock } from '../../commands/ports.ts';
import type { PageRoutes } from '../../src/api/app.ts';
import type { KeyReads } from '../../src/api/routes/keys.ts';
import { AppId, oneOf } from '../../src/api/schemas/base.ts';
import { entry, fields } from '../dashboard/forms.ts';
import { withPageHeaders } from '../dashboard/index.ts';
import { type AnyPage, page, type Visit } from '../dashboard/page.ts';
import { createPageRouter, noSuchPage, type PageRouterDeps } from '../dashboard/router.ts';
import { type ExampleReader, exampleLanguages } from './examples.ts';
import { type Reference, readReference } from './operations.ts';
import { operationPage, type ReferenceModel, referencePage, referencePath, searchMax } from './page.ts';

/** Needs of the API reference. */
export interface ReferenceDeps extends PageRouterDeps, Pick<KeyReads, 'listKeys'> {
  readonly clock: Pick<Clock, 'now'>;
}

export const createReference = (deps: ReferenceDeps): PageRoutes => ({
  routerBehind(gate, document) {
    const router = Router({ caseSensitive: true });
    let read: Reference | undefined;
    const reference = () => {
      read ??= readReference(document());
      return read;
    };
    // Other paths under /docs are files and guides.
    router.use(referencePath, (request, response, next) =>
      request.path === '/' || request.path.startsWith('/api/') ? withPageHeaders(request, response, next) : next(),
    );
    router.use(createPageRouter(pages(deps, reference), { ...gate, ignoresUnknown: true, deps }));
    return router;
  },
  errorPage: () => undefined,
});

const choices = { lang: Type.Optional(oneOf([...exampleLanguages])), app: Type.Optional(AppId) };
const Choices = fields(choices);

function pages(deps: ReferenceDeps, reference: () => Reference): readonly AnyPage[] {
  return [
    page({
      path: referencePath,
      audience: 'anyone',
      query: fields({ ...choices, q: Type.Optional(entry(searchMax)) }),
      show: async (visit) => ({ page: referencePage(await modelOf(visit, visit.query), visit.query.q ?? null) }),
    }),
    page({
      path: '/docs/api/{operation}',
      audience: 'anyone',
      params: Type.Object({ operation: entry(64) }),
      query: Choices,
      async show(visit) {
        const found = reference().operations.find(({ id }) => id === visit.params.operation);
        if (!found) throw noSuchPage();
        return { page: operationPage(await modelOf(visit, visit.query), found) };
      },
    }),
  ];

  async function modelOf({ visitor }: Visit<'anyone'>, chosen: Static<typeof Choices>): Promise<ReferenceModel> {
    const { lang: language = 'curl', app = null } = chosen;
    const common = { reference: reference(), language };
    if (!visitor) return { ...common, chosenApp: null, ownApps: null, appId: null, keyHint: null };
    const own = (await deps.appsOf(visitor.developerId)).slice(0, appsMax);
    // Another owner's app in the URL is answered like an unknown one.
    if (app !== null && !own.includes(app)) throw noSuchPage();
    return { ...common, chosenApp: app, ownApps: own, ...(await readerOf(app ?? own[0] ?? null)) };
  }

  /** Names the newest key of the app that is in force. */
  async function readerOf(appId: string | null): Promise<ExampleReader> {
    if (appId === null) return { appId, keyHint: null };
    const now = deps.clock.now();
    const keys = await deps.listKeys(appId);
    const newest = keys.findLast((key) => key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now));
    return { appId, keyHint: newest?.hint ?? null };
  }
}

/** Apps that the reference offers for examples. */
const appsMax = 20;
