/** What payers of an app may choose to pay from, beside what each payment says itself. */
import Type from 'typebox';
import { type Chain, chains as catalogue, type Token } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { emptyForm, type FormState } from '../parts/form.ts';
import { appPaths } from '../parts/paths.ts';
import { entry, fields } from './fields.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, form, page, type Shown, type Visit } from './page.ts';
import { payFromField, payFromPage } from './payFrom.ts';

type Deps = Pick<HttpDeps, 'merchants' | 'getSettings' | 'shown' | 'site'>;

const path = '/dashboard/apps/{appId}/pay-from';

const assetsOf = (chains: readonly Chain[]): readonly { readonly chain: Chain; readonly token: Token }[] =>
  chains.flatMap((chain) => chain.tokens.map((token) => ({ chain, token })));

/** A box that is not ticked is not sent. */
const Ticked = fields(
  Object.fromEntries(
    assetsOf(catalogue).map(({ chain, token }) => [payFromField(chain, token), Type.Optional(entry(8))]),
  ),
);

export function payFromPages(deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { merchants, getSettings, shown: readable, site } = deps;
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<Shown> => {
    const [frame, settings] = await Promise.all([frames.ofApp(visit), getSettings(visit.visitor.appId)]);
    return { page: payFromPage({ ...frame, payFrom: settings?.payFrom ?? [], chains: site.chains, form: state }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: Ticked,
      async act({ visitor: { appId }, fields: ticked, by }) {
        const stated = assetsOf(site.chains)
          .filter(({ chain, token }) => payFromField(chain, token) in ticked)
          .map(({ chain, token }) => ({ chainId: chain.id, tokenSymbol: token.symbol }));
        const changed = await merchants.setPayFrom(appId, stated, by);
        if (isRefusal(changed)) return changed;
        await readable(changed);
        return { to: appPaths(appId).payFrom, told: 'payFromSaved' };
      },
      again: shown,
    }),
  ];
}
