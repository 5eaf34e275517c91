/** Sources that payers may choose. POST: a field `from-<chainId>-<tokenSymbol>` for each checked box, or `recommended`, which replaces them. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { ManageMerchant } from '../../commands/manageMerchant.ts';
import { type Chain, type ChainId, chains as catalogue, type Token } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { PayFrom } from '../../domain/merchant/events.ts';
import type { InForce } from '../../src/api/issueKey.ts';
import type { SettingsReads } from '../../src/api/routes/settings.ts';
import { card } from '../parts/boxes.ts';
import { emptyForm, type FormState, problems, submit } from '../parts/field.ts';
import type { Frame, Site } from '../parts/frame.ts';
import { type Content, html } from '../parts/html.ts';
import { chainMark, tokenMark } from '../parts/icon.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayCount, sayText } from '../parts/say.ts';
import { entry, fields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';

export interface PayFromModel extends Frame {
  readonly payFrom: PayFrom;
  /** Selectable chains. */
  readonly chains: readonly Chain[];
  /** Usual time and network cost of a payment from the chain, in words. */
  readonly networkText: (chainId: ChainId) => Content;
  readonly form: FormState;
}

/** Name of a source in the form. */
export const payFromField = (chain: Chain, token: Token): `from-${number}-${string}` =>
  `from-${chain.id}-${token.symbol}`;

/** Transfers on Ethereum are expensive, and most wallets that reach it also reach a cheaper chain. */
const isRecommended = (chain: Chain, token: Token): boolean => chain.id !== 1 && token.symbol === 'USDC';

export const payFromPage = (model: PayFromModel): VNode => {
  const count = assetsOf(model.chains).filter(({ chain, token }) => isRecommended(chain, token)).length;
  return appPage(
    model,
    { title: sayText('payFrom'), section: 'payFrom' },
    html`<div class="stack narrow">${card(
      { title: sayText('payersMayChoose') },
      html`<form class="inside" method="post" action=${appPaths(model.app.appId).payFrom}>
        ${problems(model.form)}
        <p class="muted">${sayContent('payFromText')}</p>
        <fieldset class="field"><legend>${sayContent('chainsAndTokens')}</legend>
          <div class="networks">${model.chains.map((chain) => network(model, chain))}</div>
        </fieldset>
        ${count > 0 && html`<p class="small muted">${sayContent('recommendedText')}</p>`}
        <div class="controls">
          ${submit(sayContent('save'))}
          ${count > 0 && submit(sayCount('saveRecommended', count), 'plain', 'recommended', 'true')}
        </div>
      </form>`,
    )}</div>`,
  );
};

/** The tokens of a chain below its name, usual time and cost. */
function network(model: PayFromModel, chain: Chain): VNode {
  const id = `from-${chain.id}`;
  return html`<div class="network" role="group" aria-labelledby=${id} aria-describedby=${`${id}-usual`}>
    <div class="which">${chainMark(chain.id)}<p><strong id=${id}>${chain.name}</strong>
      <small class="muted below" id=${`${id}-usual`}>${model.networkText(chain.id)}</small></p></div>
    <div class="choices">${chain.tokens.map((token) => choice(model, chain, token))}</div>
  </div>`;
}

function choice({ payFrom }: PayFromModel, chain: Chain, token: Token): VNode {
  const ticked = payFrom.some(({ chainId, tokenSymbol }) => chainId === chain.id && tokenSymbol === token.symbol);
  return html`<label><input type="checkbox" name=${payFromField(chain, token)} value="true" checked=${ticked} /><span class="source">
    ${tokenMark(token.symbol)}<span><span class="visually-hidden">${chain.name} </span>${token.symbol}</span>
    ${isRecommended(chain, token) && html`<small class="muted">${sayContent('recommended')}</small>`}</span></label>`;
}

// Sources that payers of an app may choose, besides each payment's own.

/** Needs of the pages of chains to pay from. */
export interface PayFromPagesDeps extends Pick<SettingsReads, 'getSettings'>, InForce {
  readonly merchants: Pick<ManageMerchant, 'setPayFrom'>;
  readonly site: Site;
  /** Usual time and network cost of a payment from the chain, in the words of the page's language. */
  readonly networkText: (chainId: ChainId) => Content;
}

const path = '/dashboard/apps/{appId}/pay-from';

const assetsOf = (chains: readonly Chain[]): readonly { readonly chain: Chain; readonly token: Token }[] =>
  chains.flatMap((chain) => chain.tokens.map((token) => ({ chain, token })));

/** An unchecked box is not sent. */
const Ticked = fields({
  recommended: Type.Optional(entry(8)),
  ...Object.fromEntries(
    assetsOf(catalogue).map(({ chain, token }) => [payFromField(chain, token), Type.Optional(entry(8))]),
  ),
});

export function payFromPages(deps: PayFromPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { merchants, getSettings, shown: readable, site, networkText } = deps;
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<PageResult> => {
    const [frame, settings] = await Promise.all([frames.ofApp(visit), getSettings(visit.visitor.appId)]);
    const payFrom = settings?.payFrom ?? [];
    return { page: payFromPage({ ...frame, payFrom, chains: site.chains, networkText, form: state }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: Ticked,
      async act({ visitor: { appId }, fields: ticked, by }) {
        const stated = assetsOf(site.chains)
          .filter(({ chain, token }) =>
            'recommended' in ticked ? isRecommended(chain, token) : payFromField(chain, token) in ticked,
          )
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
