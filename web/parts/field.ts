/** Fields of forms, with their errors; a form's buttons; the fields of a wallet. */

import type { VNode } from 'preact';
import type { Chain } from '../../domain/chains.ts';
import { type Content, html } from './html.ts';
import { type IconName, icon } from './icon.ts';
import { pageLanguage, sayContent, sayText } from './say.ts';

export interface FieldBase {
  readonly form: FormState;
  readonly name: string;
  readonly label: string;
  readonly hint?: Content;
  /** unsaid: its hint states it. */
  readonly optional?: boolean | 'unsaid';
  /** Distinguishes two fields of one name on a page. */
  readonly id?: string;
}

export interface TextField extends FieldBase {
  readonly type?: 'text' | 'email' | 'url' | 'search' | 'date' | 'datetime-local' | 'color';
  readonly autocomplete?: string;
  readonly inputmode?: 'numeric' | 'decimal' | 'email' | 'url' | 'text';
  readonly maxlength?: number;
  readonly pattern?: string;
  readonly placeholder?: string;
  /** Text before or after the input: a unit, a prefix. */
  readonly before?: string;
  readonly behind?: string;
  /** Focused when the page opens: for pages with a single form. */
  readonly focus?: boolean;
  /** Ids and addresses use a monospaced font, from left to right. */
  readonly mono?: boolean;
}

/** A line to type in, with its label, hint and error. */
export function textField(field: TextField): VNode {
  const { form, name, type = 'text', before, behind } = field;
  const input = html`<input id=${idOf(field)} name=${name} type=${type} value=${form.values[name] ?? ''} required=${!field.optional}
    class=${field.mono ? 'mono' : undefined} dir=${field.mono || type === 'email' || type === 'url' ? 'ltr' : undefined}
    autocomplete=${field.autocomplete ?? 'off'} inputmode=${field.inputmode} maxlength=${field.maxlength} pattern=${field.pattern}
    placeholder=${field.placeholder} autofocus=${takesFocus(field)} spellcheck=${field.mono ? 'false' : undefined} ...${described(field)} />`;
  const whole =
    before || behind
      ? html`<span class="affixed">${before && html`<span>${before}</span>`}${input}
        ${behind && html`<span>${behind}</span>`}</span>`
      : input;
  return around(field, whole);
}

/** Several lines to type in. */
export const linesField = (
  field: FieldBase & Pick<TextField, 'maxlength' | 'placeholder'> & { readonly rows: number },
): VNode =>
  around(
    field,
    html`<textarea id=${idOf(field)} name=${field.name} class="mono" dir="ltr" rows=${field.rows} maxlength=${field.maxlength}
      placeholder=${field.placeholder} required=${!field.optional} autocomplete="off" spellcheck="false" ...${described(field)}>${field.form.values[field.name] ?? ''}</textarea>`,
  );

export interface Option {
  readonly value: string;
  readonly label: string;
}

/** A choice from a list. */
export function selectField(field: FieldBase & { readonly options: readonly Option[] }): VNode {
  const chosen = field.form.values[field.name] ?? '';
  return around(
    field,
    html`<select id=${idOf(field)} name=${field.name} ...${described(field)}>${field.options.map(
      ({ value, label }) => html`<option value=${value} selected=${value === chosen}>${label}</option>`,
    )}</select>`,
  );
}

/** A choice from two or three options, each with an explanation. Default: the first. */
export function choiceField(
  field: FieldBase & { readonly options: readonly (Option & { readonly hint: string })[] },
): VNode {
  const { form, name, options } = field;
  const chosen = form.values[name] ?? options[0]?.value;
  const error = form.errors[name];
  return html`<fieldset class="field" id=${idOf(field)} aria-describedby=${error && `${idOf(field)}-error`}>
    <legend>${field.label}</legend>
    <div class="choices">${options.map(
      ({ value, label, hint }) =>
        html`<label><input type="radio" name=${name} value=${value} checked=${value === chosen} /><span><strong>
        ${label}</strong><small class="muted">${hint}</small></span></label>`,
    )}</div>
    ${errorOf(field)}
  </fieldset>`;
}

/** A file to choose; the form must be multipart/form-data. */
export const fileField = (field: FieldBase & { readonly accept: string }): VNode =>
  around(
    field,
    html`<input id=${idOf(field)} name=${field.name} type="file" accept=${field.accept} required ...${described(field)} />`,
  );

/** A checkbox with a sentence. */
export const agreeField = ({ form, name, label }: FieldBase): VNode =>
  html`<div class="field"><label class="agree">
    <input type="checkbox" name=${name} value="true" required aria-describedby=${form.errors[name] && `field-${name}-error`} /><span>${label}</span></label>${errorOf({ form, name, label })}</div>`;

/** Errors above the form, each linked to its field. Null if there are none, or a single field has it. */
export function problems({ errors }: FormState): VNode | null {
  const list = Object.entries(errors);
  if (list.length === 0 || (list.length === 1 && errors[''] === undefined)) return null;
  return html`<div class="notice bad" role="alert">${icon('alert')}<div>
    <p><strong>${errors[''] ?? sayContent('notSavedYet')}</strong></p>
    <ul>${list.map(([name, error]) => name !== '' && html`<li><a href=${`#field-${name}`}>${error}</a></li>`)}</ul>
  </div></div>`;
}

/** The first field with an error; otherwise the page's main field. */
const takesFocus = ({ form, name, focus }: TextField): boolean => {
  const wrong = Object.keys(form.errors).find((key) => key !== '');
  return wrong === undefined ? focus === true : wrong === name;
};

const idOf = ({ id, name }: Pick<FieldBase, 'id' | 'name'>): string => `field-${id ?? name}`;

const errorOf = (field: FieldBase): VNode | null => {
  const error = field.form.errors[field.name];
  return error === undefined
    ? null
    : html`<p class="error" id=${`${idOf(field)}-error`} dir=${pageLanguage() === 'en' ? undefined : 'auto'}>${icon('alert')}${error}</p>`;
};

function described(field: FieldBase) {
  const wrong = field.form.errors[field.name] !== undefined;
  const parts = [field.hint && `${idOf(field)}-hint`, wrong && `${idOf(field)}-error`].filter(Boolean);
  return { 'aria-invalid': wrong ? 'true' : undefined, 'aria-describedby': parts.join(' ') || undefined };
}

const around = (field: FieldBase, input: VNode): VNode =>
  html`<div class="field">
    <label for=${idOf(field)}>${field.label}${field.optional === true && html`<small class="muted"> ${sayContent('optional')}</small>`}</label>
    ${input}
    ${errorOf(field)}
    ${field.hint && html`<p class="hint" id=${`${idOf(field)}-hint`}>${field.hint}</p>`}
  </div>`;

/** State of a displayed form: empty at first; after a refusal the sent values with their errors. */
export interface FormState {
  /** By field name. Secrets and codes are never returned. */
  readonly values: Readonly<Record<string, string>>;
  /** By field name; '' for the whole form. Sentences that state what to do. */
  readonly errors: Readonly<Record<string, string>>;
}

export const emptyForm: FormState = { values: {}, errors: {} };

export type Weight = 'primary' | 'plain' | 'quiet' | 'danger';

/** Submits its form. */
export const submit = (label: Content, weight: Weight = 'primary', name?: string, value?: string): VNode =>
  html`<button class=${`button ${weight}`} type="submit" name=${name} value=${value}>${label}</button>`;

/** Links to a page. */
export const linkButton = (href: string, label: Content, weight: Weight = 'plain', drawing?: IconName): VNode =>
  html`<a class=${`button ${weight}`} href=${href}>${drawing && icon(drawing)}${label}</a>`;

/** A form of one button: a link never changes anything. */
export const postButton = (action: string, label: Content, weight: Weight = 'plain'): VNode =>
  html`<form method="post" action=${action} class="inline">${submit(label, weight)}</form>`;

/** Words of client/copy.js, whose own are English. */
const otherWord = (name: 'copied' | 'copyByHand'): string | undefined =>
  pageLanguage() === 'en' ? undefined : sayText(name);

/** Visible if a script can copy (client/copy.js). */
export const copyButton = (text: string, what: string): VNode =>
  html`<button class="button plain small copy" type="button" title=${`${sayText('copy')} ${what}`} hidden data-copy=${text} data-copied=${sayText('copiedWhat', { what })} data-told=${otherWord('copied')} data-failed=${otherWord('copyByHand')}>
    ${icon('copy')}<span>${sayContent('copy')}</span><span class="visually-hidden"> ${what}</span></button>`;

export interface WalletNames {
  readonly chain: string;
  readonly token: string;
  readonly address: string;
  readonly memo: string;
}

/**
 * The fields of a wallet in any form.
 * @param optional true if it may be omitted as a whole
 */
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
        label: sayText('chain'),
        optional,
        options: [...(optional ? [{ value: '', label: sayText('later') }] : []), ...chainOptions(chains)],
      })}
      ${selectField({ form, name: names.token, label: sayText('token'), optional, options: tokenOptions(chains) })}
    </div>
    ${textField({
      form,
      name: names.address,
      label: sayText('address'),
      optional,
      mono: true,
      maxlength: 128,
      hint: sayContent('walletHint'),
    })}
    ${textField({
      form,
      name: names.memo,
      label: sayText('memo'),
      optional: true,
      mono: true,
      maxlength: 28,
      hint: sayContent('memoHint'),
    })}
  </div>`;

export const chainOptions = (chains: readonly Chain[]): readonly Option[] =>
  chains.map(({ id, name }) => ({ value: String(id), label: name }));

export const tokenOptions = (chains: readonly Chain[]): readonly Option[] =>
  [...new Set(chains.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)))].map((symbol) => ({
    value: symbol,
    label: symbol,
  }));
