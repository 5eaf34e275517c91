/** Cost of sending, in dollars: people compare it with the price of the purchase, not with its last digit. */
import type { Say } from './language.ts';

const cent_microUsd = 10_000n;

/** @returns the cost as a sign, `< $0.01`, and in words; both rounded up to a full cent */
export function costText(say: Say, cost_microUsd: bigint): { readonly sign: string; readonly words: string } {
  const cents = Number((cost_microUsd + cent_microUsd - 1n) / cent_microUsd);
  if (cents <= 1) {
    const amount = say.dollars(1);
    return { sign: `< ${amount}`, words: say.text('costLess', { amount }) };
  }
  const amount = say.dollars(cents);
  return { sign: `≈ ${amount}`, words: say.text('costAbout', { amount }) };
}
