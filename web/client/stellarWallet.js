// Freighter, the Stellar wallet of browsers: it answers messages of the page. The service creates the transaction and
// sends it after the wallet has signed it.
import { post, problemOf, WalletProblem } from './walletProblem.js';
import { start } from './wallets.js';

/** Without the extension nobody answers. */
const silent_ms = 2_000;
let asked = 0;

start(async (_offer, found) => {
  const { isConnected } = window.freighter
    ? { isConnected: true }
    : await ask('REQUEST_CONNECTION_STATUS', {}, silent_ms);
  if (isConnected) found({ id: 'freighter', name: 'Freighter', icon: '', detail: '', pay });
});

/** Freighter's own protocol, where `messagedId` is spelled so. @param {number} [patience_ms] null waits for the person */
function ask(type, more = {}, patience_ms = null) {
  asked += 1;
  const messageId = Date.now() + asked / 1_000;
  return new Promise((resolve) => {
    const end = (answer) => {
      window.removeEventListener('message', heard);
      resolve(answer);
    };
    const heard = ({ source, origin, data }) => {
      if (source !== window || origin !== location.origin) return;
      if (data?.source === 'FREIGHTER_EXTERNAL_MSG_RESPONSE' && data.messagedId === messageId) end(data);
    };
    window.addEventListener('message', heard);
    if (patience_ms !== null) setTimeout(() => end({}), patience_ms);
    window.postMessage({ source: 'FREIGHTER_EXTERNAL_MSG_REQUEST', messageId, type, ...more }, location.origin);
  });
}

async function answered(type, more) {
  const answer = await ask(type, more);
  const error = answer.apiError ?? answer.error;
  if (error) throw problemOf(error);
  return answer;
}

async function pay({ network, sender }, tell) {
  tell('connecting');
  const { publicKey: account } = await answered('REQUEST_ACCESS');
  if (typeof account !== 'string' || account === '') throw new WalletProblem('refused');
  if (sender !== null && account !== sender) throw new WalletProblem('otherAccount');
  const { networkDetails } = await answered('REQUEST_NETWORK_DETAILS');
  if (networkDetails?.networkPassphrase !== network) throw new WalletProblem('otherNetwork');
  tell('preparing');
  const { transaction, seal } = await post('transaction', { account });
  tell('confirm');
  const { signedTransaction } = await answered('SUBMIT_TRANSACTION', {
    transactionXdr: transaction,
    networkPassphrase: network,
    accountToSign: account,
  });
  if (typeof signedTransaction !== 'string' || signedTransaction === '') throw new WalletProblem('refused');
  tell('sending');
  const { txHash } = await post('signed', { account, transaction: signedTransaction, seal }).catch((problem) => {
    // The answer may have been lost.
    throw problem.word === 'busy' ? new WalletProblem('notSeen', true) : problem;
  });
  return { hash: txHash, account, registered: true };
}
