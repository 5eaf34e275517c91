/** Marks of chains and tokens, to distinguish them at a glance. They are drawn here and are not logos. */
import type { VNode } from 'preact';
import type { ChainId, TokenSymbol } from '../../domain/chains.ts';
import { html } from './html.ts';

interface Drawing {
  readonly ground: string;
  /** On 24 × 24. */
  readonly figure: string;
}

/** Each background is the colour that people associate with the chain. */
const chainDrawings: Readonly<Record<ChainId, Drawing>> = {
  8453: { ground: '#1f4fe0', figure: 'M5 11h9v2H5zM12 6a6 6 0 0 1 0 12z' },
  1: { ground: '#5b6ee1', figure: 'M12 4l5 8-5 3-5-3zM12 16.6l5-3-5 6.4-5-6.4z' },
  42161: { ground: '#28394d', figure: 'M11 5h2l5 13h-3l-3-8-3 8H6z' },
  137: { ground: '#7440d6', figure: 'M8.5 6.5 12 8.5v4l-3.5 2-3.5-2v-4zM15.5 9.5l3.5 2v4l-3.5 2-3.5-2v-4z' },
  56: {
    ground: '#8a6100',
    figure:
      'M12 5l2.5 2.5L12 10 9.5 7.5zM6.5 9.5 9 12l-2.5 2.5L4 12zM17.5 9.5 20 12l-2.5 2.5L15 12zM12 14l2.5 2.5L12 19l-2.5-2.5z',
  },
  501: { ground: '#1b1b33', figure: 'M8 6h10l-2 3H6zM6 10.5h10l2 3H8zM8 15h10l-2 3H6z' },
  1500: {
    ground: '#3b3a37',
    figure:
      'M5 14.5 19 7.5v2L5 16.5zM7 9.5a5.5 5.5 0 0 1 8-2l-2 1a3.5 3.5 0 0 0-4 1.8zM17 14.5a5.5 5.5 0 0 1-8 2l2-1a3.5 3.5 0 0 0 4-1.8z',
  },
};

const tokenDrawings: Readonly<Record<TokenSymbol, Drawing>> = {
  USDC: {
    ground: '#2468c8',
    figure:
      'M11 5h2v2.1a3.2 3.2 0 0 1 2.6 2.4h-2.1a1.5 1.5 0 0 0-1.5-.8c-1 0-1.5.5-1.5 1.1 0 .8.9 1 2 1.3 1.7.4 3.3 1 3.3 3a3 3 0 0 1-2.8 2.8V19h-2v-2.1a3.3 3.3 0 0 1-2.8-2.6h2.1c.2.7.9 1 1.8 1 1.1 0 1.7-.5 1.7-1.2 0-.8-.9-1.1-2-1.4-1.6-.4-3.3-.9-3.3-2.9A2.9 2.9 0 0 1 11 7.1z',
  },
  USDT: { ground: '#1c7a5c', figure: 'M6 6.5h12v3h-4.5V18h-3V9.5H6z' },
};

/** Decoration: the chain's name is beside it. */
export const chainMark = (id: ChainId): VNode => mark('chain', chainDrawings[id]);

/** Decoration: the token's symbol is beside it. */
export const tokenMark = (symbol: TokenSymbol): VNode => mark('token', tokenDrawings[symbol]);

const mark = (name: string, { ground, figure }: Drawing): VNode =>
  html`<svg class=${name} viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="12" fill=${ground} /><path d=${figure} fill="#fff" /></svg>`;
