/** The OpenAPI document, its viewer and the guides, served completely from here: no other host, nothing inline. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Marked, type Tokens } from 'marked';
import type { VNode } from 'preact';
import type { DocumentJson } from '../../src/api/openapi/components.ts';
import { asOpenApi30 } from '../../src/api/openapi/document.ts';
import { type Answer, type AnyRoute, route } from '../../src/api/router.ts';
import { documentOf, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { paths } from '../parts/paths.ts';

/** Pages of `docs/` that a running service shows, in reading order: each name with its folder. */
export const guides = {
  'five-minutes': 'start',
  statuses: 'integrate',
  orders: 'integrate',
  webhooks: 'integrate',
  feed: 'integrate',
  'webhooks-or-feed': 'integrate',
  'payment-page': 'integrate',
  embedding: 'integrate',
  'wrong-money': 'integrate',
  policies: 'integrate',
  refunds: 'integrate',
  cashback: 'integrate',
  accounts: 'integrate',
  apps: 'integrate',
  clients: 'integrate',
  testing: 'integrate',
  'go-live': 'integrate',
  pictures: 'start',
  limits: 'reference',
} as const;
export type GuideName = keyof typeof guides;
export const guideNames = Object.keys(guides) as readonly GuideName[];

export const guidesPath = '/docs/guides';
const imagesPath = '/docs/images';
const documents = new URL('../../docs/', import.meta.url);

/** Reads a guide's Markdown as it is in the repository. */
export const readGuide = (name: GuideName): string =>
  readFileSync(new URL(`${guides[name]}/${name}.md`, documents), 'utf8');

const titleOf = (markdown: string): string => /^# (.+)$/m.exec(markdown)?.[1] ?? '';

/** Heading anchors as Markdown hosts make them, so their links work here as well. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const picture = /\/images\/([a-z-]+)\.svg$/;

/** Pictures that the guides show. */
const picturesShown = (): readonly string[] => {
  const shown = guideNames.flatMap((guide) => [...readGuide(guide).matchAll(/\]\(([^)\s]+\.svg)\)/g)]);
  return [...new Set(shown.flatMap(([, href = '']) => picture.exec(href)?.[1] ?? []))];
};

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }: Tokens.Heading) {
      return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    /** A link to a page or file that the service does not serve keeps only its label. */
    link({ href, tokens }: Tokens.Link) {
      const label = this.parser.parseInline(tokens);
      if (/^(https?:|\/|#)/.test(href)) return `<a href="${href}">${label}</a>`;
      const [, name = '', anchor = ''] = /([a-z-]+)\.md(#.*)?$/.exec(href) ?? [];
      return name in guides ? `<a href="${guidesPath}/${name}${anchor}">${label}</a>` : label;
    },
    /** A picture of `docs/images`, with a link to its full size; other images keep only their text. */
    image({ href, text }: Tokens.Image) {
      const [, name] = picture.exec(href) ?? [];
      if (name === undefined) return text;
      const source = `${imagesPath}/${name}.svg`;
      return `<a class="picture" href="${source}"><img src="${source}" alt="${text.replaceAll('"', '&quot;')}"></a>`;
    },
  },
});

/** @returns a complete document */
export function renderGuide(name: GuideName): string {
  const markdown = readGuide(name);
  const entries = guideNames.map((each) => ({
    href: `${guidesPath}/${each}`,
    title: titleOf(readGuide(each)),
    isHere: each === name,
  }));
  return documentOf(
    guidePage({ title: titleOf(markdown), guides: entries, article: marked.parse(markdown, { async: false }) }),
  );
}

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Payment Intents: try the API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/start.css">
</head>
<body>
<nav class="swagger-ui" aria-label="Guides"><div class="wrapper renderedMarkdown"><p>Back to the <a href="/docs">API reference</a>. New here? Read the <a href="/docs/guides">guides</a>: a payment in five minutes, the meaning of each status, wrong amounts. Or look at the <a href="/docs/guides/pictures">pictures</a>: components, one payment over time, trust zones, accounts of the money.</p></div></nav>
<div id="reference"></div>
<noscript>This page needs JavaScript; the document itself is at <a href="/openapi.json">/openapi.json</a>, in OpenAPI 3.0 at <a href="/openapi-3.0.json">/openapi-3.0.json</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** No validator: it would send the document to a third party. */
const start = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', validatorUrl: null, tryItOutEnabled: true });
`;

/** Wide tables scroll on phones; the page does not. */
const startStyle = `.swagger-ui .renderedMarkdown table { display: block; overflow-x: auto; }
`;

const files = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

const cacheable = { 'Cache-Control': 'public, max-age=3600' };
const resolve = createRequire(import.meta.url).resolve;

/** @param document called once, at its first reader */
export function documentationRoutes(document: () => DocumentJson): readonly AnyRoute[] {
  const get = (path: string, handle: () => Promise<Answer>) =>
    route({
      method: 'get',
      path,
      auth: 'none',
      anyOrigin: true,
      answers: { 200: { description: path } },
      errors: [],
      doc: null,
      handle,
    });
  return [
    get(
      '/openapi.json',
      once(async () => jsonAnswer(document())),
    ),
    get(
      '/openapi-3.0.json',
      once(async () => jsonAnswer(asOpenApi30(document()))),
    ),
    get('/docs/try', async () => ({ status: 200, type: 'text/html; charset=utf-8', body: page })),
    get('/docs/start.js', async () => ({ status: 200, type: 'text/javascript; charset=utf-8', body: start })),
    get('/docs/start.css', async () => ({ status: 200, type: 'text/css; charset=utf-8', body: startStyle })),
    get(guidesPath, guideAnswer('five-minutes')),
    ...guideNames.map((name) => get(`${guidesPath}/${name}`, guideAnswer(name))),
    ...picturesShown().map((name) => get(`${imagesPath}/${name}.svg`, pictureAnswer(name))),
    ...Object.entries(files).map(([name, type]) =>
      get(
        `/docs/${name}`,
        once(() => fileAnswer(name, type)),
      ),
    ),
  ];
}

const jsonAnswer = (document: DocumentJson): Answer => ({
  status: 200,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(document),
});

const guideAnswer = (name: GuideName): (() => Promise<Answer>) =>
  once(async () => ({ status: 200, type: 'text/html; charset=utf-8', body: renderGuide(name), headers: cacheable }));

/** Opened alone, a picture has its own style and nothing else. */
const ofPictures = {
  ...cacheable,
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
};

const pictureAnswer = (name: string): (() => Promise<Answer>) =>
  once(async () => {
    const body = await readFile(new URL(`images/${name}.svg`, documents));
    return { status: 200, type: 'image/svg+xml', body, headers: ofPictures };
  });

async function fileAnswer(name: string, type: string): Promise<Answer> {
  const body = await readFile(resolve(`swagger-ui-dist/${name}`));
  return { status: 200, type, body, headers: cacheable };
}

/** Reads at first use and keeps the result. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

// A guide with navigation to the others and to the reference.

export interface GuidePage {
  readonly title: string;
  readonly guides: readonly { readonly href: string; readonly title: string; readonly isHere: boolean }[];
  /** HTML of the project's own text. */
  readonly article: string;
}

const guidePage = ({ title, guides, article }: GuidePage): VNode =>
  html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>${`${title} · Payment Intents`}</title>
      <link rel="stylesheet" href=${paths.asset('look.css')} />
      <link rel="stylesheet" href=${paths.asset('guide.css')} />
      <link rel="icon" href=${paths.asset('icon.svg')} type="image/svg+xml" />
    </head>
    <body>
      <a class="skip" href="#main">Skip to the content</a>
      <div class="guides">
        <nav aria-label="Guides">
          <a class="who" href="/docs/guides"><span class="mark" aria-hidden="true">${icon('payments')}</span><strong>Guides</strong></a>
          <ul>
            ${guides.map(
              ({ href, title: name, isHere }) =>
                html`<li><a href=${href} aria-current=${isHere ? 'page' : undefined}>${name}</a></li>`,
            )}
            <li class="reference"><a href="/docs">API reference</a></li>
          </ul>
        </nav>
        <main id="main" tabindex="-1"><article dangerouslySetInnerHTML=${{ __html: article }}></article></main>
      </div>
    </body>
  </html>`;
