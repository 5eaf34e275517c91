/** Local chains for services in containers: reached over TLS at the engine's gateway, as nodes of chains are in production. */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { generate } from 'selfsigned';
import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { type Anvil, startAnvil } from '../../anvil.ts';
import { fund, plantForwarder, plantTokens } from '../../tokens.ts';

export const chainIds = [8453, 1] as const satisfies readonly ChainId[];
/** Host name of this machine within containers. */
export const chainsHost = 'chains.internal';

export interface Chains {
  /** PEM file of the authority that signed for the nodes. */
  readonly caFile: string;
  /** As containers reach them. The service and its signer each have nodes of their own. */
  url(chainId: ChainId, whose: 'service' | 'signer'): string;
  /** As this process reaches them. */
  localUrl(chainId: ChainId): string;
  stop(): Promise<void>;
}

const blockTime_s = 2;
const tokens = 1_000_000n * 10n ** 6n;
const gas = 1_000n * 10n ** 18n;

export interface ChainsOptions {
  /** For the certificate and logs. */
  readonly directory: string;
  /** An address of this machine that containers reach. */
  readonly gateway: string;
  readonly treasury: Hex;
  readonly payers: readonly Hex[];
}

export async function startChains({ directory, gateway, treasury, payers }: ChainsOptions): Promise<Chains> {
  mkdirSync(directory, { recursive: true });
  const authority = await certificates();
  const caFile = join(directory, 'chains-ca.pem');
  writeFileSync(caFile, authority.ca, { mode: 0o644 });
  const anvils = new Map<ChainId, Anvil>();
  const doors = new Map<string, Server>();
  for (const chainId of chainIds) {
    const anvil = await startAnvil({
      chainId,
      mining: { blockTime_s },
      logFile: join(directory, `chain-${chainId}.log`),
    });
    anvils.set(chainId, anvil);
    await plantTokens(anvil.rpcUrl, chainId);
    await plantForwarder(anvil.rpcUrl, privateKeyToAddress(treasury));
    for (const key of [treasury, ...payers])
      await fund(anvil.rpcUrl, chainId, privateKeyToAddress(key), { gas, tokens: { USDC: tokensOn(chainId) } });
    for (const whose of ['service', 'signer'] as const)
      doors.set(`${whose} ${chainId}`, await openDoor(anvil.rpcUrl, gateway, authority));
  }
  const portOf = (name: string) => Number((doors.get(name)?.address() as AddressInfo | undefined)?.port);
  return {
    caFile,
    url: (chainId, whose) => `https://${chainsHost}:${portOf(`${whose} ${chainId}`)}`,
    localUrl: (chainId) => anvils.get(chainId)?.rpcUrl ?? '',
    async stop() {
      for (const door of doors.values()) door.close();
      await Promise.all([...anvils.values()].map((anvil) => anvil.stop()));
    },
  };
}

function tokensOn(chainId: ChainId): bigint {
  const usdc = chainOf(chainId).tokens.find(({ symbol }) => symbol === 'USDC');
  return (tokens / 10n ** 6n) * 10n ** BigInt(usdc?.decimals ?? 6);
}

/** Terminates TLS and forwards to the chain, which listens only on loopback. */
async function openDoor(
  rpcUrl: string,
  gateway: string,
  { cert, key }: { cert: string; key: string },
): Promise<Server> {
  const port = Number(new URL(rpcUrl).port);
  const server = createServer({ cert, key }, (socket) => {
    const chain = connect(port, '127.0.0.1');
    for (const end of [socket, chain]) end.on('error', () => [socket, chain].forEach((each) => void each.destroy()));
    socket.pipe(chain).pipe(socket);
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  await once(server.listen(0, gateway), 'listening');
  return server;
}

async function certificates() {
  const common = { keyType: 'ec', algorithm: 'sha256' } as const;
  const ca = await generate([{ name: 'commonName', value: 'chains of a check' }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  const own = await generate([{ name: 'commonName', value: chainsHost }], {
    ...common,
    ca: { key: ca.private, cert: ca.cert },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: chainsHost }] },
    ],
  });
  return { ca: ca.cert, cert: own.cert, key: own.private };
}
