/** Front page at `/`, the icon and the rules for search engines, and the error page of every path that has no pages of its own. */
import { readFile } from 'node:fs/promises';
import { type Request, type RequestHandler, Router } from 'express';
import type { VNode } from 'preact';
import type { Chain } from '../../domain/chains.ts';
import { formatAmount, microUsdDecimals } from '../../domain/money.ts';
import { prefersHtml, qualityOf } from '../../src/api/accept.ts';
import type { PageRoutes } from '../../src/api/app.ts';
import { localsOf } from '../../src/api/middleware.ts';
import type { Admission } from '../../src/api/rateLimits.ts';
import { type Answer, answerOtherMethods, send } from '../../src/api/router.ts';
import { memoizeFor, type Readiness, type ReadinessDeps } from '../../src/api/routes/operations.ts';
import { withPageHeaders } from '../dashboard/index.ts';
import { type AnyPage, createFrames, type FramesDeps, page } from '../dashboard/page.ts';
import { pageOfError } from '../dashboard/refusals.ts';
import { createPageRouter, htmlType, type PageRouterDeps } from '../dashboard/router.ts';
import { card, chip, inside, pairs } from '../parts/boxes.ts';
import { linkButton } from '../parts/field.ts';
import type { Outer, Site } from '../parts/frame.ts';
import { type Content, documentOf, html } from '../parts/html.ts';
import { outerPage } from '../parts/layout.ts';
import { paths } from '../parts/paths.ts';

/** Needs of the front page. */
export type FrontDeps = FramesDeps & PageRouterDeps & ReadinessDeps & { readonly publicUrl: () => string };

const home = '/';

/** Payment pages and the dashboard are for holders of a link and for owners. */
const robots = `User-agent: *
Allow: /$
Allow: /docs
Allow: /llms.txt
Disallow: /
`;

const cacheable = { 'Cache-Control': 'public, max-age=86400' };

/** Interval between two checks for the front page, whatever the number of its readers. */
const stateLife_ms = 5_000;

export const createFront = (deps: FrontDeps): PageRoutes => ({
  routerBehind(gate) {
    // Strict, because `//` is no valid path.
    const router = Router({ caseSensitive: true, strict: true });
    router.get(home, withPageHeaders);
    // Links from elsewhere carry parameters of their own, such as utm_source.
    router.use(createPageRouter([front(deps)], { ...gate, ignoresUnknown: true, strict: true, deps }));
    const icon = () => readFile(new URL('favicon.ico', import.meta.url));
    serveFile(router, gate.admission, '/favicon.ico', async () => ({ type: 'image/x-icon', body: await icon() }));
    serveFile(router, gate.admission, '/robots.txt', async () => ({ type: 'text/plain; charset=utf-8', body: robots }));
    const llms = () => llmsText(deps.publicUrl());
    serveFile(router, gate.admission, '/llms.txt', async () => ({ type: 'text/plain; charset=utf-8', body: llms() }));
    return router;
  },

  errorPage(error, request, response) {
    if (!isOpenedByPerson(request)) return undefined;
    response.setHeader('Vary', 'Accept, Sec-Fetch-Mode');
    const page = pageOfError(error, request.method, localsOf(response).requestId, deps.site.mode);
    return { type: htmlType, body: documentOf(page) };
  },
});

/** Paths of the API: programs that name text/html get JSON there, as documented. */
const apiPath = /^\/(payment-api|merchant-api|v1|x402)(\/|$)/;

/** Browsers name text/html, and report in Sec-Fetch-Mode that they open a page. Old browsers do not send that header. */
function isOpenedByPerson({ method, path, headers }: Request): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || qualityOf(headers.accept, 'text/html') === 0) return false;
  const mode = headers['sec-fetch-mode'];
  return prefersHtml(headers.accept) && (mode === undefined ? !apiPath.test(path) : mode === 'navigate');
}

function serveFile(
  router: Router,
  admission: Pick<Admission, 'ofStranger'>,
  path: string,
  read: () => Promise<Pick<Answer, 'type' | 'body'>>,
): void {
  const answer: RequestHandler = async (request, response) => {
    localsOf(response).route = path;
    await admission.ofStranger(request, response);
    send(response, { status: 200, headers: cacheable, ...(await read()) });
  };
  const resource = router.route(path);
  resource.get(answer);
  answerOtherMethods(resource, path, [{ method: 'get' }]);
}

function front(deps: FrontDeps): AnyPage {
  const { site, readiness, clock } = deps;
  const frames = createFrames(deps);
  const check = memoizeFor(() => readiness().catch(() => null), { clock, life_ms: stateLife_ms });
  return page({
    path: home,
    audience: 'anyone',
    async show(visit) {
      const [outer, found] = await Promise.all([frames.outer(visit), check()]);
      const { chains, fee, registrationOpen } = site;
      const model = { chains, fee, registrationOpen, state: stateIn(found), behind: behindIn(found) };
      return { page: frontPage({ ...outer, ...model }) };
    },
  });
}

const stateIn = (found: Readiness | null): ServiceState =>
  found === null ? 'unknown' : found.ready ? 'accepting' : 'notAccepting';

const chainCheck = /^chain:(\d+)$/;

const behindIn = (found: Readiness | null): ReadonlySet<number> =>
  new Set(
    Object.entries(found?.checks ?? {}).flatMap(([name, { ok }]) => {
      const [, id] = chainCheck.exec(name) ?? [];
      return ok || id === undefined ? [] : [Number(id)];
    }),
  );

// Front page of an installation: its purpose, the first steps, its chains, fee and state.

/** State of the installation; unknown if its checks did not answer. */
type ServiceState = 'accepting' | 'notAccepting' | 'unknown';

export interface FrontModel extends Outer, Pick<Site, 'chains' | 'fee' | 'registrationOpen'> {
  readonly state: ServiceState;
  /** Ids of chains that new payments cannot use at present. */
  readonly behind: ReadonlySet<number>;
}

export const frontPage = (model: FrontModel): VNode =>
  outerPage(
    model,
    'Payment Intents: stablecoin payments between chains',
    html`<div class="front">
      <link rel="stylesheet" href=${paths.asset('front.css')} />
      <section class="welcome">
        <h1>Your customer pays on one chain. You are paid on another.</h1>
        <p class="muted">Payment Intents accepts a stablecoin payment, waits until it is final, and pays it out to your own wallet on the
        chain that you choose. Too much, too little or the wrong token is kept safe for its sender.</p>
        <div class="controls">${entrance(model)}${linkButton('/docs', 'Read the docs')}</div>
      </section>
      <ol class="way-of-money">${steps.map(
        ([title, text]) =>
          html`<li class="card">${inside(html`<div><h2>${title}</h2><p class="muted">${text}</p></div>`)}</li>`,
      )}</ol>
      <div class="halves">
        ${card({ title: 'Chains', note: stateOf(model.state) }, chainList(model))}
        ${card(
          { title: 'Fee and limits' },
          inside(html`<div class="rows">
            ${pairs([
              ['Fee', feeText(model.fee)],
              [
                'Network costs',
                'Payers pay for their own transfer. The fee is at least the network cost of your payout.',
              ],
              ['Your keys', 'Payouts go to a wallet whose keys you hold. No API key can change it.'],
            ])}
            <ul class="further">
              <li><a href="/docs/guides/five-minutes">A payment in five minutes</a></li>
              <li><a href="/docs">API reference</a></li>
              <li><a href="/docs/guides/statuses">Meaning of each status</a></li>
              <li><a href="/docs/guides/limits">Limits</a></li>
            </ul></div>`),
        )}
      </div>
    </div>`,
    true,
  );

const steps: readonly (readonly [title: string, text: string])[] = [
  ['Create', 'Your server or the dashboard creates a payment. Its link has a page with a QR code, in five languages.'],
  [
    'Receive',
    'The customer sends the stablecoin from any supported chain. The page follows the transfer until it is final.',
  ],
  ['Be paid', 'The amount arrives in your wallet. A signed webhook reports it, and the event log proves it.'],
];

const entrance = ({ person, registrationOpen }: FrontModel): Content => {
  if (person !== null) return linkButton(paths.home, 'To your apps', 'primary');
  const signIn = linkButton(paths.signIn, 'Sign in', registrationOpen ? 'plain' : 'primary');
  return registrationOpen ? [linkButton(paths.register, 'Register an app', 'primary'), signIn] : signIn;
};

const states = {
  accepting: ['ok', 'Accepts payments'],
  notAccepting: ['bad', 'Not accepting payments at present'],
  unknown: ['wait', 'State unknown at present'],
} as const;

function stateOf(state: ServiceState): VNode {
  const [kind, word] = states[state];
  return chip(kind, word);
}

const chainList = ({ chains, behind }: FrontModel): VNode =>
  html`<ul class="list chains">${chains.map(
    (chain) => html`<li><strong>${chain.name}</strong><span class="muted">${tokensOf(chain)}</span>
    ${behind.has(chain.id) && chip('wait', 'Delayed at present')}</li>`,
  )}</ul>`;

const tokensOf = ({ tokens }: Chain): string => tokens.map(({ symbol }) => symbol).join(', ');

/** Such as "0.01 USD and 0.5 %". */
export function feeText({ fixed_microUsd, basisPoints }: Site['fee']): string {
  const percent = basisPoints === 0 ? null : `${formatAmount(BigInt(basisPoints), 2)} % of the amount`;
  const fixed = fixed_microUsd === 0n ? null : `${formatAmount(fixed_microUsd, microUsdDecimals)} USD`;
  return [fixed, percent].filter((part) => part !== null).join(' and ') || 'None';
}

/** `/llms.txt` (llmstxt.org): the service for programs that read before they pay. */
const llmsText = (publicUrl: string): string => `# Payment Intents

> Stablecoin payments over seven chains. A payer pays on one chain, and the merchant is paid out on another one. Programs pay by x402 or by the
> Payment scheme (MPP) with one signature and no coin for gas, in USDC on Base, Ethereum, Arbitrum, Polygon,
> Stellar and Solana.

## Pay

- A payment has a link \`${publicUrl}/pay/<secret>\`. Call \`<link>/x402\` with any method.
- A reusable link is \`${publicUrl}/link/<id>\`. Call \`<link>/x402\`. Each purchase is a payment of its own.
  - \`?order=<your id>\`, 16 to 128 letters, digits, - and _: the same id is the same purchase. Send it, so that a retry never buys twice.
  - \`?amount=12.50\`, in dollars, where the link has no amount.
- 402 has the terms: \`PAYMENT-REQUIRED\` (x402 version 2) and \`WWW-Authenticate: Payment\` (MPP). Nothing is stored before you sign.
- Sign one of the terms, and send it as \`PAYMENT-SIGNATURE\` or \`Authorization: Payment\`.
- 200: paid. 402 \`settlement_pending\`: send the same header again after \`Retry-After\`. Never sign again while it is pending.
- Stock clients of x402 pay at most 1 dollar. Raise the limit first: \`client.setSpendControls({ maxAmountPerPayment: '$50' })\`.

## Sell

- [API reference](${publicUrl}/docs): create payments, read them, get signed webhooks. It needs a key.
- [OpenAPI](${publicUrl}/openapi.json)
- Facilitator of x402 for your own server: \`${publicUrl}/x402\`, with your key as \`X-API-Key\`. \`payTo\` is the deposit of one of your payments.
`;
