// Wallets of Solana: found by the Wallet Standard. The service makes the transaction, the wallet signs and sends it. A wallet signs the raw
// bytes of a text.
import { payBySignature } from './gasFree.js';
import { asking, post, problemOf, WalletProblem } from './walletProblem.js';
import { start } from './wallets.js';

const connecting = 'standard:connect';
const sending = 'solana:signAndSendTransaction';
const signing = 'solana:signMessage';
const signingAlone = 'solana:signTransaction';

async function accountFor(wallet, { chain }, tell) {
  tell('connecting');
  const { accounts } = await wallet.features[connecting].connect().catch(rethrow);
  const account = accounts?.find(({ chains }) => chains.includes(chain));
  if (!account) throw new WalletProblem('otherNetwork');
  return account;
}

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

const pay = (wallet) => async (offer, tell) => {
  const account = await accountFor(wallet, offer, tell);
  tell('preparing');
  const { transaction } = await post('transaction', asking(offer, account.address));
  const prepared_ms = Date.now();
  tell('confirm');
  const asked = { account, chain: offer.chain, transaction: bytesOf(transaction) };
  const [sent] = await wallet.features[sending].signAndSendTransaction(asked).catch((error) => {
    const problem = problemOf(error);
    // The network forgets the block that a transaction names after a minute.
    const tooOld = problem.word === 'failed' && Date.now() - prepared_ms > expires_ms;
    throw tooOld ? new WalletProblem('expired') : problem;
  });
  if (sent?.signature?.length !== 64) throw new WalletProblem('notSeen', true);
  return { hash: base58(sent.signature), account: account.address };
};

/** The wallet signs and does not send: the relay account's signature is missing. */
const payFree = (wallet) => async (offer, tell) => {
  const account = await accountFor(wallet, offer, tell);
  const sign = async ({ chainId, transaction }) => {
    const asked = { account, chain: offer.chain, transaction: bytesOf(transaction) };
    const [signed] = await wallet.features[signingAlone].signTransaction(asked).catch(rethrow);
    if (!(signed?.signedTransaction?.length > 0)) throw new WalletProblem('failed');
    return { chainId, transaction: btoa(String.fromCharCode(...signed.signedTransaction)) };
  };
  const isOwn = ({ transaction }) => transaction !== undefined;
  return payBySignature({ account: account.address, asks: account.address, isOwn, sign }, tell);
};

/** Only version 0 transactions are prepared. */
const signsFree = ({ features }) => features[signingAlone]?.supportedTransactionVersions?.includes(0) ?? false;

const sign = (wallet) => async ({ text, account: address }, tell) => {
  tell('connecting');
  const { accounts } = await wallet.features[connecting].connect().catch(rethrow);
  const account = accounts?.find((each) => each.address === address);
  if (!account) throw new WalletProblem('otherAccount');
  tell('confirm');
  const message = new TextEncoder().encode(text);
  const [signed] = await wallet.features[signing].signMessage({ account, message }).catch(rethrow);
  if (signed?.signature?.length !== 64) throw new WalletProblem('failed');
  return base58(signed.signature);
};

const expires_ms = 60_000;

const rethrow = (error) => {
  throw problemOf(error);
};

const letters = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** @param {Uint8Array} bytes */
function base58(bytes) {
  let value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = '';
  for (; value > 0n; value /= 58n) text = letters[Number(value % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros < 0 ? bytes.length : zeros) + text;
}

start((offer, found) => {
  const register = (...wallets) => {
    for (const wallet of wallets) {
      try {
        const isAble = offer.text === undefined ? wallet.chains.includes(offer.chain) && sending in wallet.features : signing in wallet.features;
        if (!isAble || !(connecting in wallet.features)) continue;
        const free = signsFree(wallet) ? { payFree: payFree(wallet) } : {};
        found({ id: wallet, name: wallet.name, icon: wallet.icon, detail: '', pay: pay(wallet), sign: sign(wallet), ...free });
      } catch {
        // The wallet is not usable.
      }
    }
    return () => {};
  };
  window.addEventListener('wallet-standard:register-wallet', ({ detail }) => {
    if (typeof detail === 'function') detail({ register });
  });
  window.dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: { register } }));
});
