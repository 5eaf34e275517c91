import type { VNode } from 'preact';
import type { ChainId } from '../../domain/chains.ts';
import { shortText } from './address.ts';
import type { Mode } from './frame.ts';
import { html } from './html.ts';
import { icon } from './icon.ts';

/** Where a transaction can be looked up by anybody: on the chain itself, and on its test network. */
const explorers: Readonly<Record<ChainId, readonly [live: string, test: string]>> = {
  8453: ['https://basescan.org/tx/*', 'https://sepolia.basescan.org/tx/*'],
  56: ['https://bscscan.com/tx/*', 'https://testnet.bscscan.com/tx/*'],
  1: ['https://etherscan.io/tx/*', 'https://sepolia.etherscan.io/tx/*'],
  42161: ['https://arbiscan.io/tx/*', 'https://sepolia.arbiscan.io/tx/*'],
  137: ['https://polygonscan.com/tx/*', 'https://amoy.polygonscan.com/tx/*'],
  501: ['https://explorer.solana.com/tx/*', 'https://explorer.solana.com/tx/*?cluster=devnet'],
  1500: ['https://stellar.expert/explorer/public/tx/*', 'https://stellar.expert/explorer/testnet/tx/*'],
};

/** Null in a sandbox: nobody else has its chains. */
export function explorerUrl(mode: Mode, chainId: ChainId, txHash: string): string | null {
  if (mode === 'sandbox') return null;
  return explorers[chainId][mode === 'live' ? 0 : 1].replace('*', encodeURIComponent(txHash));
}

/** A transaction's hash, leading to its explorer where there is one. */
export function transactionLink(mode: Mode, chainId: ChainId, txHash: string): VNode {
  const url = explorerUrl(mode, chainId, txHash);
  const hash = shortText(txHash);
  return url === null
    ? html`<span class="mono" title=${txHash}>${hash}</span>`
    : html`<a class="mono" href=${url} rel="noopener noreferrer" target="_blank" title=${txHash}>${hash}
      ${icon('external')}<span class="visually-hidden"> (opens an explorer)</span></a>`;
}
