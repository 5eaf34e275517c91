/** A merchant and a customer of a running service: calls its API, pays on its chains, follows payments. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Asset, Keypair, rpc as stellarRpc } from '@stellar/stellar-sdk';
import { Connection, PublicKey } from 'solana-web3-v1';
import { type Address, createPublicClient, createWalletClient, erc20Abi, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type ChainId, chainOf, findToken, type Token, type TokenSymbol } from '../../domain/chains.ts';
import { parseAmount } from '../../domain/money.ts';
import { terminalStatuses } from '../../domain/payment/view.ts';
import { localRpc } from '../../sandbox/localRpc.ts';
import { patientFetch } from '../../sandbox/patientFetch.ts';
import { payOnSolana } from '../../sandbox/payOnSolana.ts';
import { payOnStellar } from '../../sandbox/payOnStellar.ts';
import { fundAccount } from '../../sandbox/stellar/controls.ts';
import { walletLinkAt } from '../../sandbox/walletLink.ts';
import { patience_ms } from './patience.ts';
import { poll_ms as usualPoll_ms } from './suite.ts';

export type Json = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely and checked against their schemas elsewhere
export type Answer = { readonly status: number; readonly headers: Headers; readonly body: any };

export interface CallOptions {
  readonly body?: unknown;
  readonly key?: string;
  readonly headers?: Record<string, string>;
}

export interface Shop {
  /** Retries for a while after a 503: an overloaded machine is no failure. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  callOnce(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Reads from the operations port. */
  operations(path: '/readyz' | '/metrics' | '/floats'): Promise<Answer>;
  create(body: Json, key?: string): Promise<Answer>;
  /** Sends one request. */
  tryToCreate(body: Json, key?: string): Promise<Answer>;
  /** On an EVM chain, from the customer's account. */
  transfer(chainId: ChainId, symbol: TokenSymbol, to: string, amount: string): Promise<Hex>;
  /**
   * Pays the requested amount, or another one.
   * @param from secret of the payer on Stellar or Solana. Default: the customer's
   */
  pay(payment: Answer['body'], amount?: string, from?: string): Promise<string>;
  /** An account on Stellar that can receive USDC, with a balance. */
  stellarAccount(usdc?: string): Promise<Keypair>;
  /** Creates an account on Stellar that can receive USDC, with a balance in whole tokens. */
  openStellarAccount(account: Keypair, usdc?: string): Promise<void>;
  balance(chainId: ChainId, symbol: TokenSymbol, of: string): Promise<bigint>;
  rpc(chainId: ChainId, method: string, params: unknown[]): Promise<unknown>;
  /** The payment as it is now. */
  read(paymentId: string): Promise<Answer['body']>;
  /** The payment once its status is terminal, or once `until` holds. */
  follow(paymentId: string, until?: (payment: Answer['body']) => boolean): Promise<Answer['body']>;
  /** Polls until the condition holds. */
  until(holds: () => boolean | Promise<boolean>): Promise<void>;
}

export interface ShopWorld {
  /** Called at each use: the values change with each start. */
  readonly baseUrl: () => string;
  readonly operationsUrl?: () => string;
  readonly rpcUrl: (chainId: ChainId) => string;
  readonly customerKey: () => Hex;
  /** Secrets of the customer. */
  readonly stellarCustomer?: () => string;
  readonly solanaCustomer?: () => string;
  /** Creates an account with a trustline and USDC, in smallest units. Default: on the sandbox's own Stellar. */
  readonly openStellarAccount?: (rpcUrl: string, account: Keypair, usdc: bigint) => Promise<void>;
  /** Milliseconds between two polls. Default: those of the sandbox's own chains. */
  readonly poll_ms?: number;
  /** Additional facts for a failure. */
  readonly hint?: () => string;
}

export function createShop(world: ShopWorld): Shop {
  const {
    baseUrl,
    operationsUrl = baseUrl,
    rpcUrl,
    customerKey,
    stellarCustomer,
    solanaCustomer,
    openStellarAccount = (url, account, usdc) => fundAccount(url, account.publicKey(), { usdc }),
    poll_ms = usualPoll_ms,
    hint = () => '',
  } = world;
  const chain = (chainId: ChainId) =>
    createPublicClient({ transport: localRpc(rpcUrl(chainId)), cacheTime: 0, pollingInterval: poll_ms });

  /** Without an answer, the earlier output explains why. */
  async function asked(url: string, init?: RequestInit, ask: typeof patientFetch = fetch): Promise<Response> {
    try {
      return await ask(url, init);
    } catch (error) {
      if (error instanceof Error) error.message += `: ${url}\n${hint()}`;
      throw error;
    }
  }

  const calling =
    (ask: typeof patientFetch): Shop['call'] =>
    async (method, path, { body, key, headers } = {}) => {
      const request: RequestInit = {
        method,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'x-api-key': key }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      };
      const response = await asked(`${baseUrl()}${path}`, request, ask);
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text ? parsed(text) : undefined };
    };

  const shop: Shop = {
    call: calling(patientFetch),

    callOnce: calling(fetch),

    async operations(path) {
      const response = await asked(`${operationsUrl()}${path}`);
      return { status: response.status, headers: response.headers, body: parsed(await response.text()) };
    },

    create: (body, key) => shop.call(...creating(body, key)),

    tryToCreate: (body, key) => shop.callOnce(...creating(body, key)),

    async transfer(chainId, symbol, to, amount) {
      const token = tokenOf(chainId, symbol);
      const account = privateKeyToAccount(customerKey());
      const hash = await createWalletClient({ account, transport: localRpc(rpcUrl(chainId)) }).writeContract({
        chain: null,
        address: token.address as Address,
        abi: erc20Abi,
        functionName: 'transfer',
        args: [to as Address, unitsOf(amount, token)],
        gas: 120_000n,
      });
      const receipt = await chain(chainId).waitForTransactionReceipt({ hash });
      if (receipt.status !== 'success') throw new Error(`transfer ${hash} was reverted`);
      return hash;
    },

    async pay({ source, paymentLink }, amount = source.amount, from?: string) {
      const chainId = Number(source.chainId) as ChainId;
      const token = tokenOf(chainId, source.tokenSymbol);
      const order = { ...source, ...token, token: token.address, amount: unitsOf(amount, token) };
      if (chainId === 1500) return payOnStellar(rpcUrl(1500), from ?? stellarCustomer?.() ?? '', order);
      if (chainId === 501) {
        const walletLink = await walletLinkAt(paymentLink ?? null, 'solana');
        return payOnSolana(rpcUrl(501), from ?? solanaCustomer?.() ?? '', { ...order, walletLink });
      }
      return shop.transfer(chainId, source.tokenSymbol, source.receiverAddress, amount);
    },

    async stellarAccount(usdc = '0') {
      const keypair = Keypair.random();
      await shop.openStellarAccount(keypair, usdc);
      return keypair;
    },

    openStellarAccount: (account, usdc = '0') =>
      openStellarAccount(rpcUrl(1500), account, unitsOf(usdc, tokenOf(1500, 'USDC'))),

    async balance(chainId, symbol, of) {
      const token = tokenOf(chainId, symbol);
      if (chainId === 1500) return stellarBalance(rpcUrl(1500), token, of);
      if (chainId === 501) return solanaBalance(rpcUrl(501), token, of);
      const address = token.address as Address;
      return chain(chainId).readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [of as Address] });
    },

    rpc: (chainId, method, params) => chain(chainId).request({ method, params } as never),

    read: (paymentId) => shop.follow(paymentId, () => true),

    async follow(paymentId, until = (payment) => terminalStatuses.includes(payment.status)) {
      let last: Answer | undefined;
      for (const until_ms = performance.now() + patience_ms; performance.now() < until_ms; ) {
        last = await shop.callOnce('GET', `/payment-api/payments/${paymentId}`);
        if (last.status === 200 && until(last.body)) return last.body;
        await sleep(poll_ms);
      }
      throw new Error(`payment ${paymentId} is still ${JSON.stringify(last?.body)}\n${hint()}`);
    },

    async until(holds) {
      for (const until_ms = performance.now() + patience_ms; performance.now() < until_ms; ) {
        if (await holds()) return;
        await sleep(poll_ms);
      }
      throw new Error(`it has not come so in ${patience_ms} ms: ${holds}\n${hint()}`);
    },
  };
  return shop;
}

const creating = (body: Json, key?: string): [string, string, CallOptions] => [
  'POST',
  '/payment-api/payments',
  { body, ...(key !== undefined && { key }) },
];

function tokenOf(chainId: ChainId, symbol: TokenSymbol): Token {
  const token = findToken(chainOf(chainId), symbol);
  if (!token) throw new Error(`chain ${chainId} has no ${symbol}`);
  return token;
}

function unitsOf(amount: string, { decimals }: Token): bigint {
  const units = parseAmount(amount, decimals);
  if (typeof units === 'string') throw new Error(`${amount} is no amount: ${units}`);
  return units;
}

async function solanaBalance(rpcUrl: string, { address }: Token, of: string): Promise<bigint> {
  const connection = new Connection(rpcUrl, 'confirmed');
  const mint = new PublicKey(address);
  const { value } = await connection.getParsedTokenAccountsByOwner(new PublicKey(of), { mint });
  const amounts = value.map(({ account }) => BigInt(account.data.parsed.info.tokenAmount.amount));
  return amounts.reduce((sum, each) => sum + each, 0n);
}

async function stellarBalance(rpcUrl: string, { address }: Token, of: string): Promise<bigint> {
  const [code = '', issuer] = address.split(':');
  const server = new stellarRpc.Server(rpcUrl, { allowHttp: true });
  const { passphrase } = await server.getNetwork();
  const { balanceEntry } = await server.getAssetBalance(of, new Asset(code, issuer), passphrase);
  return BigInt(balanceEntry?.amount ?? 0);
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
export function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
