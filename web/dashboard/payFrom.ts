/** What payers may choose to pay from. POST: a field `from-<chainId>-<tokenSymbol>` for each that is ticked. */
import type { VNode } from 'preact';
import type { Chain, Token } from '../../domain/chains.ts';
import type { PayFrom } from '../../domain/merchant/events.ts';
import { card } from '../parts/boxes.ts';
import { submit } from '../parts/button.ts';
import { problems } from '../parts/field.ts';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';

export interface PayFromModel extends Frame {
  readonly payFrom: PayFrom;
  /** Those that can be chosen. */
  readonly chains: readonly Chain[];
  readonly form: FormState;
}

/** What a source is called in the form. */
export const payFromField = (chain: Chain, token: Token): `from-${number}-${string}` =>
  `from-${chain.id}-${token.symbol}`;

export const payFromPage = (model: PayFromModel): VNode =>
  appPage(
    model,
    { title: 'Pay from', section: 'payFrom' },
    html`<div class="stack narrow">${card(
      { title: 'What payers may choose' },
      html`<form class="inside" method="post" action=${appPaths(model.app.appId).payFrom}>
        ${problems(model.form)}
        <p class="muted">On the payment’s page, payers choose one of these besides the chain that the payment was made for. You get
        the same whatever they choose. The first that is paid in full counts; what came from elsewhere is held and can be sent back. Reusable links that leave it to the payer offer what stands here, and all chains where nothing does.</p>
        <fieldset class="field"><legend>Chains and tokens</legend>
          <div class="choices">${model.chains.flatMap((chain) => chain.tokens.map((token) => choice(model, chain, token)))}</div>
        </fieldset>
        ${submit('Save')}
      </form>`,
    )}</div>`,
  );

function choice({ payFrom }: PayFromModel, chain: Chain, token: Token): VNode {
  const ticked = payFrom.some(({ chainId, tokenSymbol }) => chainId === chain.id && tokenSymbol === token.symbol);
  return html`<label><input type="checkbox" name=${payFromField(chain, token)} value="true" checked=${ticked} /><span><strong>${chain.name}</strong> ${token.symbol}</span></label>`;
}
