/** A link for a payer: as a QR code, to copy, by mail. */
import type { VNode } from 'preact';
import { copyable } from './boxes.ts';
import { linkButton } from './field.ts';
import { html } from './html.ts';
import { mailLink } from './paths.ts';
import { qrCode } from './qr.ts';
import { sayContent, sayText } from './say.ts';

/** @param what subject of the mail */
export const sharing = (url: string, what: string): VNode =>
  html`<div class="share">${qrCode(url, sayText('qrCode'))}
    <div class="rows">
      <p>${copyable(html`<a class="mono" href=${url}>${url}</a>`, url, sayText('link'))}</p>
      <p class="controls">${linkButton(mailLink(what, url), sayContent('shareByMail'), 'plain', 'mail')}</p>
    </div>
  </div>`;
