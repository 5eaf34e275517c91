// Freighter, the Stellar wallet of browsers: it answers messages of the page. The service creates the transaction and
// sends it after the wallet has signed it.
import { payBySignature } from './gasFree.js';
import { asking, post, problemOf, WalletProblem } from './walletProblem.js';
import { start } from './wallets.js';

let asked = 0;

start(async (_offer, found) => {
  // Without the extension nobody answers. A busy browser answers late.
  const { isConnected } = window.freighter ? { isConnected: true } : await ask('REQUEST_CONNECTION_STATUS');
  if (isConnected) found({ id: 'freighter', name: 'Freighter', icon: '', detail: '', pay, sign, payFree });
});

/** Freighter's own protocol, including its spelling of `messagedId`. */
function ask(type, more = {}) {
  asked += 1;
  const messageId = Date.now() + asked / 1_000;
  return new Promise((resolve) => {
    const heard = ({ source, origin, data }) => {
      if (source !== window || origin !== location.origin) return;
      if (data?.source !== 'FREIGHTER_EXTERNAL_MSG_RESPONSE' || data.messagedId !== messageId) return;
      window.removeEventListener('message', heard);
      resolve(data);
    };
    window.addEventListener('message', heard);
    window.postMessage({ source: 'FREIGHTER_EXTERNAL_MSG_REQUEST', messageId, type, ...more }, location.origin);
  });
}

async function answered(type, more) {
  const answer = await ask(type, more);
  const error = answer.apiError ?? answer.error;
  if (error) throw problemOf(error);
  return answer;
}

/** Version of Freighter's library whose messages these are: from version 4 the extension signs texts by SEP-53. */
const apiVersion = '6.0.1';

async function sign({ text, account }, tell) {
  tell('connecting');
  const { publicKey } = await answered('REQUEST_ACCESS');
  if (publicKey !== account) throw new WalletProblem('otherAccount');
  tell('confirm');
  const { signedBlob } = await answered('SUBMIT_BLOB', { blob: text, accountToSign: account, apiVersion });
  return signedBlob;
}

async function accountFor({ network, sender }, tell) {
  tell('connecting');
  const { publicKey: account } = await answered('REQUEST_ACCESS');
  if (typeof account !== 'string' || account === '') throw new WalletProblem('refused');
  if (sender !== null && account !== sender) throw new WalletProblem('otherAccount');
  const { networkDetails } = await answered('REQUEST_NETWORK_DETAILS');
  if (networkDetails?.networkPassphrase !== network) throw new WalletProblem('otherNetwork');
  return account;
}

async function pay(offer, tell) {
  const { network } = offer;
  const account = await accountFor(offer, tell);
  tell('preparing');
  const { transaction, seal } = await post('transaction', asking(offer, account));
  tell('confirm');
  const { signedTransaction } = await answered('SUBMIT_TRANSACTION', {
    transactionXdr: transaction,
    networkPassphrase: network,
    accountToSign: account,
  });
  if (typeof signedTransaction !== 'string' || signedTransaction === '') throw new WalletProblem('refused');
  tell('sending');
  const { txHash } = await post('signed', { ...asking(offer, account), transaction: signedTransaction, seal }).catch((problem) => {
    // The answer may have been lost.
    throw problem.word === 'busy' ? new WalletProblem('notSeen', true) : problem;
  });
  return { hash: txHash, account, registered: true };
}

/** The wallet signs the authorization of one transfer: the transaction around it is the relay account's. */
async function payFree(offer, tell) {
  const account = await accountFor(offer, tell);
  const sign = async ({ chainId, entry, preimage }) => {
    const asked = { entryXdr: preimage, accountToSign: account, apiVersion, networkPassphrase: offer.network };
    const { signedAuthEntry } = await answered('SUBMIT_AUTH_ENTRY', asked);
    if (typeof signedAuthEntry !== 'string' || signedAuthEntry === '') throw new WalletProblem('refused');
    return { chainId, entry, signature: signedAuthEntry };
  };
  return payBySignature({ account, asks: account, isOwn: ({ entry }) => entry !== undefined, sign }, tell);
}
