/** Circle's protocol on local chains: contracts at their real addresses, and an attestation service with weather. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Address,
  createPublicClient,
  createTestClient,
  decodeEventLog,
  encodeDeployData,
  type Hex,
  hexToBigInt,
  keccak256,
  publicActions,
  stringToHex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { ChainId } from '../domain/chains.ts';
import {
  address32,
  type BurnMessage,
  formatBurnMessage,
  parseBurnMessage,
  zero32,
} from '../domain/rebalance/burnMessage.ts';
import {
  burnableOn,
  type CctpChainId,
  cctpContracts,
  chainOfDomain,
  domainOf,
  fast,
  isCctpChain,
  solanaCctp,
  stellarCctp,
} from '../domain/rebalance/cctp.ts';
import { eventAccountAt, messageInAccount } from '../src/chains/solana/cctp.ts';
import { askNode } from './askNode.ts';
import { sandboxMessageTransmitter } from './contracts/artifacts/SandboxMessageTransmitter.ts';
import { sandboxTokenMessenger } from './contracts/artifacts/SandboxTokenMessenger.ts';
import { localRpc } from './localRpc.ts';
import { plantSolanaCctp } from './solana/controls.ts';
import { plantStellarCctp } from './stellar/controls.ts';

/** Worthless keys; the contracts require the signatures in the ascending order of these addresses. */
const attesters = [1n, 2n]
  .map((n) => privateKeyToAccount(keccak256(`0x${n.toString(16).padStart(64, 'c')}`)))
  .toSorted((a, b) => (hexToBigInt(a.address) < hexToBigInt(b.address) ? -1 : 1));
const [first, second] = attesters as [(typeof attesters)[number], (typeof attesters)[number]];
export const feeRecipient: Address = '0x00000000000000000000000000000000000c1c1e';

/** Puts the contracts on a chain. Its USDC must be there. */
export async function plantCctp(rpcUrl: string, chainId: CctpChainId): Promise<void> {
  const known = [first, second].map(({ address }) => address);
  if (chainId === 1500) return plantStellarCctp(rpcUrl, known);
  if (chainId === 501) return plantSolanaCctp(rpcUrl, known);
  const client = createTestClient({ mode: 'anvil', transport: localRpc(rpcUrl), cacheTime: 0 }).extend(publicActions);
  const { messenger, transmitter, minter } = cctpContracts as Readonly<Record<keyof typeof cctpContracts, Address>>;
  const token = burnableOn(chainId)?.address as Address;
  const [stellarMessenger, solanaMessenger]: readonly Hex[] = [stellarCctp, solanaCctp].map(
    (contracts): Hex => `0x${address32(contracts.messenger)}`,
  );
  const codes: readonly (readonly [Address, Hex])[] = [
    [
      transmitter,
      encodeDeployData({
        ...sandboxMessageTransmitter,
        args: [domainOf(chainId), messenger, first.address, second.address],
      }),
    ],
    [
      messenger,
      encodeDeployData({
        ...sandboxTokenMessenger,
        args: [transmitter, minter, token, feeRecipient, stellarMessenger ?? '0x', solanaMessenger ?? '0x'],
      }),
    ],
  ];
  for (const [address, creation] of codes) {
    if (await client.getCode({ address })) continue;
    const { data } = await client.call({ data: creation });
    if (data === undefined) throw new Error(`the sandbox contract ${address} of chain ${chainId} has no code`);
    await client.setCode({ address, bytecode: data });
  }
}

/** Faults of the service for each call; may be changed at any time. */
export interface AttestationWeather {
  /** No call is answered with a success. */
  outage: boolean;
  /** Each call is refused as too frequent. */
  tooMany: boolean;
  /** The service knows no burn. */
  unseen: boolean;
  /** Known burns are not signed, with this reason. */
  pending: string | null;
  /** Fee of fast burns, in hundredths of a percent of the amount, rounded up. */
  fastFee_bps: bigint;
  /** Blocks of the destination chain until a fast message expires; null for never. */
  expiresIn: bigint | null;
  /** A message that is attested again has another nonce than before. */
  wrongNonce: boolean;
  /** Changes a message before it is signed: an attacker who holds the attesters' keys. */
  forge: ((message: BurnMessage) => BurnMessage) | null;
}

export interface AttestationService {
  readonly url: string;
  readonly weather: AttestationWeather;
  /** Calls that were answered, by path without the query. */
  readonly calls: string[];
  /** The process may end while the service runs. */
  unref(): void;
  close(): Promise<void>;
}

/** @param chains the local chains by id, with a node of each */
export async function startAttestations(chains: ReadonlyMap<CctpChainId, string>): Promise<AttestationService> {
  const weather: AttestationWeather = {
    ...{ outage: false, tooMany: false, unseen: false, pending: null, wrongNonce: false },
    ...{ fastFee_bps: 1n, expiresIn: null, forge: null },
  };
  /** Fast messages that were attested again: these have neither fee nor expiration. */
  const renewed = new Set<string>();
  /** By nonce: a message is signed once, so its expiration stays. */
  const expirations = new Map<string, bigint>();
  const calls: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://sandbox');
    if (url.pathname === weatherPath) {
      const [status, body] = changeWeather(weather, request.method ?? 'GET', url.searchParams);
      return send(response, status, body);
    }
    calls.push(url.pathname);
    answer(request.method ?? 'GET', url).then(
      ([status, body]) => send(response, status, body),
      (error: unknown) => send(response, 500, { error: String(error) }),
    );
  });

  async function answer(method: string, url: URL): Promise<readonly [number, unknown]> {
    if (weather.outage) return [503, { error: 'weather' }];
    if (weather.tooMany) return [429, { error: 'weather' }];
    const [, , what, name] = url.pathname.split('/');
    if (method === 'POST' && what === 'reattest' && name) {
      renewed.add(name);
      return [200, { message: 'Re-attestation successfully requested for nonce.', nonce: name }];
    }
    if (what === 'burn')
      return [
        200,
        [
          { finalityThreshold: fast, minimumFee: Number(weather.fastFee_bps) },
          { finalityThreshold: 2_000, minimumFee: 0 },
        ],
      ];
    if (what !== 'messages') return [404, { error: 'Not found' }];
    const message = await messageOf(Number(name), url.searchParams.get('transactionHash') ?? '');
    if (!message || weather.unseen) return [404, { code: 404, error: 'Message hash not found' }];
    if (weather.pending !== null) {
      const said = { status: 'pending_confirmations', message: '0x', attestation: 'PENDING' };
      return [200, { messages: [{ ...said, delayReason: weather.pending, cctpVersion: 2 }] }];
    }
    return [200, { messages: [await signed(message)] }];
  }

  /** The message of the chain's event, with the fields that Circle adds. */
  async function messageOf(domain: number, hash: string): Promise<BurnMessage | undefined> {
    const chainId = chainOfDomain(domain);
    const rpcUrl = chainId && chains.get(chainId);
    const isHash = chainId === 501 ? /^[1-9A-HJ-NP-Za-km-z]{64,90}$/.test(hash) : /^(0x)?[0-9a-f]{64}$/.test(hash);
    if (rpcUrl === undefined || !isHash) return undefined;
    const sentOn = chainId === 1500 ? sentOnStellar : chainId === 501 ? sentOnSolana : sentOnEvm;
    const text = await sentOn(rpcUrl, hash);
    const sent = text === undefined ? undefined : parseBurnMessage(text);
    if (!sent || sent.nonce !== zero32) return undefined;
    const nonce = keccak256(chainId === 501 ? stringToHex(hash) : `0x${hash.replace(/^0x/, '')}`).slice(2);
    const isFast = sent.minFinality <= fast && !renewed.has(`0x${nonce}`);
    if (isFast && weather.expiresIn !== null && !expirations.has(nonce))
      expirations.set(nonce, await heightIn(sent.destinationDomain));
    const fee = isFast ? (sent.amount * weather.fastFee_bps + 9_999n) / 10_000n : 0n;
    return {
      ...sent,
      nonce: renewed.has(`0x${nonce}`) && weather.wrongNonce ? keccak256(`0x${nonce}`).slice(2) : nonce,
      finalityExecuted: isFast ? fast : 2_000,
      feeExecuted: fee,
      expirationBlock: isFast ? (expirations.get(nonce) ?? 0n) : 0n,
    };
  }

  async function heightIn(domain: number): Promise<bigint> {
    const chainId = chainOfDomain(domain);
    const rpcUrl = (chainId && chains.get(chainId)) ?? '';
    if (chainId === 1500) {
      const { sequence } = (await askNode(rpcUrl, 'getLatestLedger')) as { readonly sequence: number };
      return BigInt(sequence) + (weather.expiresIn ?? 0n);
    }
    if (chainId === 501)
      return (
        BigInt((await askNode(rpcUrl, 'getSlot', [{ commitment: 'confirmed' }])) as number) + (weather.expiresIn ?? 0n)
      );
    const client = createPublicClient({ transport: localRpc(rpcUrl), cacheTime: 0 });
    return (await client.getBlockNumber()) + (weather.expiresIn ?? 0n);
  }

  async function signed(honest: BurnMessage) {
    const message = formatBurnMessage(weather.forge?.(honest) ?? honest) as Hex;
    const hash = keccak256(message);
    const signatures = await Promise.all([first, second].map((attester) => attester.sign({ hash })));
    const attestation = `0x${signatures.map((each) => each.slice(2)).join('')}`;
    return {
      status: 'complete',
      message,
      attestation,
      eventNonce: `0x${honest.nonce}`,
      cctpVersion: 2,
      delayReason: null,
    };
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, weather, calls, unref: () => server.unref(), close: () => closed(server) };
}

/** Message of a burn's event; undefined without one. */
async function sentOnEvm(rpcUrl: string, hash: string): Promise<string | undefined> {
  const client = createPublicClient({ transport: localRpc(rpcUrl), cacheTime: 0 });
  const receipt = await client.getTransactionReceipt({ hash: hash as Hex }).catch(() => undefined);
  const log = receipt?.logs.find(({ address }) => address === cctpContracts.transmitter.toLowerCase());
  if (!log) return undefined;
  const { args } = decodeEventLog({ abi: sandboxMessageTransmitter.abi, eventName: 'MessageSent', ...log });
  return (args as unknown as { message: Hex }).message;
}

/** The message is in an account that the burn created. */
async function sentOnSolana(rpcUrl: string, hash: string): Promise<string | undefined> {
  const config = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
  const found = (await askNode(rpcUrl, 'getTransaction', [hash, config])) as FoundOnSolana | null;
  if (!found || found.meta.err !== null) return undefined;
  const { accountKeys, instructions } = found.transaction.message;
  const burn = instructions.find((each) => accountKeys[each.programIdIndex] === solanaCctp.messenger);
  const event = accountKeys[burn?.accounts[eventAccountAt] ?? -1];
  if (event === undefined) return undefined;
  const { value } = (await askNode(rpcUrl, 'getAccountInfo', [
    event,
    { encoding: 'base64', commitment: 'confirmed' },
  ])) as { readonly value: { readonly owner: string; readonly data: readonly string[] } | null };
  const data = Buffer.from(value?.data[0] ?? '', 'base64');
  return messageInAccount(value && { owner: value.owner, data });
}

interface FoundOnSolana {
  readonly meta: { readonly err: unknown };
  readonly transaction: {
    readonly message: {
      readonly accountKeys: readonly string[];
      readonly instructions: readonly { readonly programIdIndex: number; readonly accounts: readonly number[] }[];
    };
  };
}

async function sentOnStellar(rpcUrl: string, hash: string): Promise<string | undefined> {
  const { StrKey, scValToNative, xdr } = await import('@stellar/stellar-sdk');
  const found = (await askNode(rpcUrl, 'getTransaction', { hash })) as
    | { readonly status?: string; readonly events?: { readonly contractEventsXdr?: readonly (readonly string[])[] } }
    | undefined;
  if (found?.status !== 'SUCCESS') return undefined;
  const events = (found.events?.contractEventsXdr ?? [])
    .flat()
    .map((each) => xdr.ContractEvent.fromXDR(each, 'base64'));
  const own = events.find((event) => {
    const contract = event.contractId();
    const [name] = event.body().v0().topics();
    const isOurs = contract && StrKey.encodeContract(contract as unknown as Buffer) === stellarCctp.transmitter;
    return isOurs && name && scValToNative(name) === 'message_sent';
  });
  const { message } = (own ? scValToNative(own.body().v0().data()) : {}) as { readonly message?: Buffer };
  return message && `0x${message.toString('hex')}`;
}

const weatherPath = '/weather';

/** `POST /weather?outage=true&expiresIn=20` changes the weather of a running sandbox; `GET` returns it. An empty value is null. */
function changeWeather(
  weather: AttestationWeather,
  method: string,
  changes: URLSearchParams,
): readonly [number, Readonly<Record<string, unknown>>] {
  for (const [name, value] of method === 'POST' ? changes : []) {
    const known = readWeather(name, value);
    if (known === undefined) return [400, { error: `${name}=${value} is no weather of attestations` }];
    Object.assign(weather, { [name]: known });
  }
  const { fastFee_bps, expiresIn, forge: _, ...plain } = weather;
  return [
    200,
    { ...plain, fastFee_bps: String(fastFee_bps), expiresIn: expiresIn === null ? null : String(expiresIn) },
  ];
}

function readWeather(name: string, value: string): boolean | string | bigint | null | undefined {
  const isNumber = /^[0-9]{1,6}$/.test(value);
  switch (name) {
    case 'outage':
    case 'tooMany':
    case 'unseen':
    case 'wrongNonce':
      return value === 'true' || value === 'false' ? value === 'true' : undefined;
    case 'pending':
      return value === '' ? null : value.slice(0, 100);
    case 'fastFee_bps':
      return isNumber ? BigInt(value) : undefined;
    case 'expiresIn':
      return value === '' ? null : isNumber ? BigInt(value) : undefined;
    default:
      return undefined;
  }
}

/**
 * Puts the protocol on a sandbox's own chains and starts the attestation service in this process, which it does not keep alive.
 * @returns settings of the service; none with fewer than two chains of the protocol
 */
export async function openSandboxCctp(
  rpcUrls: ReadonlyMap<ChainId, string>,
): Promise<Readonly<Record<string, string>>> {
  const chains = [...rpcUrls].filter((each): each is [CctpChainId, string] => isCctpChain(each[0]));
  if (chains.length < 2) return {};
  await Promise.all(chains.map(([chainId, rpcUrl]) => plantCctp(rpcUrl, chainId)));
  const { url, unref } = await startAttestations(new Map(chains));
  unref();
  return { CCTP_ATTESTATIONS_URL: url };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
