import type { VNode } from 'preact';
import type { ChainId, TokenSymbol } from '../../domain/chains.ts';
import { html } from './html.ts';
import { directionOf } from './language.ts';
import { pageLanguage } from './say.ts';

/** Drawn on 24 × 24 by strokes in the text's colour. */
const drawings = {
  overview: 'M4 11 12 4l8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z',
  payments: 'M3 6h18v12H3zM3 10h18M7 15h4',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  webhooks: 'M18 16a3 3 0 1 1-3 3H8M6 16a4 4 0 1 1 3-6l3-5a3 3 0 1 1 4 2M10 6l4 7',
  keys: 'M14.5 13.5a4.5 4.5 0 1 0-4-4L4 16v4h4v-2.5h2.5V15zM16 8h.01',
  settlement: 'M3 7.5A1.5 1.5 0 0 1 4.5 6H18v3M3 7.5V18a1.5 1.5 0 0 0 1.5 1.5H21V9H4.5A1.5 1.5 0 0 1 3 7.5M17 14.2h.01',
  branding:
    'M12 3a9 9 0 1 0 0 18c1.5 0 2-1 2-2 0-1.5-1-1.7-1-3s1-2 2.5-2H18a3 3 0 0 0 3-3c0-4.5-4-8-9-8M7.5 12h.01M10 7.5h.01M15 8h.01',
  audit: 'M6 3h9l4 4v14H6zM14 3v5h5M9.5 12.5h6M9.5 16.5h6',
  embedding: 'M3 5h18v14H3zM3 9h18M7 13h5v3H7z',
  cashback:
    'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17M14.5 9.5A2.5 2 0 0 0 12 8.2c-1.5 0-2.5.7-2.5 1.8 0 2.6 5.2 1.3 5.2 4 0 1.1-1.2 1.9-2.7 1.9A2.7 2.2 0 0 1 9.3 14.4M12 6.8v10.4',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6 6 18',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M15.3 15.3 20 20',
  external: 'M9 5H5v14h14v-4M13 4h7v7M20 4l-9 9',
  back: 'M15 5l-7 7 7 7',
  forth: 'M9 5l7 7-7 7',
  choose: 'M8 9.5 12 5.5l4 4M8 14.5l4 4 4-4',
  balance: 'M12 4v16M8 20h8M5 7h14M5 7l-2.5 6a2.7 2.7 0 0 0 5 0zM19 7l-2.5 6a2.7 2.7 0 0 0 5 0z',
  mail: 'M3 6h18v12H3zM3.5 7l8.5 6.5L20.5 7',
  check: 'M5 12.5 10 17.5 19.5 7',
  clock: 'M12 7v5.5l3.5 2M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17',
  alert: 'M12 9.5v4.5M12 17h.01M12 3.5 2.5 20h19z',
  over: 'M6 12h12',
  team: 'M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M2.5 20a6.5 6.5 0 0 1 13 0M16 5.3a3.5 3.5 0 0 1 0 6.4M18 14.2a6.5 6.5 0 0 1 3.5 5.8',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 20.5h4',
  device: 'M3 5h18v11H3zM8 20h8M12 16v4',
} as const;

export type IconName = keyof typeof drawings;

/** Arrows point in the reading direction. */
const mirrored: Readonly<Partial<Record<IconName, string>>> = {
  back: drawings.forth,
  forth: drawings.back,
  external: 'M15 5h4v14H5v-4M11 4H4v7M4 4l9 9',
};

/** Decoration: the text beside it has the meaning. */
export const icon = (name: IconName): VNode =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${drawingOf(name)} /></svg>`;

const drawingOf = (name: IconName): string =>
  (directionOf(pageLanguage()) === 'rtl' ? mirrored[name] : undefined) ?? drawings[name];

// Marks of chains and tokens, to distinguish them at a glance. They are drawn here and are not logos.

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
