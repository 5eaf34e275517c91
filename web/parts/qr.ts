import type { VNode } from 'preact';
import qrcode from 'qrcode';
import { html } from './html.ts';

/** Scanners want this much white around the code (ISO/IEC 18004). */
const quiet = 4;

/** A QR code as one path. It is dark on white in every colour scheme: cameras need it so. @param label what it is, for those who do not see it */
export function qrCode(text: string, label: string): VNode {
  const { size, data } = qrcode.create(text, { errorCorrectionLevel: 'M' }).modules;
  const rows = Array.from({ length: size }, (_, row) => runs(data.subarray(row * size, (row + 1) * size), row));
  const side = size + 2 * quiet;
  return html`<svg class="qr" viewBox=${`${-quiet} ${-quiet} ${side} ${side}`} role="img" aria-label=${label} shape-rendering="crispEdges"><path d=${rows.join('')} /></svg>`;
}

/** The dark modules of a row, as few rectangles as there are runs of them. */
function runs(modules: Uint8Array, row: number): string {
  const dark = Array.from(modules, (module) => (module ? 'x' : ' ')).join('');
  return Array.from(
    dark.matchAll(/x+/g),
    ({ index, 0: run }) => `M${index} ${row}h${run.length}v1h-${run.length}z`,
  ).join('');
}
