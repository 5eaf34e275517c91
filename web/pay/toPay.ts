/** What is to be sent where, for as long as it counts. */

import type { VNode } from 'preact';
import { chainOf, tokenAt } from '../../domain/chains.ts';
import { parseAmount } from '../../domain/money.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { address, chainName } from '../parts/cells.ts';
import type { Mode } from '../parts/frame.ts';
import { type Content, html } from '../parts/html.ts';
import { qrCode } from '../parts/qr.ts';
import { isDue, type PayModel, shopName } from './model.ts';
import { sum } from './sum.ts';
import { line } from './toPayLine.ts';
import { phoneApps } from './wallets.ts';

/**
 * The call that pays into the contract on Stellar: `pay(sender, amount, memo)`, with exactly the values that it takes (docs/stellar.md).
 * @param amount in whole tokens; null where the payer chooses
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

/** Each option on a line of its own, and no line break inside of its name. */
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

/** As the command line calls them. */
const networks: Readonly<Record<Mode, string>> = { live: 'mainnet', test: 'testnet', sandbox: 'local' };

/** For `stellar contract invoke`. All of it was made or checked here: addresses of Stellar, digits, hexadecimal. */
export function commandOf(
  { depositContract, depositContractMemo, senderAddress }: PaymentView,
  units: string | null,
  network: string,
): string | null {
  if (depositContract === null || depositContractMemo === null || senderAddress === null || units === null) return null;
  return `stellar contract invoke --id ${depositContract} --source-account ${senderAddress} --network ${network} -- pay --sender ${senderAddress} --amount ${units} --memo ${depositContractMemo}`;
}

/** Empty once nothing is to be sent any more. */
export function toPay(model: PayModel): VNode {
  const { situation, payment } = model.facts;
  if (!isDue(situation)) return html`<div id="to-pay" data-live="part"></div>`;
  const called = payment.depositContract !== null;
  return html`<div id="to-pay" data-live="part">
    ${called && html`<div class="told"><p class="small muted">${model.say('plainTransfer')}</p></div>`}
    ${plain(model)}
    ${called && html`<details class="folded"><summary>${model.say('forDevelopers')}</summary>${contractCall(model, amountLeft(model))}</details>`}
    <p class="note">${rules(model)}</p>
  </div>`;
}

/** What is still to be sent, in whole tokens; null where the payer chooses. */
const amountLeft = ({ facts: { situation, payment } }: PayModel): string | null =>
  payment.sourceAmount === null ? null : (situation.missing?.amount ?? null);

function plain(model: PayModel): VNode {
  const { say, walletLink } = model;
  return html`<div>${
    walletLink !== null && [
      phoneApps(model),
      html`<section class="scan">
      <a class="button primary" href=${walletLink} target="_top" title=${say.text('qrText', { link: walletLink })}>${say('openWallet')}</a>
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

/** By its contract as well: a symbol can be anybody's. */
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
  return [
    html`<span>${say('onlyThis', { token: payment.sourceTokenSymbol, chain, merchant })} </span>`,
    payment.depositMemo !== null && html`<span>${say('withMemo')} </span>`,
    payment.sourceAmount !== null && html`<span>${say('fromExchange')}</span>`,
  ];
}
