// Pays from a wallet in the payer's browser, or signs a refund address in it: lists the available wallets, and follows the chosen one to
// the end.
import { watchSignature } from './gasFree.js';
import { say } from './say.js';
import { post, problemOf, WalletProblem } from './walletProblem.js';

const place = document.getElementById('wallets');
const list = place.querySelector('ul');
const told = place.querySelector('.told-wallet');
const again = place.querySelector('.again');
const sign = place.querySelector('.sign');

const walletsMax = 12;
const nameMax = 40;
const iconMax = 65_536;
/** After this time a silent wallet no longer hides the other ways to pay. */
const silent_ms = 60_000;
/** After this time since sending, the page offers more than waiting. */
const seen_ms = 120_000;
const watch_ms = 4_000;
/** A node that lags knows a transaction a little later. */
const unknownMax = 4;
const recorded = 'payin sent';

/** By the object that a wallet announced: two with one id are two wallets. */
const wallets = new Map();
let offered = readOffer();
let turn = 0;
let watching = null;

/** Amount due and the texts of the page's language. Null while nothing is due on a chain of the page's wallets. */
function readOffer() {
  try {
    const read = JSON.parse(document.getElementById('wallet-offer').textContent);
    return read.offer.family === place.dataset.family ? read : null;
  } catch {
    return null;
  }
}

/** A wallet's own name: shortened, and without marks that change the direction of text. */
const plain = (text) =>
  Array.from(String(text ?? '').replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim())
    .slice(0, nameMax)
    .join('');

const isIcon = (text) =>
  typeof text === 'string' && text.length <= iconMax && /^data:image\/(png|jpeg|webp|gif|svg\+xml)[;,]/.test(text);

function found(wallet) {
  if (offered === null || wallets.has(wallet.id) || wallets.size >= walletsMax) return;
  const name = plain(wallet.name) || offered.words.unnamed;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button';
  const icon = Object.assign(document.createElement(isIcon(wallet.icon) ? 'img' : 'span'), { className: 'mark' });
  if (icon instanceof HTMLImageElement) Object.assign(icon, { src: wallet.icon, alt: '', width: 24, height: 24 });
  else icon.setAttribute('aria-hidden', 'true');
  const [before, after] = offered.words.pay.split('%');
  const bdi = Object.assign(document.createElement('bdi'), { textContent: name });
  const text = document.createElement('span');
  text.append(before, bdi, after);
  button.append(icon, text);
  button.addEventListener('click', () => press(wallet, 'pay'));
  const item = document.createElement('li');
  item.append(button);
  const buttons = [button];
  if (wallet.payFree && offered.offer.gasFree) {
    const free = Object.assign(document.createElement('button'), { type: 'button', className: 'button free' });
    const [start, end] = offered.words.payFree.split('%');
    const words = document.createElement('span');
    words.append(start, Object.assign(document.createElement('bdi'), { textContent: name }), end);
    free.append(words);
    free.addEventListener('click', () => press(wallet, 'payFree'));
    item.append(free);
    buttons.push(free);
  }
  list.append(item);
  wallets.set(wallet.id, { ...wallet, name, buttons, text });
  tellApart(name);
  show();
}

/** Wallets with equal names show the origins that they state. */
function tellApart(name) {
  const same = [...wallets.values()].filter((wallet) => wallet.name === name);
  if (same.length < 2) return;
  for (const { text, detail } of same) {
    if (text.querySelector('small') || !plain(detail)) continue;
    text.append(Object.assign(document.createElement('small'), { className: 'muted', textContent: ` ${plain(detail)}` }));
  }
}

function show() {
  place.hidden = offered === null || (wallets.size === 0 && sentBefore() === null);
  document.body.classList.toggle('has-wallets', wallets.size > 0 && offered !== null);
}

/** Hides everything that invites to pay again after a payment was sent. @param {boolean} isSent */
function showSent(isSent) {
  list.hidden = isSent;
  sign.hidden = !isSent;
  document.body.classList.toggle('wallet-sent', isSent);
}

function disable(isDisabled) {
  for (const { buttons } of wallets.values()) for (const button of buttons) button.disabled = isDisabled;
}

/** @param {boolean} closed true if no wallet can be chosen */
function tell(word, { closed = false, wallet = '', state = '' } = {}) {
  const text = (offered?.words[word] ?? '').replaceAll('%', wallet);
  told.textContent = text;
  told.hidden = text === '';
  told.dataset.state = word;
  told.className = `told-wallet ${state}`;
  disable(closed);
  showSent(word === 'sent');
  again.hidden = true;
  if (text !== '') say(text);
}

/** @param {'pay' | 'payFree'} way by a transfer, or by a signature that the service sends */
async function press({ id }, way) {
  const wallet = wallets.get(id);
  const offer = offered?.offer;
  if (!offer) return;
  turn += 1;
  const mine = turn;
  const isMine = () => mine === turn;
  const step = (word) => isMine() && tell(word, { closed: true, wallet: wallet.name });
  // A silent wallet may still send: its later answer is accepted.
  const silent = setTimeout(() => isMine() && tell('pending', { wallet: wallet.name, state: 'wait' }), silent_ms);
  try {
    if (offer.text !== undefined) return submitSignature(await wallet.sign(offer, step), isMine());
    const sent = await wallet[way](offer, step);
    turn += 1;
    record({ ...sent, due: dueOf(), from: wallet.detail ?? '', at: Date.now() });
    follow(wallet);
    if (!sent.registered) await registered(sent);
  } catch (error) {
    if (!isMine()) return;
    const { word, maySent } = problemOf(error);
    if (maySent) record({ hash: null, due: dueOf(), from: '', at: Date.now() - seen_ms });
    tell(word, { wallet: wallet.name, state: 'bad' });
    if (maySent) offerAgain();
  } finally {
    clearTimeout(silent);
  }
}

/** Longest signature that the service reads. */
const signatureMax = 8_400;

/** Sends the page's form with the signature, like a pasted one: the service checks it. */
function submitSignature(signature, isMine) {
  if (typeof signature !== 'string' || signature === '' || signature.length > signatureMax) throw new WalletProblem('failed');
  if (!isMine) return;
  const field = document.querySelector('form [name="signature"]');
  field.value = signature;
  field.form.requestSubmit();
}

const pause = (length_ms) => new Promise((resolve) => setTimeout(resolve, length_ms));

/** The scan of the chain finds the payin as well; this is only faster. */
async function registered({ hash: txHash, account }) {
  for (let tries = 0; tries < 3; tries += 1) {
    try {
      return await post('payin', { txHash, account });
    } catch (problem) {
      if (problem.word !== 'busy') return undefined;
      await pause(2_000);
    }
  }
}

// The tab remembers the sent transaction until the page shows it: a reload must not invite to pay twice.

/** Terms of the offer. A sum that the payer chose is none of them: another sum is no reason to pay again. */
function dueOf() {
  const { amount, units, data, ...terms } = offered.offer;
  return JSON.stringify(amount === null ? { ...terms, units, data } : terms);
}

const recordName = `${recorded} ${location.pathname}`;

function record(sent) {
  try {
    sessionStorage.setItem(recordName, JSON.stringify(sent));
  } catch {
    // Storage is unavailable: a reload forgets the transaction.
  }
}

function forget() {
  try {
    sessionStorage.removeItem(recordName);
  } catch {
    // Nothing is stored.
  }
}

/** Null if nothing was sent, or with other terms: the page requests another amount since. */
function sentBefore() {
  try {
    const sent = JSON.parse(sessionStorage.getItem(recordName));
    return sent && offered && sent.due === dueOf() ? sent : null;
  } catch {
    return null;
  }
}

/** Waits for the page to show the payment, and reports a timeout. */
function follow(wallet) {
  clearInterval(watching);
  let unknown = 0;
  tell('sent', { closed: true, wallet: wallet?.name ?? '', state: 'wait' });
  show();
  const look = async () => {
    const sent = sentBefore();
    if (sent === null) return clearInterval(watching);
    if (sent.free) {
      const fate = await watchSignature();
      if (fate === 'waiting') return;
      if (fate === 'notSeen') return end(fate);
      if (fate !== 'unknown') return endUnsent(fate);
    }
    const fate = !sent.free && sent.hash && wallet?.watch ? await wallet.watch(sent.hash) : 'waiting';
    unknown = fate === 'unknown' ? unknown + 1 : 0;
    if (fate === 'reverted') end('reverted');
    else if (unknown >= unknownMax) end('dropped');
    else if (Date.now() - sent.at > seen_ms) end('notSeen');
  };
  const end = (word) => {
    if (sentBefore() === null) return;
    clearInterval(watching);
    tell(word, { closed: true, state: 'bad' });
    offerAgain();
  };
  // The service moved nothing by the signature and never will: the payer may sign again.
  const endUnsent = (word) => {
    if (sentBefore() === null) return;
    clearInterval(watching);
    forget();
    tell(word, { state: 'bad', wallet: wallet?.name ?? '' });
    show();
  };
  watching = setInterval(look, watch_ms);
}

function offerAgain() {
  disable(true);
  showSent(true);
  again.hidden = false;
}

again.addEventListener('click', () => {
  forget();
  tell('');
  list.querySelector('button')?.focus();
});

/** The page was reloaded: the amount due may have changed, or be paid. */
document.addEventListener('renewed', () => {
  offered = readOffer();
  if (offered === null) {
    clearInterval(watching);
    forget();
    showSent(false);
  } else if (told.dataset.state === 'sent' && sentBefore() === null) {
    clearInterval(watching);
    tell('');
  }
  show();
});

/**
 * Lists the wallets that a family's module finds, once money is due. The page loads only the module of its own family.
 * @param {(offer: object, found: (wallet: object) => void) => void} find
 */
export function start(find) {
  if (offered === null) return document.addEventListener('renewed', () => start(find), { once: true });
  find(offered.offer, foundAndFollowed);
  if (sentBefore() !== null) follow(null);
}

/** After a reload, asks the wallet that sent the payment for its result. */
function foundAndFollowed(wallet) {
  found(wallet);
  const sent = sentBefore();
  if (!sent) return;
  disable(true);
  if (sent.hash && wallet.watch && sent.from === (wallet.detail ?? '')) follow(wallets.get(wallet.id));
}
