/** Paying from a wallet: one in this browser, found by a script (client/wallets.js), or an app of this phone, which opens the page again. */
import type { VNode } from 'preact';
import type { WalletOffer } from '../../commands/payerTransactions.ts';
import { type ChainFamily, chainOf } from '../../domain/chains.ts';
import { chainName } from '../parts/cells.ts';
import { type Content, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { paths, withQuery } from '../parts/paths.ts';
import type { Say } from './language.ts';
import type { PayModel } from './model.ts';

/** The script inserts the name of a wallet here. */
const place = '%';

/**
 * Shown once a script has found a wallet and money is due. A renewal of the page does not replace it, so a payment that the payer has begun
 * in a wallet continues. It is there while money may become due: a payin that is too small shows so only once it is final.
 */
export const wallets = ({ say, facts: { payment, situation } }: PayModel): VNode | null =>
  situation.open ? walletList(say, say('walletTitle'), chainOf(payment.sourceChainId).family) : null;

function walletList(say: Say, title: Content, family: ChainFamily): VNode {
  return html`<section class="wallets" id="wallets" data-family=${family} hidden>
      <h2>${title}</h2>
      <span class="sign wait" hidden>${icon('clock')}</span>
      <ul></ul>
      <p class="told-wallet" hidden></p>
      <button type="button" class="button again" hidden>${say('walletAgain')}</button>
      <script type="module" src=${paths.asset(`${family}Wallet.js`)}></script>
    </section>`;
}

/** Data for the script: empty once nothing is due. */
export function walletOffer(model: PayModel): VNode {
  const { walletOffer: offer } = model;
  return html`<div id="wallet-offer" data-live="part" hidden>${offer && JSON.stringify({ offer: marked(model, offer), words: wordsOf(model) })}</div>`;
}

/** A text for the account that must sign it. The wallet's signature fills the page's form and sends it. */
export interface TextToSign {
  readonly family: ChainFamily;
  readonly account: string;
  readonly text: string;
}

/** Wallets that sign a text, with the data for the script. */
export function signers({ say }: Pick<PayModel, 'say'>, title: Content, offer: TextToSign): VNode {
  const wallet = { wallet: place };
  const notSigned = say.text('refundNotSigned');
  const words = {
    pay: say.text('refundSignWith', wallet),
    unnamed: say.text('walletUnnamed'),
    connecting: say.text('walletConnecting', wallet),
    confirm: say.text('refundSigning', wallet),
    pending: say.text('walletPending', wallet),
    refused: notSigned,
    otherAccount: notSigned,
    failed: notSigned,
  };
  return html`<div><div id="wallet-offer" hidden>${JSON.stringify({ offer, words })}</div>${walletList(say, title, offer.family)}</div>`;
}

/** A simulated chain has the id of a real one, so the script queries the wallet's node to distinguish them. */
const marked = ({ mode, gasFree }: PayModel, offer: WalletOffer): object =>
  offer.family === 'evm'
    ? { ...offer, chain: { ...offer.chain, simulated: mode === 'sandbox' }, gasFree }
    : { ...offer, gasFree };

function wordsOf({ say, facts, walletOffer }: PayModel): Readonly<Record<string, string>> {
  const { sourceTokenSymbol: token, sourceChainId } = facts.payment;
  const sender = walletOffer?.family === 'stellar' ? walletOffer.sender : null;
  const chain = chainName(sourceChainId);
  const wallet = { wallet: place };
  const coin =
    coins[chainOf(sourceChainId).family] ?? (walletOffer?.family === 'evm' ? walletOffer.chain.coin.symbol : '');
  return {
    pay: say.text('walletPay', wallet),
    payFree: say.text('walletPayFree', wallet),
    signFree: say.text(walletOffer?.family === 'solana' ? 'walletSignFreeSoon' : 'walletSignFree', wallet),
    freeNot: say.text('walletFreeNot'),
    unnamed: say.text('walletUnnamed'),
    connecting: say.text('walletConnecting', wallet),
    network: say.text('walletNetwork', { ...wallet, chain }),
    preparing: say.text('walletPreparing'),
    confirm: say.text('walletConfirm', wallet),
    sending: say.text('walletSending'),
    sent: say.text('walletSent'),
    refused: say.text('walletRefused'),
    pending: say.text('walletPending', wallet),
    otherAccount: sender === null ? say.text('walletFailed') : say.text('walletOtherAccount', { account: sender }),
    otherNetwork: say.text('walletOtherNetwork', { ...wallet, chain }),
    realNetwork: say.text('walletRealNetwork'),
    noToken: say.text('walletNoToken', { token, chain }),
    noCoin: say.text('walletNoCoin', { coin, chain }),
    failed: say.text('walletFailed'),
    busy: say.text('walletBusy'),
    expired: say.text('walletExpired'),
    reverted: say.text('walletReverted'),
    dropped: say.text('walletDropped'),
    notSeen: say.text('walletNotSeen'),
  };
}

const coins: Readonly<Record<string, string>> = { solana: 'SOL', stellar: 'XLM' };

// Apps of phones. Each link is documented by its wallet's maker (docs/payment-page.md), and opens the page in the browser of the app.

interface App {
  readonly name: string;
  readonly link: (url: string) => string;
}

const encoded = encodeURIComponent;
const origin = (url: string): string => new URL(url).origin;

const metaMask: App = {
  name: 'MetaMask',
  link: (url) => `https://link.metamask.io/dapp/${url.replace(/^https?:\/\//, '')}`,
};
const coinbase: App = { name: 'Coinbase Wallet', link: (url) => `https://go.cb-w.com/dapp?cb_url=${encoded(url)}` };
const trust = (coin: number): App => ({
  name: 'Trust Wallet',
  link: (url) => `https://link.trustwallet.com/open_url?coin_id=${coin}&url=${encoded(url)}`,
});
const browsing = (name: string, base: string): App => ({
  name,
  link: (url) => `${base}/${encoded(url)}?ref=${encoded(origin(url))}`,
});

/** Coin ids of SLIP-44, in the form of Trust Wallet: Ethereum's for every EVM chain. */
const apps: Readonly<Record<WalletOffer['family'], readonly App[]>> = {
  evm: [metaMask, coinbase, trust(60)],
  solana: [
    browsing('Phantom', 'https://phantom.app/ul/browse'),
    browsing('Solflare', 'https://solflare.com/ul/v1/browse'),
    trust(501),
  ],
  // Freighter's and Lobstr's apps document no link that opens a page in them.
  stellar: [],
};

/** First on touch screens, and omitted elsewhere (pay.css). Null if no app has such a link. */
export function phoneApps(model: PayModel): VNode | null {
  const { say, walletOffer: offer, url } = model;
  const known = offer === null ? [] : apps[offer.family];
  if (known.length === 0) return null;
  const here = withQuery(url, { lang: say.language });
  return html`<section class="apps"><h2>${say('appsTitle')}</h2><ul>${known.map(
    ({ name, link }) =>
      html`<li><a class="button" href=${link(here)} target="_top" rel="noreferrer"><span>${say('appsOpen', { wallet: name })}</span></a></li>`,
  )}</ul></section>`;
}
