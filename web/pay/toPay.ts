/** Payment instructions while money counts. */
import type { VNode } from 'preact';
import { type ChainId, chainOf, tokenAt } from '../../domain/chains.ts';
import { parseAmount } from '../../domain/money.ts';
import { isDue, limitsOf } from '../../domain/payment/choose.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { address, chainName } from '../parts/cells.ts';
import type { Mode } from '../parts/frame.ts';
import { type Content, html } from '../parts/html.ts';
import { qrCode } from '../parts/sharing.ts';
import { amountForm, wantedAmount } from './choice.ts';
import { type PayModel, shopName } from './model.ts';
import { line, sum } from './parts.ts';
import { phoneApps } from './wallets.ts';

/**
 * Call of the contract on Stellar: `pay(sender, amount, memo)`, with its exact arguments (docs/operate/stellar.md).
 * @param amount in whole tokens; null if the payer chooses
 */
export function contractCall({ say, facts, mode }: PayModel, amount: string | null): VNode {
  const { payment } = facts;
  const { depositContract: contract, depositContractMemo: memo, senderAddress: sender, sourceTokenSymbol } = payment;
  const units = amount === null ? null : unitsOf(payment, amount);
  const command = commandOf(payment, units, networks[mode]);
  return html`<div>
    <div class="told"><h2>${say('contractTitle')}</h2><p class="muted">${say('contractText', { name: html`<code dir="ltr">pay</code>` })}</p></div>
    <dl class="lines">
      ${contract !== null && line(say, 'contract', address(contract), contract)}
      ${sender !== null && line(say, 'sender', address(sender), sender)}
      ${amount !== null && units !== null ? line(say, 'inUnits', html`<span><span class="mono" dir="ltr">${units}</span> <small class="muted">${sum(amount, sourceTokenSymbol)}</small></span>`, units) : line(say, 'amount', say('anyAmount'))}
      ${memo !== null && line(say, 'memo', html`<strong class="mono" dir="ltr">${memo}</strong>`, memo)}
      ${command !== null && line(say, 'command', html`<code class="command" dir="ltr">${wrapped(command)}</code>`, command)}
    </dl>
  </div>`;
}

/** Each option on its own line, without a break inside its name. */
const wrapped = (command: string): readonly VNode[] =>
  command.split(/ (?=--)/).map((option) => {
    const [name = '', ...rest] = option.split(' ');
    return html`<span><b>${name}</b> ${rest.join(' ')} </span>`;
  });

/** In the token's smallest units, as the contract counts. */
function unitsOf({ sourceChainId, sourceTokenAddress }: PaymentView, amount: string): string | null {
  const token = tokenAt(chainOf(sourceChainId), sourceTokenAddress);
  const units = token ? parseAmount(amount, token.decimals) : undefined;
  return typeof units === 'bigint' ? units.toString() : null;
}

/** Names of the command line. */
const networks: Readonly<Record<Mode, string>> = { live: 'mainnet', test: 'testnet', sandbox: 'local' };

/** For `stellar contract invoke`. Every part was made or checked here: addresses of Stellar, digits, hexadecimal. */
export function commandOf(
  { depositContract, depositContractMemo, senderAddress }: PaymentView,
  units: string | null,
  network: string,
): string | null {
  if (depositContract === null || depositContractMemo === null || senderAddress === null || units === null) return null;
  return `stellar contract invoke --id ${depositContract} --source-account ${senderAddress} --network ${network} -- pay --sender ${senderAddress} --amount ${units} --memo ${depositContractMemo}`;
}

/** Empty once no amount is due. */
export function toPay(model: PayModel): VNode {
  const { situation, payment } = model.facts;
  if (!isDue(situation)) return html`<div id="to-pay" data-live="part"></div>`;
  const called = payment.depositContract !== null;
  return html`<div id="to-pay" data-live="part">
    ${payment.sourceAmount === null && amountForm(model)}
    ${called && html`<div class="told"><p class="small muted">${model.say('plainTransfer')}</p></div>`}
    ${plain(model)}
    ${called && html`<details class="folded"><summary>${model.say('forDevelopers')}</summary>${contractCall(model, amountLeft(model))}</details>`}
    ${!called && exchange(model, amountLeft(model))}
    <p class="note">${rules(model)}</p>
  </div>`;
}

/** Amount still due in whole tokens; null if the payer has not chosen one. */
const amountLeft = ({ facts: { situation, payment }, wanted }: PayModel): string | null =>
  payment.sourceAmount === null ? wantedAmount(wanted) : (situation.missing?.amount ?? null);

function plain(model: PayModel): VNode {
  const { say, walletLink } = model;
  return html`<div>${
    walletLink !== null && [
      phoneApps(model),
      html`<section class="scan">
      <a class="button primary" href=${walletLink} target="_top" title=${say.text('qrText', { link: walletLink })}>${say('openWallet')}</a>
      <p class="small muted center">${say('nothingOpens')}</p>
      <details class="device"><summary>${say('otherDevice')}</summary></details>
      ${qrCode(walletLink, say.text('qr'))}
    </section>`,
    ]
  }<dl class="lines">${rows(model)}</dl></div>`;
}

function rows(model: PayModel): Content {
  const { say, walletLink } = model;
  const { payment, situation } = model.facts;
  const left = amountLeft(model);
  const token = payment.sourceTokenSymbol;
  return [
    line(say, 'sendTo', address(payment.depositAddress), payment.depositAddress),
    payment.depositMemo !== null &&
      line(say, 'memo', html`<strong class="mono" dir="ltr">${payment.depositMemo}</strong>`, payment.depositMemo),
    left !== null
      ? line(say, 'exactAmount', sum(left, token), left)
      : line(
          say,
          'amount',
          html`<span>${say('anyAmount')}${situation.missing && html`<small class="muted">${say('atLeast', { amount: sum(situation.missing.amount, token) })}</small>`}</span>`,
        ),
    line(say, 'token', tokenText(payment), payment.sourceTokenAddress),
    walletLink !== null && html`<div class="line visually-hidden"><dt>${say('qr')}</dt><dd>${walletLink}</dd></div>`,
  ];
}

/** Includes the contract, because anyone can use a symbol. */
const tokenText = ({ sourceTokenSymbol, sourceTokenAddress, sourceChainId }: PaymentView): VNode =>
  html`<span><span>${sourceTokenSymbol} · ${chainName(sourceChainId)}</span> <small class="muted">${address(sourceTokenAddress)}</small></span>`;

function rules(model: PayModel): Content {
  const { say } = model;
  const { payment, situation } = model.facts;
  const merchant = shopName(model);
  if (situation.kind === 'underpaid' && situation.received) {
    const { amount, tokenSymbol } = situation.received;
    return say('underpaidNote', { received: sum(amount, tokenSymbol), merchant });
  }
  const chain = chainName(payment.sourceChainId);
  const token = payment.sourceTokenSymbol;
  const { min, max } = limitsOf(model.facts);
  return [
    payment.sourceAmount === null
      ? html`<span>${say('onlyThisAny', { token, chain, min: sum(min, token), max: sum(max, token) })} </span>`
      : html`<span>${say('onlyThis', { token, chain, merchant })} </span>`,
    payment.depositMemo !== null && html`<span>${say('withMemo')}</span>`,
  ];
}

// Paying from an exchange: its fee, its names for networks and memos, and a list to check before the withdrawal is
// confirmed.

/** In the names of most exchanges. */
const networkNames: Readonly<Record<ChainId, string>> = {
  8453: 'Base',
  56: 'BNB Smart Chain (BEP20)',
  1: 'Ethereum (ERC20)',
  42161: 'Arbitrum One',
  137: 'Polygon PoS',
  501: 'Solana',
  1500: 'Stellar (XLM)',
};

/** Characters of an address that people compare by eye. */
const addressEnd = 6;

/** @param left amount that must arrive, in whole tokens; null if the payer chooses it */
function exchange({ say, facts }: PayModel, left: string | null): VNode {
  const { payment, situation } = facts;
  const { sourceTokenSymbol: token, depositAddress, depositMemo, sourceChainId, expiresAt } = payment;
  const least = situation.missing?.amount ?? null;
  const end = html`<span class="mono" dir="ltr">…${depositAddress.slice(-addressEnd)}</span>`;
  const checks: Content[] = [
    ...(left !== null ? [say('exchangeAmount', { amount: strong(sum(left, token)) })] : []),
    ...(left === null && least !== null ? [say('exchangeAmountLeast', { amount: strong(sum(least, token)) })] : []),
    say('exchangeToken', { token: strong(token) }),
    say('exchangeNetwork', { network: strong(networkNames[sourceChainId]) }),
    say('exchangeAddress', { end }),
    depositMemo === null
      ? say('exchangeNoMemo')
      : say('exchangeMemo', { memo: html`<strong class="mono" dir="ltr">${depositMemo}</strong>` }),
  ];
  const time = html`<time datetime=${expiresAt} data-local="minutes" dir="auto">${say.time(expiresAt)}</time>`;
  return html`<details class="folded exchange" id="exchange"><summary>${say('exchange')}</summary><div class="checks">
    <p>${say('exchangeText')}</p>
    <fieldset><legend><strong>${say('exchangeCheck')}</strong></legend>${checks.map(
      (check) => html`<label><input type="checkbox" /><span>${check}</span></label>`,
    )}</fieldset>
    <p class="small muted">${say('exchangeTime', { time })}</p>
  </div></details>`;
}

const strong = (content: Content): VNode => html`<strong>${content}</strong>`;
