/** The API reference at /docs, drawn from the OpenAPI document, with the app and key of a signed-in reader in its examples. */
import { Router } from 'express';
import type { VNode } from 'preact';
import Type, { type Static } from 'typebox';
import type { Clock } from '../../commands/ports.ts';
import type { PageRoutes } from '../../src/api/app.ts';
import type { KeyReads } from '../../src/api/routes/keys.ts';
import { AppId, oneOf } from '../../src/api/schemas/base.ts';
import { entry, fields } from '../dashboard/forms.ts';
import { withPageHeaders } from '../dashboard/index.ts';
import { type AnyPage, page, type Visit } from '../dashboard/page.ts';
import { createPageRouter, noSuchPage, type PageRouterDeps } from '../dashboard/router.ts';
import { card, empty, inside } from '../parts/boxes.ts';
import { copyButton, submit } from '../parts/field.ts';
import { type Content, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { paths, withQuery } from '../parts/paths.ts';
import { table } from '../parts/table.ts';
import { type ExampleLanguage, type ExampleReader, exampleLanguages, exampleOf } from './examples.ts';
import {
  type ApiOperation,
  type Credential,
  type Reference,
  readReference,
  schemaRows,
  searchOperations,
} from './operations.ts';

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

// Pages of the API reference: the list of operations, and one page for each.

const referencePath = '/docs';
export const tryPath = '/docs/try';
const searchMax = 100;

export const operationPath = (id: string): string => `/docs/api/${encodeURIComponent(id)}`;

/** Choices of the reader, which all links keep. */
export interface ReferenceModel extends ExampleReader {
  readonly reference: Reference;
  readonly language: ExampleLanguage;
  /** App named in the URL; null: the reader's first one. */
  readonly chosenApp: string | null;
  /** Apps of the signed-in reader; null if nobody is signed in. */
  readonly ownApps: readonly string[] | null;
}

const languageNames: Readonly<Record<ExampleLanguage, string>> = {
  curl: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
};

const linkTo = (
  { language, chosenApp }: ReferenceModel,
  path: string,
  more: Readonly<Record<string, string | null>> = {},
): string => withQuery(path, { lang: language === 'curl' ? null : language, app: chosenApp, ...more });

/** Every operation, or those that a search finds. */
export function referencePage(model: ReferenceModel, query: string | null): VNode {
  const { reference } = model;
  const found = query === null ? reference.operations : searchOperations(reference, query);
  const groups = reference.tags.flatMap((tag) => {
    const own = found.filter((each) => each.tag === tag.name);
    return own.length === 0 ? [] : [{ ...tag, own }];
  });
  return around(
    model,
    { title: 'API reference', query, here: null },
    html`<div class="stack">
      <div><h1>API reference</h1>
      <p class="muted" role=${query === null ? undefined : 'status'}>${
        query === null
          ? 'Amounts are decimal texts, times are ISO 8601 in UTC. Unknown fields are refused. Every answer has an X-Request-Id.'
          : `${found.length} of ${reference.operations.length} operations contain “${query}”.`
      }</p></div>
      ${query === null && beginning(model)}
      ${
        groups.length === 0
          ? card(
              { title: 'Nothing found' },
              empty('No operation contains these words', 'Search for a path, a field or a word.'),
            )
          : groups.map(({ name, description, own }) =>
              card(
                { title: name, note: description },
                html`<ul class="list">${own.map(
                  (each) => html`<li><a class="go" href=${linkTo(model, operationPath(each.id))}><span>
                  <strong>${each.summary}</strong><span class="mono small muted">${signature(each)}</span></span></a></li>`,
                )}</ul>`,
              ),
            )
      }
    </div>`,
  );
}

const beginning = (model: ReferenceModel): VNode =>
  html`<div class="pair">
    ${card(
      { title: 'Credentials' },
      inside(html`<ul class="points">
        <li>An API key in <code>X-API-Key</code>, or as bearer in <code>Authorization</code>. Keep it on your server.</li>
        <li>A token of a signed-in person as bearer. An owner of several apps names one in <code>X-App-Id</code>.</li>
        <li>Errors are JSON with a stable <code>error</code>, a <code>message</code> and the <code>requestId</code>.</li>
      </ul>`),
    )}
    ${card(
      { title: 'Further' },
      inside(html`<ul class="points">
        <li><a href="/docs/guides">Guides</a>: a payment in five minutes, statuses, webhooks</li>
        <li><a href="/docs/guides/pictures">Pictures</a> of the service</li>
        <li><a href="/docs/guides/limits">Limits</a> on requests</li>
        <li><a href=${tryPath}>Try it</a>: send requests from the browser</li>
        <li><a href="/openapi.json">OpenAPI 3.1</a>, <a href="/openapi-3.0.json">OpenAPI 3.0</a></li>
        ${model.ownApps === null && html`<li><a href=${withQuery(paths.signIn, { next: null })}>Sign in</a> to see your app and key in the examples</li>`}
      </ul>`),
    )}
  </div>`;

const signature = ({ method, path }: ApiOperation): string =>
  path === null ? 'Webhook to your URL' : `${method} ${path}`;

const credentials: Readonly<Record<Credential, string>> = {
  none: 'None needed',
  optional: 'API key, or none',
  key: 'API key',
  person: 'Token of a signed-in person',
};

export function operationPage(model: ReferenceModel, operation: ApiOperation): VNode {
  const { reference } = model;
  const { id, tag, summary, description, credential, needsAdmin, parameters, body } = operation;
  const { document } = reference;
  const rows = parameters.flatMap(({ name, where, required, schema }) =>
    schemaRows(document, { type: 'object', properties: { [name]: schema }, required: required ? [name] : [] })
      .slice(0, 1)
      .map((row) => ({ ...row, type: `${row.type}, in the ${where}` })),
  );
  const answered = operation.answers.find(({ status }) => status.startsWith('2'));
  const answerFields = answered?.schema ? schemaRows(document, answered.schema) : [];
  return around(
    model,
    { title: summary, query: null, here: id },
    html`<div class="stack">
      <div><p class="small muted">${tag}</p><h1>${summary}</h1><p class="mono signature">${signature(operation)}</p></div>
      ${description && html`<p>${description}</p>`}
      <p class="small muted">Credential: ${credentials[credential]}${needsAdmin ? ', of scope admin' : ''}</p>
      ${examples(model, operation)}
      ${rows.length > 0 && card({ title: 'Parameters' }, fieldTable('Parameters', rows))}
      ${body && fieldCard(model, 'Body', body)}
      ${card(
        { title: 'Answers' },
        table(
          'Answers',
          [
            { head: 'Status', kind: 'title' },
            { head: 'Meaning', kind: 'note' },
          ],
          operation.answers.map((each) => [html`<code>${each.status}</code>`, each.description]),
        ),
      )}
      ${
        answerFields.length > 0 &&
        html`<details class="card fold"><summary>Fields of the answer <small class="muted">${answerFields.length}</small></summary>
        ${fieldTable('Fields of the answer', answerFields)}</details>`
      }
    </div>`,
  );
}

function fieldCard({ reference }: ReferenceModel, title: string, body: NonNullable<ApiOperation['body']>): VNode {
  const rows = schemaRows(reference.document, body.schema);
  return card(
    { title, note: body.type },
    rows.length > 0 ? fieldTable(title, rows) : inside(html`<p>A file of this type, as it is.</p>`),
  );
}

const fieldTable = (caption: string, rows: ReturnType<typeof schemaRows>): VNode =>
  table(
    caption,
    [
      { head: 'Name', kind: 'title' },
      { head: 'Meaning', kind: 'note' },
    ],
    rows.map(({ name, type, required, description }) => [
      html`<span><code>${name}</code>${required && html`<small class="below">required</small>`}</span>`,
      html`<span>${description}<small class="below">${type}</small></span>`,
    ]),
  );

function examples(model: ReferenceModel, operation: ApiOperation): VNode | null {
  const { reference, language, ownApps, appId } = model;
  const text = exampleOf(reference, operation, language, model);
  if (text === null) return null;
  const here = operationPath(operation.id);
  return html`<section class="card" aria-labelledby="example">
    <header><h2 id="example">Example</h2>
      <nav class="controls" aria-label="Language">${exampleLanguages.map(
        (
          each,
        ) => html`<a class="button quiet small" href=${linkTo(model, here, { lang: each === 'curl' ? null : each })}
        aria-current=${each === language ? 'true' : undefined}>${languageNames[each]}</a>`,
      )}${copyButton(text, 'Example')}</nav></header>
    <pre class="example" tabindex="0" aria-labelledby="example"><code>${text}</code></pre>
    ${
      ownApps !== null &&
      ownApps.length > 1 &&
      html`<nav class="foot" aria-label="App of the examples">${ownApps.map(
        (each) =>
          html`<a href=${linkTo(model, here, { app: each })} aria-current=${each === appId ? 'true' : undefined}>${each}</a>`,
      )}</nav>`
    }
  </section>`;
}

interface Around {
  readonly title: string;
  readonly query: string | null;
  /** ApiOperation of the page; null for the list. */
  readonly here: string | null;
}

const around = (model: ReferenceModel, { title, query, here }: Around, content: Content): VNode =>
  html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>${`${title} · Payment Intents`}</title>
      ${['look.css', 'reference.css'].map((file) => html`<link rel="stylesheet" href=${paths.asset(file)} />`)}
      <link rel="icon" href=${paths.asset('icon.svg')} type="image/svg+xml" />
      <script type="module" src=${paths.asset('copy.js')}></script>
    </head>
    <body>
      <a class="skip" href="#main">Skip to the content</a>
      <div class="reference">
        <header class="side">
          <a class="who" href=${linkTo(model, referencePath)}><span class="mark" aria-hidden="true">${icon('payments')}</span>
          <strong>API reference</strong></a>
          <form role="search" action=${referencePath}>
            <input type="search" name="q" aria-label="Search the reference" placeholder="Search" maxlength=${searchMax} value=${query ?? ''} />
            ${model.language !== 'curl' && html`<input type="hidden" name="lang" value=${model.language} />`}
            ${model.chosenApp !== null && html`<input type="hidden" name="app" value=${model.chosenApp} />`}
            ${submit('Search', 'plain')}
          </form>
        </header>
        <main id="main" tabindex="-1">${content}</main>
        <nav class="side" aria-label="Operations">${model.reference.tags.map((tag) => group(model, tag.name, here))}
          <ul class="further"><li><a href="/docs/guides">Guides</a></li><li><a href=${tryPath}>Try it</a></li>
          <li><a href=${model.ownApps === null ? '/' : paths.home}>${model.ownApps === null ? 'Front page' : 'To your apps'}</a></li></ul>
        </nav>
      </div>
    </body>
  </html>`;

function group(model: ReferenceModel, tag: string, here: string | null): VNode | null {
  const own = model.reference.operations.filter((each) => each.tag === tag);
  if (own.length === 0) return null;
  const isOpen = own.some(({ id }) => id === here);
  return html`<details open=${isOpen}><summary>${tag}</summary><ul>${own.map(
    ({ id, summary }) =>
      html`<li><a href=${linkTo(model, operationPath(id))} aria-current=${id === here ? 'page' : undefined}>${summary}</a></li>`,
  )}</ul></details>`;
}
