/** Makes a test payment: the sandbox pays it, and on test networks the owner does. Never on main networks. POST: nonce. */

import type { VNode } from 'preact';
import type { NewPayment } from '../../commands/createPayment.ts';
import type { Clock, Ids } from '../../commands/ports.ts';
import type { Chain } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { AccessDeps } from '../../src/api/auth.ts';
import { type PayLinkDeps, payLinkOf } from '../../src/api/resource.ts';
import type { PaymentCreation } from '../../src/api/routes/createPayment.ts';
import { Uuid } from '../../src/api/schemas/base.ts';
import { card, inside } from '../parts/boxes.ts';
import { faucetLink, grouped } from '../parts/cells.ts';
import { emptyForm, type FormState, linkButton, problems, submit } from '../parts/field.ts';
import type { Frame, Site } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { fields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';
import { paidOutTo, settlementFirst, type WalletFields } from './settlementForm.ts';

export interface TestPaymentModel extends Frame {
  readonly form: FormState;
  /** Specific to this form: a repeated submit makes one payment. */
  readonly nonce: string;
  /** Chain and token that the test is paid on. */
  readonly source: TestSource;
  /** Null for a merchant app without a settlement wallet. */
  readonly settlement: WalletFields | null;
  /** True if the service has a customer who pays. */
  readonly isPaid: boolean;
}

interface TestSource {
  readonly chain: Chain;
  readonly tokenSymbol: string;
}

/** In whole tokens. */
const testAmount = '1.00';

export const testPaymentPage = (model: TestPaymentModel): VNode => {
  const to = appPaths(model.app.appId);
  return appPage(
    model,
    { title: sayText('testPayment'), section: 'payments', up: { href: to.payments, label: sayText('payments') } },
    html`<div class="narrow">${
      model.settlement === null
        ? settlementFirst(model.app.appId)
        : card({ title: sayText('makeTest') }, testForm(model, model.settlement))
    }</div>`,
  );
};

const testForm = ({ app, form, nonce, source, isPaid, mode }: TestPaymentModel, settlement: WalletFields): VNode =>
  inside(html`<form class="rows" method="post" action=${appPaths(app.appId).testPayment}>
    ${problems(form)}
    <input type="hidden" name="nonce" value=${nonce} />
    <p>${sayContent('testMakes', { amount: `${grouped(testAmount)} ${source.tokenSymbol}`, chain: source.chain.name })} ${sayContent(
      isPaid ? 'testPaidForYou' : 'testPayYourself',
    )} ${sayContent('testWebhooks')}</p>
    ${mode === 'test' && html`<p>${sayContent('testFaucet', { link: faucetLink() })}</p>`}
    ${paidOutTo(settlement)}
    <div class="controls">${submit(sayContent('makeTest'))}${linkButton(appPaths(app.appId).payments, sayContent('notNow'), 'quiet')}
    </div>
  </form>`);

// A payment that is paid with play money.

/** Pays a payment with play money. Resolves when its transfer is mined. @throws Error if the customer cannot pay */
export type PayTest = (payment: { readonly paymentId: string; readonly paymentLink: string }) => Promise<unknown>;

/** Needs of the pages of a test payment. */
export interface TestPaymentDeps
  extends Pick<PaymentCreation, 'createPayment'>,
    Pick<AccessDeps, 'findApp'>,
    Pick<PayLinkDeps, 'paymentSecrets' | 'publicUrl'> {
  readonly ids: Pick<Ids, 'eventId'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly site: Site;
  /** Null without a customer: everywhere except in a local sandbox. */
  readonly payTest: PayTest | null;
}

const path = '/dashboard/apps/{appId}/test-payment';

/** An error of the customer is reported if it occurs within this time; the transfer itself may take longer. */
const paying_ms = 2_000;

export function testPaymentPages(deps: TestPaymentDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { createPayment, findApp, ids, site, payTest } = deps;
  const found = async (appId: string) => {
    const app = await findApp(appId);
    const source = sourceOf(site.chains);
    if (!app || !source || site.mode === 'live' || appId.startsWith('wallet_')) throw noSuchPage();
    return { app, source };
  };
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<PageResult> => {
    const { app, source } = await found(visit.visitor.appId);
    const model = { form: state, nonce: ids.eventId(), source, isPaid: payTest !== null };
    return { page: testPaymentPage({ ...(await frames.ofApp(visit)), ...model, settlement: app.settlement }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: fields({ nonce: Uuid }),
      async act({ visitor: { appId }, fields: { nonce }, by }) {
        const { app, source } = await found(appId);
        const created = await createPayment(testOf(appId, nonce, source), app, { keyless: false, ...by });
        if (isRefusal(created)) return created;
        const { paymentId } = created.payment.terms;
        const to = appPaths(appId).payment(paymentId);
        if (payTest === null) return { to, told: 'testMade' };
        // Only the first submit of a form pays.
        if (!created.createdNow) return { to, told: 'testPaid' };
        const isPaid = await hasStarted(deps, payTest({ paymentId, paymentLink: payLinkOf(deps, paymentId) }));
        return { to, told: isPaid ? 'testPaid' : 'testNotPaid' };
      },
      again: shown,
    }),
  ];
}

/** False if the customer fails within `paying_ms`. */
async function hasStarted({ clock }: Pick<TestPaymentDeps, 'clock'>, paying: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const paid = paying.then(
    () => true,
    () => false,
  );
  const isPaid = await Promise.race([paid, clock.sleep(paying_ms, over.signal).then(() => true)]);
  over.abort();
  return isPaid;
}

/** On Base where it is served, else on another EVM chain, whose wallets are the most common. */
function sourceOf(chains: readonly Chain[]): TestSource | undefined {
  const chain = chains.find(({ id }) => id === 8453) ?? chains.find(({ family }) => family === 'evm') ?? chains[0];
  const token = chain?.tokens.find(({ symbol }) => symbol === 'USDC') ?? chain?.tokens[0];
  return chain && token && { chain, tokenSymbol: token.symbol };
}

const testOf = (appId: string, nonce: string, { chain, tokenSymbol }: TestSource): NewPayment => ({
  appId,
  orderId: `test-${nonce.toLowerCase().replaceAll('-', '').slice(0, 20)}`,
  type: 'exactIn',
  intent: null,
  display: { title: 'Test payment', description: null, currency: 'USD' },
  metadata: null,
  source: { chainId: String(chain.id), tokenSymbol, amount: testAmount },
  destination: {},
});
