// Failure between a payment's page and a wallet. `word` names the message that the payer reads.

export class WalletProblem extends Error {
  /** @param {string} word @param {boolean} [maySent] true if the wallet may have sent the payment nevertheless */
  constructor(word, maySent = false) {
    super(word);
    this.word = word;
    this.maySent = maySent;
  }
}

/** Refusals by the person: EIP-1193 and Wallet Standard use 4001, Freighter -4. */
const refusals = [4001, -4];
const pending = -32002;

/** Reads an error of a wallet. Wallets use different codes, so their words count as well. */
export function problemOf(error, otherwise = 'failed') {
  if (error instanceof WalletProblem) return error;
  const code = Number(error?.code ?? error?.data?.originalError?.code);
  const text = String(error?.message ?? error).slice(0, 500);
  if (refusals.includes(code) || /reject|declin|denied|cancel/i.test(text)) return new WalletProblem('refused');
  if (code === pending) return new WalletProblem('pending');
  if (/insufficient funds/i.test(text)) return new WalletProblem('noCoin');
  return new WalletProblem(otherwise);
}

/** Body of a request for a transaction. The amount is null unless the payer chose it. */
export const asking = ({ amount }, account) => (amount === null ? { account } : { account, amount });

/** @param {string} part of the payment's own path @returns the answer @throws WalletProblem */
export async function post(part, body) {
  const path = `${location.pathname.replace(/\/$/, '')}/${part}`;
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
  let answer;
  try {
    answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  } catch {
    throw new WalletProblem('busy');
  }
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  throw problemIn(answer, said);
}

const words = { '/account': 'otherAccount', '/token': 'noToken', '/coin': 'noCoin', '/expired': 'expired' };

/** Reads an error of the service. @param {Response | null} answer null if none arrived */
export function problemIn(answer, said) {
  if (!answer) return new WalletProblem('busy');
  const word = words[said?.errors?.[0]?.pointer ?? ''];
  return new WalletProblem(word ?? (answer.status === 429 || answer.status >= 500 ? 'busy' : 'failed'));
}
