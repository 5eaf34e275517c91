/**
 * Wallets that stand in for browser extensions: the page's half speaks the wallet's own protocol (EIP-6963, Wallet Standard, Freighter's
 * messages), and the half in this process holds the key and sends to a local chain.
 */
import { base58 } from '@scure/base';
import { Keypair, hash as sha256, TransactionBuilder } from '@stellar/stellar-sdk';
import type { BrowserContext, Page } from 'playwright-core';
import { Connection, VersionedTransaction } from 'solana-web3-v1';
import { createWalletClient, type Hex, numberToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { localRpc } from '../../sandbox/localRpc.ts';
import { messageSigner } from '../../sandbox/signMessage.ts';
import { keypairOf } from '../../sandbox/solana/wallet.ts';

/** A wallet's answer in place of the usual one. Throws `WalletError`, answers, or returns undefined for the usual answer. */
export type Behaviour = (method: string, params: readonly unknown[]) => unknown;

/** An error as wallets throw it. */
export class WalletError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const declines =
  (asked: string): Behaviour =>
  (method) => {
    if (method === asked) throw new WalletError(4001, 'User rejected the request.');
  };

interface Announced {
  readonly uuid: string;
  readonly name: string;
  readonly icon: string;
  readonly rdns: string;
}

export const dot =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Errors lose their code on their way into the page, so they travel as values. */
async function told(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return { value: await work() };
  } catch (error) {
    const { code = -32603, message } = error as WalletError;
    return { error: { code, message } };
  }
}

/** Announces an EIP-6963 provider in every document. `call` is a function of the page that this process answers. */
function announce({ call, ...info }: Announced & { readonly call: string }): void {
  const provider = {
    async request({ method, params = [] }: { method: string; params?: unknown[] }) {
      // biome-ignore lint/suspicious/noExplicitAny: exposed by the spec
      const { value, error } = await (globalThis as any)[call](method, params);
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return value;
    },
  };
  const detail = Object.freeze({ info: Object.freeze(info), provider });
  const announcing = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  addEventListener('eip6963:requestProvider', announcing);
  announcing();
}

export interface EvmWallet {
  /** Methods that the page called, in order. */
  readonly asked: string[];
  /** Hashes that the wallet sent. */
  readonly sent: string[];
  chain(id: number): void;
}

export interface EvmWalletOptions {
  readonly key: Hex;
  /** URL of a chain's node by network id. */
  readonly rpcUrl: (id: number) => string;
  /** Where the wallet is. */
  readonly on: number;
  /** Chains that it knows. Default: every chain. */
  readonly knows?: readonly number[];
  readonly behaviour?: Behaviour;
  readonly info?: Partial<Announced>;
}

let walletsMade = 0;

/** An EIP-6963 wallet that a viem account backs. */
export async function evmWallet(context: BrowserContext | Page, options: EvmWalletOptions): Promise<EvmWallet> {
  const { key, rpcUrl, behaviour } = options;
  const account = privateKeyToAccount(key);
  const known = options.knows && new Set(options.knows);
  const asked: string[] = [];
  const sent: string[] = [];
  let on = options.on;
  const node = (method: string, params: readonly unknown[]) =>
    createWalletClient({ account, transport: localRpc(rpcUrl(on)) }).request({ method, params } as never);

  async function answer(method: string, params: readonly unknown[]): Promise<unknown> {
    asked.push(method);
    const instead = await behaviour?.(method, params);
    if (instead !== undefined) return instead === nothing ? undefined : instead;
    const [first] = params as [Record<string, string>];
    switch (method) {
      case 'eth_requestAccounts':
      case 'eth_accounts':
        return [account.address];
      case 'eth_chainId':
        return numberToHex(on);
      case 'wallet_switchEthereumChain':
        if (known && !known.has(Number(first['chainId']))) throw new WalletError(4902, 'Unrecognized chain ID.');
        on = Number(first['chainId']);
        return null;
      case 'wallet_addEthereumChain':
        known?.add(Number(first['chainId']));
        return null;
      case 'eth_signTypedData_v4': {
        const [signer, text] = params as [string, string];
        if (signer !== account.address) throw new WalletError(4100, 'unknown account');
        const { types, ...typedData } = JSON.parse(text);
        const { EIP712Domain: _, ...own } = types;
        if (typedData.domain.chainId !== on)
          throw new WalletError(-32603, 'the chain of the domain is not the active one');
        return account.signTypedData({ ...typedData, types: own });
      }
      case 'eth_sendTransaction': {
        const { from, to, data, value, chainId } = first;
        if (Number(chainId) !== on) throw new WalletError(-32602, 'chainId does not match the active network');
        if (from !== account.address) throw new WalletError(4100, 'unknown account');
        const hash = await createWalletClient({ account, transport: localRpc(rpcUrl(on)) }).sendTransaction({
          chain: null,
          to: to as Hex,
          data: data as Hex,
          value: BigInt(value ?? 0),
          gas: 120_000n,
        });
        sent.push(hash);
        return hash;
      }
      case 'personal_sign': {
        const [text, from] = params as [Hex, string];
        if (from !== account.address) throw new WalletError(4100, 'unknown account');
        return account.signMessage({ message: { raw: text } });
      }
      default:
        return node(method, params);
    }
  }

  walletsMade += 1;
  const call = `standInEvm${walletsMade}`;
  await context.exposeFunction(call, (method: string, params: unknown[]) => told(() => answer(method, params)));
  const info = {
    uuid: `00000000-0000-4000-8000-${String(walletsMade).padStart(12, '0')}`,
    name: 'Stand-in',
    icon: dot,
    rdns: 'example.standin',
  };
  await context.addInitScript(announce, { ...info, ...options.info, call });
  return {
    asked,
    sent,
    chain: (id) => {
      on = id;
    },
  };
}

/** Result of a behaviour that makes the wallet answer nothing. */
export const nothing = Symbol('nothing');

/** Registers a wallet of the Wallet Standard (github.com/wallet-standard, `registerWallet`). */
function register({
  call,
  name,
  address,
  chains,
  signsOnly,
}: {
  call: string;
  name: string;
  address: string;
  chains: string[];
  signsOnly: boolean;
}): void {
  const own = async (method: string, params: unknown[]) => {
    // biome-ignore lint/suspicious/noExplicitAny: exposed by the spec
    const { value, error } = await (globalThis as any)[call](method, params);
    if (error) throw Object.assign(new Error(error.message), { code: error.code });
    return value;
  };
  const signing = {
    'solana:signTransaction': {
      version: '1.0.0',
      supportedTransactionVersions: ['legacy', 0],
      async signTransaction({ transaction, chain }: { transaction: Uint8Array; chain: string }) {
        const signed = (await own('signTransaction', [[...transaction], chain])) as number[];
        return [{ signedTransaction: Uint8Array.from(signed) }];
      },
    },
  };
  const features = ['solana:signAndSendTransaction', 'solana:signMessage', ...(signsOnly ? Object.keys(signing) : [])];
  const account = { address, publicKey: new Uint8Array(32), chains, features };
  const wallet = {
    version: '1.0.0',
    name,
    icon: 'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=',
    chains,
    accounts: [account],
    features: {
      'standard:connect': {
        version: '1.0.0',
        async connect() {
          await own('connect', []);
          return { accounts: [account] };
        },
      },
      ...(signsOnly && signing),
      'standard:events': { version: '1.0.0', on: () => () => {} },
      'solana:signAndSendTransaction': {
        version: '1.0.0',
        supportedTransactionVersions: ['legacy', 0],
        async signAndSendTransaction({ transaction, chain }: { transaction: Uint8Array; chain: string }) {
          const signature = (await own('signAndSendTransaction', [[...transaction], chain])) as number[];
          return [{ signature: Uint8Array.from(signature) }];
        },
      },
      'solana:signMessage': {
        version: '1.0.0',
        async signMessage({ message }: { message: Uint8Array }) {
          const signature = (await own('signMessage', [[...message]])) as number[];
          return [{ signedMessage: message, signature: Uint8Array.from(signature) }];
        },
      },
    },
  };
  const callback = ({ register: registering }: { register: (one: object) => void }) => registering(wallet);
  dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: callback }));
  addEventListener('wallet-standard:app-ready', (event) => callback((event as CustomEvent).detail));
}

export interface SigningWallet {
  readonly asked: string[];
}

interface SigningOptions {
  readonly secret: string;
  readonly rpcUrl: string;
  readonly behaviour?: Behaviour;
}

interface SolanaOptions extends SigningOptions {
  readonly chain?: string;
  /** False: it cannot sign a transaction without sending it. */
  readonly signsOnly?: boolean;
}

/** A wallet of the Wallet Standard that a Solana key backs. */
export async function solanaWallet(
  context: BrowserContext | Page,
  { secret, rpcUrl, behaviour, chain = 'solana:localnet', signsOnly = true }: SolanaOptions,
): Promise<SigningWallet> {
  const keypair = keypairOf(secret);
  const connection = new Connection(rpcUrl, 'confirmed');
  const asked: string[] = [];
  const answer = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    asked.push(method);
    const instead = await behaviour?.(method, params);
    if (instead !== undefined) return instead;
    if (method === 'connect') return null;
    const [bytes] = params as [number[]];
    if (method === 'signMessage')
      return [...base58.decode(await messageSigner(secret).sign(Buffer.from(bytes).toString()))];
    const transaction = VersionedTransaction.deserialize(Uint8Array.from(bytes));
    transaction.sign([keypair]);
    if (method === 'signTransaction') return [...transaction.serialize()];
    await connection.sendRawTransaction(transaction.serialize());
    return [...(transaction.signatures[0] ?? [])];
  };
  walletsMade += 1;
  const call = `standInSolana${walletsMade}`;
  await context.exposeFunction(call, (method: string, params: unknown[]) => told(() => answer(method, params)));
  const address = keypair.publicKey.toBase58();
  await context.addInitScript(register, { call, name: 'Stand-in for Solana', address, chains: [chain], signsOnly });
  return { asked };
}

/** Answers the messages that Freighter's content script answers (@stellar/freighter-api). */
function answerMessages({ call }: { call: string }): void {
  addEventListener('message', async ({ source, data }) => {
    if (source !== window || data?.source !== 'FREIGHTER_EXTERNAL_MSG_REQUEST') return;
    const { messageId, type, ...more } = data;
    // biome-ignore lint/suspicious/noExplicitAny: exposed by the spec
    const { value, error } = await (globalThis as any)[call](type, [more]);
    const answer = error ? { apiError: error } : value;
    postMessage({ source: 'FREIGHTER_EXTERNAL_MSG_RESPONSE', messagedId: messageId, ...answer }, location.origin);
  });
}

/** Freighter's message protocol, backed by a Stellar key. */
export async function freighter(
  context: BrowserContext | Page,
  { secret, network, behaviour }: { readonly secret: string; readonly network: string; readonly behaviour?: Behaviour },
): Promise<SigningWallet> {
  const keypair = Keypair.fromSecret(secret);
  const asked: string[] = [];
  const publicKey = keypair.publicKey();
  const answer = async (type: string, params: readonly unknown[]): Promise<unknown> => {
    asked.push(type);
    const instead = await behaviour?.(type, params);
    if (instead !== undefined) return instead;
    const [{ transactionXdr, networkPassphrase, blob, entryXdr }] = params as [Record<string, string>];
    switch (type) {
      case 'REQUEST_CONNECTION_STATUS':
        return { isConnected: true };
      case 'REQUEST_ALLOWED_STATUS':
        return { isAllowed: true };
      case 'REQUEST_ACCESS':
      case 'REQUEST_PUBLIC_KEY':
        return { publicKey };
      case 'REQUEST_NETWORK_DETAILS':
        return {
          networkDetails: { network: 'PUBLIC', networkName: 'local', networkUrl: '', networkPassphrase: network },
        };
      case 'SUBMIT_TRANSACTION': {
        const transaction = TransactionBuilder.fromXDR(transactionXdr ?? '', networkPassphrase ?? '');
        transaction.sign(keypair);
        return { signedTransaction: transaction.toXDR(), signerAddress: publicKey };
      }
      case 'SUBMIT_AUTH_ENTRY': {
        // The extension signs the hash of the preimage that it shows.
        const signature = keypair.sign(sha256(Buffer.from(entryXdr ?? '', 'base64')));
        return { signedAuthEntry: signature.toString('base64'), signerAddress: publicKey };
      }
      case 'SUBMIT_BLOB':
        return { signedBlob: await messageSigner(secret).sign(String(blob)), signerAddress: publicKey };
      default:
        throw new WalletError(-3, `unknown request ${type}`);
    }
  };
  walletsMade += 1;
  const call = `standInFreighter${walletsMade}`;
  await context.exposeFunction(call, (type: string, params: unknown[]) => told(() => answer(type, params)));
  await context.addInitScript(answerMessages, { call });
  return { asked };
}
