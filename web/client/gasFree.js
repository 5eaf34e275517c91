// Paying by a signature (docs/integrate/x402.md): the service sends what the wallet signed, so the payer's account needs no coin for gas.
import { problemIn, WalletProblem } from './walletProblem.js';

const path = () => `${location.pathname.replace(/\/$/, '')}/authorization`;

/** Reads the service's offers, and the result of the last signature. @param {string} [account] that signs a prepared authorization */
async function readOffers(account) {
  const query = account === undefined ? '' : `?${new URLSearchParams({ account })}`;
  const answer = await fetch(`${path()}${query}`, { headers: { Accept: 'application/json' } }).catch(() => null);
  const said = await answer?.json().catch(() => null);
  if (answer?.ok && said) return said;
  throw problemIn(answer, said);
}

/**
 * Pays by a signature of the account.
 * @param {string} [asks] account that the service prepares the authorization for; omitted where the wallet signs typed data
 * @param {(authorization: object) => boolean} isOwn @param {(authorization: object) => Promise<object>} sign returns what is posted
 */
export async function payBySignature({ account, asks, isOwn, sign }, tell) {
  tell('preparing');
  const { authorizations, last } = await readOffers(asks);
  // Another tab has handed a signature over: a second one would be refused.
  if (isUnderWay(last)) return sentBy(account, last);
  const own = authorizations.find(isOwn);
  if (!own) throw new WalletProblem('freeNot');
  tell('signFree');
  const signed = await sign(own);
  tell('sending');
  return sentBy(account, await handOver(signed));
}

const sentBy = (account, { transaction }) => ({ hash: transaction, account, registered: true, free: true });

const isUnderWay = (last) => last?.status === 'pending' || last?.status === 'paid';

const handOverMax = 30;
const again_ms = 1_000;

/** Hands the signature over until its transaction is known. The same signature is accepted once, so a repetition is harmless. */
async function handOver(body) {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
  let accepted = null;
  for (let tries = 0; tries < handOverMax; tries += 1) {
    // The request outlives its tab: the payer has signed.
    const asked = { method: 'POST', headers, body: JSON.stringify(body), keepalive: true };
    const answer = await fetch(path(), asked).catch(() => null);
    const said = await answer?.json().catch(() => null);
    if (answer?.ok && said) {
      accepted = said;
      if (said.status === 'failed') throw failureOf(said);
      if (said.status === 'paid' || said.transaction) return said;
    } else if (answer && answer.status >= 400 && answer.status < 500 && accepted === null) return refused(answer, said);
    await new Promise((resolve) => setTimeout(resolve, again_ms));
  }
  if (accepted) return accepted;
  // The answer was lost: the service may still send the signature.
  throw new WalletProblem('notSeen', true);
}

/** A payment has one signature under way: after a conflict it is that of another tab. */
async function refused(answer, said) {
  const { last } = answer.status === 409 ? await readOffers().catch(() => ({})) : {};
  if (isUnderWay(last)) return last;
  const { word } = problemIn(answer, said);
  throw new WalletProblem(['expired', 'noToken'].includes(word) ? word : 'freeNot');
}

const words = { expired: 'expired', drained: 'noToken' };

/** A transaction of a failed authorization moved the money all the same. */
const failureOf = ({ reason, transaction }) =>
  transaction ? new WalletProblem('notSeen', true) : new WalletProblem(words[reason] ?? 'freeNot');

/** State of the signature at the service: `waiting`, `unknown` without an answer, or the word of its failure. */
export async function watchSignature() {
  const found = await readOffers().catch(() => null);
  if (!found?.last) return 'unknown';
  return found.last.status === 'failed' ? failureOf(found.last).word : 'waiting';
}
