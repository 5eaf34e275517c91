// Wallets of EVM chains: found by EIP-6963, paid with by EIP-1193. The page trusts only what the payer sees in the wallet.
import { payBySignature } from './gasFree.js';
import { problemOf, WalletProblem } from './walletProblem.js';
import { start } from './wallets.js';

const isAccount = (text) => /^0x[0-9a-f]{40}$/i.test(text);
const isHash = (text) => /^0x[0-9a-f]{64}$/i.test(text);
const word = (account) => account.slice(2).toLowerCase().padStart(64, '0');

const pay = (provider) => async (offer, tell) => {
  const ask = (method, params = []) => provider.request({ method, params });
  tell('connecting');
  await ask('eth_requestAccounts').catch(rethrow);
  await useChain(ask, offer.chain, tell);
  // The payer may have chosen another account meanwhile: the present one counts.
  const [account] = [await ask('eth_accounts').catch(rethrow)].flat();
  if (!isAccount(account)) throw new WalletProblem('failed');
  await checkBalances(ask, offer, account);
  // A payer may switch the chain while they read: on another chain the same calldata would pay the wrong address.
  if (!(await isOn(ask, offer.chain))) throw new WalletProblem('otherNetwork');
  tell('confirm');
  const { token: to, data, chain } = offer;
  const hash = await ask('eth_sendTransaction', [{ from: account, to, data, value: '0x0', chainId: chain.id }]).catch(rethrow);
  if (!isHash(hash)) throw new WalletProblem('notSeen', true);
  return { hash: hash.toLowerCase(), account };
};

/** By EIP-191, as the service reads it. A contract wallet's signature is whatever its contract accepts. */
const sign = (provider) => async ({ text, account }, tell) => {
  const ask = (method, params = []) => provider.request({ method, params });
  tell('connecting');
  const accounts = [await ask('eth_requestAccounts').catch(rethrow)].flat();
  if (!accounts.some((each) => String(each).toLowerCase() === account.toLowerCase())) throw new WalletProblem('otherAccount');
  tell('confirm');
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return ask('personal_sign', [`0x${bytes}`, account]).catch(rethrow);
};

/** By typed data (EIP-3009). The wallet shows amount and receiver, and the page compares token and amount with its own. */
const payFree = (provider) => async (offer, tell) => {
  const ask = (method, params = []) => provider.request({ method, params });
  tell('connecting');
  await ask('eth_requestAccounts').catch(rethrow);
  await useChain(ask, offer.chain, tell);
  const [account] = [await ask('eth_accounts').catch(rethrow)].flat();
  if (!isAccount(account)) throw new WalletProblem('failed');
  await checkBalances(ask, offer, account, false);
  const isOwn = ({ tokenAddress, typedData }) =>
    typedData?.domain.chainId === Number(offer.chain.id) && tokenAddress === offer.token && typedData.message.value === offer.units;
  const sign = async ({ chainId, tokenAddress, typedData }) => {
    const message = { from: account, ...typedData.message };
    const signature = await ask('eth_signTypedData_v4', [account, JSON.stringify({ ...typedData, message })]).catch(rethrow);
    return { chainId, tokenAddress, ...message, signature };
  };
  return payBySignature({ account, isOwn, sign }, tell);
};

const rethrow = (error) => {
  throw problemOf(error);
};

async function isOn(ask, { id }) {
  return Number(await ask('eth_chainId').catch(rethrow)) === Number(id);
}

const unknownChain = 4902;
const isUnknown = (error) =>
  [error?.code, error?.data?.originalError?.code].includes(unknownChain) || /unrecognized chain/i.test(error?.message ?? '');

async function useChain(ask, chain, tell) {
  if (!(await isOn(ask, chain))) {
    tell('network');
    const switching = () => ask('wallet_switchEthereumChain', [{ chainId: chain.id }]);
    try {
      await switching();
    } catch (error) {
      if (!isUnknown(error)) throw problemOf(error, 'otherNetwork');
      await ask('wallet_addEthereumChain', [added(chain)]).catch(rethrow);
      // Some wallets add a chain and do not switch to it.
      if (!(await isOn(ask, chain))) await switching().catch(rethrow);
    }
    if (!(await isOn(ask, chain))) throw new WalletProblem('otherNetwork');
  }
  // Simulated chains have the ids of real ones. Real money sent there would be lost.
  if (chain.simulated && !(await isSimulated(ask))) throw new WalletProblem('realNetwork');
}

/** Every real chain that the service knows began before this time, and a simulated one begins when it is started. */
const realBefore_s = Date.UTC(2025, 0, 1) / 1_000;

/** Whether the wallet's node has a young chain: a node that does not return its first block counts as one of a real chain. */
async function isSimulated(ask) {
  const first = await ask('eth_getBlockByNumber', ['0x1', false]).catch(() => null);
  return Number(first?.timestamp) >= realBefore_s;
}

const added = ({ id, name, coin, rpcUrls, explorers }) => ({
  chainId: id,
  chainName: name,
  nativeCurrency: coin,
  rpcUrls,
  ...(explorers.length > 0 && { blockExplorerUrls: explorers }),
});

/** The wallet checks an unreadable balance again. */
async function checkBalances(ask, { token, units }, account, needsCoin = true) {
  const [held, coin] = await Promise.all([
    ask('eth_call', [{ to: token, data: `0x70a08231${word(account)}` }, 'latest']).then(BigInt).catch(() => null),
    ask('eth_getBalance', [account, 'latest']).then(BigInt).catch(() => null),
  ]);
  if (held !== null && held < BigInt(units)) throw new WalletProblem('noToken');
  if (needsCoin && coin === 0n) throw new WalletProblem('noCoin');
}

/** State of a transaction at the wallet's node: `reverted`, `landed`, `waiting`, `unknown`. */
const watch = (provider) => async (hash) => {
  const ask = (method) => provider.request({ method, params: [hash] });
  try {
    const receipt = await ask('eth_getTransactionReceipt');
    if (receipt) return Number(receipt.status) === 0 ? 'reverted' : 'landed';
    return (await ask('eth_getTransactionByHash')) ? 'waiting' : 'unknown';
  } catch {
    return 'waiting';
  }
};

/** Time for wallets with EIP-6963. After it, the page uses a wallet without it, as on some phones. */
const injected_ms = 500;

start((_offer, found) => {
  let announced = 0;
  const wallet = (provider, { name, icon, rdns } = {}) => ({
    id: provider,
    name,
    icon,
    detail: rdns,
    pay: pay(provider),
    sign: sign(provider),
    payFree: payFree(provider),
    watch: watch(provider),
  });
  window.addEventListener('eip6963:announceProvider', ({ detail }) => {
    const { info, provider } = detail ?? {};
    if (typeof provider?.request !== 'function') return;
    announced += 1;
    found(wallet(provider, info));
  });
  window.dispatchEvent(new Event('eip6963:requestProvider'));
  setTimeout(() => {
    if (announced === 0 && typeof window.ethereum?.request === 'function') found(wallet(window.ethereum));
  }, injected_ms);
});
