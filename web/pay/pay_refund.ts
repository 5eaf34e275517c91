/** The page on which a payer says where money that is held goes back to, and signs it. */
import Type from 'typebox';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { errorOfRefusal } from '../../src/api/errors.ts';
import { payPath } from '../../src/api/payLinks.ts';
import { entry, fields } from '../dashboard/fields.ts';
import { refusedForm } from '../dashboard/formState.ts';
import { type AnyForm, type AnyPage, form, page, type Shown, type Visit } from '../dashboard/page.ts';
import { noSuchPage } from '../dashboard/router.ts';
import { emptyForm, type FormState } from '../parts/form.ts';
import { withQuery } from '../parts/paths.ts';
import { framing } from './framing.ts';
import { payModelOf } from './payModel.ts';
import { type RefundModel, refundPage } from './refund.ts';

const path = '/pay/{secret}/refund';
const params = Type.Object({ secret: Type.String({ maxLength: 200 }) });
const lang = Type.Optional(entry(16));
const Asked = fields({
  from: Type.Optional(entry(128)),
  to: Type.Optional(entry(128)),
  memo: Type.Optional(entry(128)),
  lang,
});
const Signed = fields({
  from: entry(128),
  to: entry(128),
  memo: Type.Optional(entry(128)),
  number: Type.String({ pattern: '^[1-9][0-9]{0,3}$', description: 'the number of the text' }),
  signature: entry(8_400),
  lang,
});

type Visitor = Visit<'anyone', { readonly secret: string }>;
type Words = RefundModel['toSign'] | Refusal;

export function refundForm(deps: HttpDeps): readonly (AnyPage | AnyForm)[] {
  const { refundAddresses, paymentSecrets } = deps;
  const paymentOf = (secret: string): string => {
    const paymentId = paymentSecrets.paymentIdOf(secret);
    if (paymentId === null) throw noSuchPage();
    return paymentId;
  };
  /** The text to sign where a good address was given; what is wrong with it beside its field. */
  const shown = async (visit: Visitor, state: FormState): Promise<Shown> => {
    const { from, to, memo, lang: language } = state.values;
    const model = await payModelOf(deps, visit, language);
    const words: Words =
      from === undefined || to === undefined
        ? null
        : await refundAddresses.words(paymentOf(visit.params.secret), { from, to, memo: memo ?? null });
    const refused = isRefusal(words) ? refusedForm(state.values, errorOfRefusal(words), ['to', 'memo']) : state;
    const toSign = isRefusal(words) ? null : words;
    return { page: refundPage({ ...model, form: refused, toSign }), headers: framing(model.sites, true) };
  };
  return [
    page({
      path,
      audience: 'anyone',
      params,
      query: Asked,
      show: (visit) => shown(visit, { ...emptyForm, values: given(visit.query) }),
    }),
    form({
      path,
      audience: 'anyone',
      params,
      fields: Signed,
      async act({
        params: { secret },
        fields: { from, to, memo, number, signature, lang: language },
        by: { requestId },
      }) {
        const by = { cause: 'payer', ...(requestId !== undefined && { requestId }) } as const;
        const asked = { from, to, memo: memo ?? null };
        const set = await refundAddresses.prove(paymentOf(secret), asked, { number: Number(number), signature }, by);
        return isRefusal(set) ? set : { to: withQuery(payPath(secret), { lang: language ?? null }) };
      },
      again: shown,
    }),
  ];
}

const given = (query: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined));
