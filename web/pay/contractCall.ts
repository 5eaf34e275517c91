/** The call that pays into the contract on Stellar: `pay(sender, amount, memo)`, with exactly the values that it takes (docs/stellar.md). */
import type { VNode } from 'preact';
import { chainOf, tokenAt } from '../../domain/chains.ts';
import { parseAmount } from '../../domain/money.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { address } from '../parts/address.ts';
import type { Mode } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import type { PayModel } from './model.ts';
import { sum } from './sum.ts';
import { line } from './toPayLine.ts';

/** @param amount in whole tokens; null where the payer chooses */
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
