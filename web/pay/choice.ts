/** The form of a payment's page by which its payer chooses what to pay from. */
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { payPath } from '../../src/api/payLinks.ts';
import { entry, fields } from '../dashboard/fields.ts';
import { type AnyForm, form, type Shown, type Visit } from '../dashboard/page.ts';
import { noSuchPage } from '../dashboard/router.ts';

/** `source` as the page's buttons have it: `8453 USDC`. */
const Choice = fields({ source: entry(40), lang: Type.Optional(entry(16)) });
const params = Type.Object({ secret: Type.String({ maxLength: 200 }) });

type Asking = Visit<'anyone', { readonly secret: string }>;

/** @param again the page, as it is when the choice was refused */
export const choiceForm = (
  { chooseSource, paymentSecrets }: Pick<HttpDeps, 'chooseSource' | 'paymentSecrets'>,
  again: (visit: Asking, lang: string | undefined) => Promise<Shown>,
): AnyForm =>
  form({
    path: '/pay/{secret}',
    audience: 'anyone',
    params,
    fields: Choice,
    async act({ params: { secret }, fields: { source, lang }, by: { requestId } }) {
      const paymentId = paymentSecrets.paymentIdOf(secret);
      if (paymentId === null) throw noSuchPage();
      const [, chainId = '', tokenSymbol = ''] = /^(\d{1,9}) ([A-Z0-9]{1,16})$/.exec(source) ?? [];
      const by = { cause: 'payer', ...(requestId !== undefined && { requestId }) } as const;
      const chosen = await chooseSource(paymentId, { chainId: Number(chainId), tokenSymbol }, by);
      if (isRefusal(chosen)) return chosen;
      const query = lang === undefined ? '' : `?${new URLSearchParams({ lang })}`;
      return { to: `${payPath(secret)}${query}` };
    },
    again: (visit, { values }) => again(visit, values['lang']),
  });
