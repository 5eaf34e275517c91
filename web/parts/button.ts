import type { VNode } from 'preact';
import { type Content, html } from './html.ts';
import { type IconName, icon } from './icon.ts';

export type Weight = 'primary' | 'plain' | 'quiet' | 'danger';

/** Sends the form that it is in. */
export const submit = (label: Content, weight: Weight = 'primary', name?: string, value?: string): VNode =>
  html`<button class=${`button ${weight}`} type="submit" name=${name} value=${value}>${label}</button>`;

/** Leads to a page. */
export const linkButton = (href: string, label: Content, weight: Weight = 'plain', drawing?: IconName): VNode =>
  html`<a class=${`button ${weight}`} href=${href}>${drawing && icon(drawing)}${label}</a>`;

/** A form of one button: what changes something is never a link. */
export const postButton = (action: string, label: Content, weight: Weight = 'plain'): VNode =>
  html`<form method="post" action=${action} class="inline">${submit(label, weight)}</form>`;

/** Seen where a script can copy (client/copy.js). */
export const copyButton = (text: string, what: string): VNode =>
  html`<button class="button plain small copy" type="button" hidden data-copy=${text} data-copied=${`${what} copied`}>
    ${icon('copy')}<span>Copy</span><span class="visually-hidden"> ${what}</span></button>`;
