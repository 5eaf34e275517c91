/** The fields of a wallet, wherever one is asked for. */
import type { Chain } from '../../domain/chains.ts';
import { type Option, selectField, textField } from './field.ts';
import type { FormState } from './form.ts';
import { type Content, html } from './html.ts';

export interface WalletNames {
  readonly chain: string;
  readonly token: string;
  readonly address: string;
  readonly memo: string;
}

/** @param optional whether it may be left out as a whole */
export const walletFields = (
  form: FormState,
  names: WalletNames,
  chains: readonly Chain[],
  optional = false,
): Content =>
  html`<div class="rows">
    <div class="columns">
      ${selectField({
        form,
        name: names.chain,
        label: 'Chain',
        optional,
        options: [...(optional ? [{ value: '', label: 'Later' }] : []), ...chainOptions(chains)],
      })}
      ${selectField({ form, name: names.token, label: 'Token', optional, options: tokenOptions(chains) })}
    </div>
    ${textField({
      form,
      name: names.address,
      label: 'Address',
      optional,
      mono: true,
      maxlength: 128,
      hint: 'A wallet whose keys you hold. Not an exchange’s address: exchanges do not always take what a program sends.',
    })}
    ${textField({
      form,
      name: names.memo,
      label: 'Memo',
      optional: true,
      mono: true,
      maxlength: 28,
      hint: 'On Stellar only, when whoever keeps the account asks for one.',
    })}
  </div>`;

export const chainOptions = (chains: readonly Chain[]): readonly Option[] =>
  chains.map(({ id, name }) => ({ value: String(id), label: name }));

export const tokenOptions = (chains: readonly Chain[]): readonly Option[] =>
  [...new Set(chains.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)))].map((symbol) => ({
    value: symbol,
    label: symbol,
  }));
