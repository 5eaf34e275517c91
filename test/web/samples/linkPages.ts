/** Reusable links as payers open them. */
import type { VNode } from 'preact';
import { chains } from '../../../domain/chains.ts';
import { emptyForm } from '../../../web/parts/field.ts';
import { type PayLinkModel, payLinkPage } from '../../../web/pay/link.ts';
import type { Around, Shop } from '../../../web/pay/model.ts';
import * as p from '../../support/payments.ts';
import type { Say } from './payments.ts';

export const linkPath = `/link/${'l'.repeat(36)}`;

const onBase = { chainId: 8453, tokenSymbol: 'USDC' };

/** @param say returns the texts of other people */
export function linkPages(around: Around, shop: Shop, say: Say = (text) => text): Readonly<Record<string, VNode>> {
  const model: PayLinkModel = {
    ...around,
    path: linkPath,
    shop,
    link: {
      type: 'exactOut',
      amount: '12.50',
      minAmount: null,
      maxAmount: null,
      title: say('A pot of Darjeeling'),
      description: say('First flush, two cups, with a slice of lemon cake'),
      closedAt: null,
    },
    from: [onBase],
    sources: chains.flatMap(({ id, tokens }) => tokens.map(({ symbol }) => ({ chainId: id, tokenSymbol: symbol }))),
    nonce: '8f14e45f-ceea-467f-a9d5-1b2c3d4e5f60',
    form: emptyForm,
  };
  const free = { ...model.link, amount: null, minAmount: '1.00', maxAmount: '500.00' };
  const several = [onBase, { chainId: 501, tokenSymbol: 'USDC' }, { chainId: 1, tokenSymbol: 'USDT' }];
  const wrong = { values: { amount: say('1.000'), source: '1-USDT' }, errors: { amount: 'wrong' } };
  const bare = { ...shop, name: null, supportContact: null };
  return {
    link: payLinkPage(model),
    linkFree: payLinkPage({ ...model, link: free, from: [] }),
    linkSeveral: payLinkPage({ ...model, from: several }),
    linkFreeOnBase: payLinkPage({ ...model, link: { ...free, title: null }, shop: bare }),
    linkWrong: payLinkPage({ ...model, link: free, from: [], form: wrong }),
    linkNotNow: payLinkPage({ ...model, form: { values: {}, errors: { '': 'the chain is away' } } }),
    linkClosed: payLinkPage({ ...model, link: { ...model.link, closedAt: p.minute(5) } }),
  };
}
