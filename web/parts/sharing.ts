/** A link for a payer: as a QR code, to copy, by mail. */
import type { VNode } from 'preact';
import qrcode from 'qrcode';
import { copyable } from './boxes.ts';
import { linkButton } from './field.ts';
import { html } from './html.ts';
import { mailLink } from './paths.ts';
import { sayContent, sayText } from './say.ts';

/** @param what subject of the mail */
export const sharing = (url: string, what: string): VNode =>
  html`<div class="share">${qrCode(url, sayText('qrCode'))}
    <div class="rows">
      <p>${copyable(html`<a class="mono" href=${url}>${url}</a>`, url, sayText('link'))}</p>
      <p class="controls">${linkButton(mailLink(what, url), sayContent('shareByMail'), 'plain', 'mail')}</p>
    </div>
  </div>`;

/** Scanners need this white margin around the code (ISO/IEC 18004). */
const quiet = 4;

/** A QR code as one path. Dark on white in every colour scheme, because cameras need it. @param label text for screen readers */
export function qrCode(text: string, label: string): VNode {
  const { size, data } = qrcode.create(text, { errorCorrectionLevel: 'M' }).modules;
  const rows = Array.from({ length: size }, (_, row) => runs(data.subarray(row * size, (row + 1) * size), row));
  const side = size + 2 * quiet;
  return html`<svg class="qr" viewBox=${`${-quiet} ${-quiet} ${side} ${side}`} role="img" aria-label=${label} shape-rendering="crispEdges"><path d=${rows.join('')} /></svg>`;
}

/** Dark modules of a row, one rectangle per run. */
function runs(modules: Uint8Array, row: number): string {
  const dark = Array.from(modules, (module) => (module ? 'x' : ' ')).join('');
  return Array.from(
    dark.matchAll(/x+/g),
    ({ index, 0: run }) => `M${index} ${row}h${run.length}v1h-${run.length}z`,
  ).join('');
}
