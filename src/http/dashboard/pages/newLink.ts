/** A payment made by form: by the same command, and on the same terms, as with a key. */
import Type, { type Static } from 'typebox';
import type { NewPayment } from '../../../../commands/createPayment.ts';
import { isRefusal } from '../../../../domain/decider.ts';
import { newLinkPage } from '../../../../web/dashboard/newLink.ts';
import { emptyForm, type FormState } from '../../../../web/parts/form.ts';
import { appPaths } from '../../../../web/parts/paths.ts';
import type { HttpDeps } from '../../deps.ts';
import { ChainId, Decimal, TokenSymbol } from '../../schemas/base.ts';
import { entry, fields } from '../fields.ts';
import type { Frames } from '../frames.ts';
import { type AnyForm, type AnyPage, form, page, type Shown, type Visit } from '../page.ts';
import { noSuchPage } from '../router.ts';

type Deps = Pick<HttpDeps, 'createPayment' | 'findApp' | 'site'>;

const path = '/dashboard/apps/{appId}/links/new';

const Link = fields({
  amount: Decimal,
  sourceChainId: ChainId,
  sourceTokenSymbol: TokenSymbol,
  orderId: Type.Optional(entry(128)),
  title: Type.Optional(entry(200)),
  description: Type.Optional(entry(1_000)),
  destinationChainId: Type.Optional(ChainId),
  destinationTokenSymbol: Type.Optional(TokenSymbol),
  receiverAddress: Type.Optional(entry(128)),
  receiverMemo: Type.Optional(entry(128)),
});

const pointers = {
  '/destination/amount': 'amount',
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
  const { createPayment, findApp, site } = deps;
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<Shown> => {
    const { appId } = visit.visitor;
    const [frame, app] = await Promise.all([frames.ofApp(visit), findApp(appId)]);
    const { chains } = site;
    const settlement = app?.settlement ?? null;
    return { page: newLinkPage({ ...frame, form: state, chains, settlement, asksReceiver: isWalletApp(appId) }) };
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
        const created = await createPayment(paymentOf(appId, sent), app, { keyless: false, ...by });
        if (isRefusal(created)) return created;
        const told = created.createdNow ? 'linkMade' : 'orderKnown';
        return { to: appPaths(appId).payment(created.payment.terms.paymentId), told };
      },
      again: shown,
    }),
  ];
}

/** The amount is what is paid out: who pays pays the fee on top. */
function paymentOf(appId: string, sent: Static<typeof Link>): NewPayment {
  const { amount, title = null, description = null, destinationChainId, destinationTokenSymbol } = sent;
  const receiver = {
    chainId: destinationChainId,
    tokenSymbol: destinationTokenSymbol,
    receiverAddress: sent.receiverAddress,
    receiverMemo: sent.receiverMemo,
  };
  return {
    appId,
    orderId: sent.orderId ?? null,
    type: 'exactOut',
    intent: null,
    display: { title, description, currency: 'USD' },
    metadata: null,
    source: { chainId: sent.sourceChainId, tokenSymbol: sent.sourceTokenSymbol },
    destination: { amount, ...(isWalletApp(appId) && receiver) },
  };
}
