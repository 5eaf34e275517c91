/** A payment made by form: by the same command, and on the same terms, as with a key. */
import Type, { type Static } from 'typebox';
import type { NewPayment } from '../../commands/createPayment.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { ChainId, Decimal, PaymentType, TokenSymbol, Uuid } from '../../src/api/schemas/base.ts';
import { emptyForm, type FormState } from '../parts/form.ts';
import { appPaths } from '../parts/paths.ts';
import { displayEntry, entry, fields } from './fields.ts';
import type { Frames } from './frames.ts';
import { newLinkPage } from './newLink.ts';
import { type AnyForm, type AnyPage, form, page, type Shown, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';

type Deps = Pick<HttpDeps, 'createPayment' | 'findApp' | 'ids' | 'site'>;

const path = '/dashboard/apps/{appId}/links/new';

const Link = fields({
  nonce: Type.Optional(Uuid),
  type: Type.Optional(PaymentType),
  amount: Type.Optional(Decimal),
  sourceChainId: ChainId,
  sourceTokenSymbol: TokenSymbol,
  orderId: Type.Optional(entry(128)),
  title: Type.Optional(displayEntry(200)),
  description: Type.Optional(displayEntry(1_000)),
  destinationChainId: Type.Optional(ChainId),
  destinationTokenSymbol: Type.Optional(TokenSymbol),
  receiverAddress: Type.Optional(entry(128)),
  receiverMemo: Type.Optional(entry(128)),
});

const pointers = {
  '/destination/amount': 'amount',
  '/source/amount': 'amount',
  '/source/chainId': 'sourceChainId',
  '/source/tokenSymbol': 'sourceTokenSymbol',
  '/display/title': 'title',
  '/display/description': 'description',
  '/destination/chainId': 'destinationChainId',
  '/destination/tokenSymbol': 'destinationTokenSymbol',
  '/destination/receiverAddress': 'receiverAddress',
  '/destination/receiverMemo': 'receiverMemo',
};

const isWalletApp = (appId: string): boolean => appId.startsWith('wallet_');

export function newLinkPages(deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { createPayment, findApp, ids, site } = deps;
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<Shown> => {
    const { appId } = visit.visitor;
    const [frame, app] = await Promise.all([frames.ofApp(visit), findApp(appId)]);
    const { chains } = site;
    const settlement = app?.settlement ?? null;
    const model = { form: state, nonce: ids.eventId(), chains, settlement, asksReceiver: isWalletApp(appId) };
    return { page: newLinkPage({ ...frame, ...model }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: Link,
      pointers,
      async act({ visitor: { appId }, fields: sent, by }) {
        const app = await findApp(appId);
        if (!app) throw noSuchPage();
        const asked = paymentOf(appId, sent);
        if (isRefusal(asked)) return asked;
        const created = await createPayment(asked, app, { keyless: false, ...by });
        if (isRefusal(created)) return created;
        const told = created.createdNow ? 'linkMade' : 'orderKnown';
        return { to: appPaths(appId).payment(created.payment.terms.paymentId), told };
      },
      again: shown,
    }),
  ];
}

/** Without an order of the merchant's, it is named after the form: sent twice, that makes one payment. */
function paymentOf(appId: string, sent: Static<typeof Link>): NewPayment | Refusal {
  const { nonce, type = 'exactOut', amount, title = null, description = null } = sent;
  if (type !== 'anyAmount' && amount === undefined) return refuse('invalidRequest', 'say how much it is', '/amount');
  if (type === 'anyAmount' && amount !== undefined)
    return refuse('invalidRequest', 'leave it empty: the payer decides', '/amount');
  const receiver = {
    chainId: sent.destinationChainId,
    tokenSymbol: sent.destinationTokenSymbol,
    receiverAddress: sent.receiverAddress,
    receiverMemo: sent.receiverMemo,
  };
  return {
    appId,
    orderId: sent.orderId ?? (nonce === undefined ? null : `link-${nonce.replaceAll('-', '').slice(0, 20)}`),
    type,
    intent: null,
    display: { title, description, currency: 'USD' },
    metadata: null,
    source: {
      chainId: sent.sourceChainId,
      tokenSymbol: sent.sourceTokenSymbol,
      ...(type === 'exactIn' && { amount }),
    },
    destination: { ...(type === 'exactOut' && { amount }), ...(isWalletApp(appId) && receiver) },
  };
}
