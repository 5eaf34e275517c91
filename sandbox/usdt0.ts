/** USDT0 on local chains: LayerZero's contracts at their real addresses, and verifiers and an executor with weather. */
import {
  type Address,
  createPublicClient,
  createTestClient,
  decodeAbiParameters,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  parseAbiParameters,
  publicActions,
  toEventSelector,
  walletActions,
} from 'viem';
import type { ChainId } from '../domain/chains.ts';
import { address32 } from '../domain/rebalance/burnMessage.ts';
import {
  chainOfEndpoint,
  endpointIdOf,
  isLocking,
  isUsdt0Chain,
  layerZeroEndpoint,
  oftOn,
  sendableOn,
  type Usdt0ChainId,
  usdt0ChainIds,
} from '../domain/rebalance/usdt0.ts';
import { sandboxEndpoint } from './contracts/artifacts/SandboxEndpoint.ts';
import { sandboxUsdt0 } from './contracts/artifacts/SandboxUsdt0.ts';
import { sandboxUsdt0Adapter } from './contracts/artifacts/SandboxUsdt0Adapter.ts';
import { localRpc } from './localRpc.ts';

const endpoint = layerZeroEndpoint as Address;
/** Account of the sandbox's verifiers and executor. Nobody has its key: anvil signs for it. */
const executor: Address = '0x0000000000000000000000000000000000e8ec00';
/** 0.0002 of the coin. */
export const messagePrice_wei = 2n * 10n ** 14n;
/** Slot of `OAppCore.peers`, behind `Ownable._owner`. */
const peersSlot = 1n;

const connect = (rpcUrl: string) =>
  createTestClient({ mode: 'anvil', transport: localRpc(rpcUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);

/** Puts the contracts on a chain, once, and lets its node sign for the executor. Its USDT must be there. */
export async function plantUsdt0(rpcUrl: string, chainId: Usdt0ChainId): Promise<void> {
  const client = connect(rpcUrl);
  const [oft, token] = [oftOn(chainId) as Address, sendableOn(chainId)?.address as Address];
  await client.setBalance({ address: executor, value: 10n ** 21n });
  await client.impersonateAccount({ address: executor });
  if (await client.getCode({ address: oft })) return;
  const planted = async (address: Address, creation: Hex) => {
    const { data } = await client.call({ data: creation });
    if (data === undefined) throw new Error(`the sandbox contract ${address} of chain ${chainId} has no code`);
    await client.setCode({ address, bytecode: data });
  };
  const args = [endpointIdOf(chainId), messagePrice_wei] as const;
  await planted(endpoint, encodeDeployData({ ...sandboxEndpoint, args }));
  await planted(
    oft,
    isLocking(chainId)
      ? encodeDeployData({ ...sandboxUsdt0Adapter, args: [token, endpoint, executor] })
      : encodeDeployData({ ...sandboxUsdt0, args: [token, oft, endpoint, executor] }),
  );
  for (const each of usdt0ChainIds.filter((id) => id !== chainId)) {
    const key = encodeAbiParameters(parseAbiParameters('uint32, uint256'), [endpointIdOf(each), peersSlot]);
    await client.setStorageAt({ address: oft, index: keccak256(key), value: `0x${address32(oftOn(each))}` });
  }
}

/** Faults of the delivery; may be changed at any time. */
export interface MessageWeather {
  /** The verifiers verify nothing. */
  unverified: boolean;
  /** The executor delivers nothing: verified messages wait. */
  undelivered: boolean;
  /** Changes a message before it is verified: an attacker who holds the verifiers' keys. */
  forge: ((message: Hex) => Hex) | null;
}

interface Packet {
  readonly from: Usdt0ChainId;
  readonly to: Usdt0ChainId;
  readonly nonce: bigint;
  readonly sender: Hex;
  readonly receiver: Address;
  readonly guid: Hex;
  readonly message: Hex;
  verified: boolean;
  /** Its delivery was reverted. */
  failed: boolean;
}

export interface Messages {
  readonly weather: MessageWeather;
  /** Verifies and delivers what was sent until now, as far as the weather allows. Returns the number of deliveries. @throws the first failure */
  deliver(): Promise<number>;
}

/** @param chains the local chains by id, with a node of each */
export function createMessages(chains: ReadonlyMap<Usdt0ChainId, string>): Messages {
  const weather: MessageWeather = { unverified: false, undelivered: false, forge: null };
  const seen = new Map<Usdt0ChainId, bigint>();
  let waiting: Packet[] = [];

  async function collect(from: Usdt0ChainId, rpcUrl: string): Promise<void> {
    const client = createPublicClient({ transport: localRpc(rpcUrl), cacheTime: 0 });
    const to = await client.getBlockNumber();
    const since = (seen.get(from) ?? -1n) + 1n;
    if (since > to) return;
    const range = { fromBlock: numberToHex(since), toBlock: numberToHex(to) };
    const logs = await client.request({
      method: 'eth_getLogs',
      params: [{ address: endpoint, topics: [sentTopic], ...range }],
    });
    seen.set(from, to);
    waiting.push(...logs.flatMap(({ data }) => packetOf(from, decodeAbiParameters(payloadParameters, data)[0]) ?? []));
  }

  /** @returns true if the message is delivered by now */
  async function advance(packet: Packet): Promise<boolean> {
    const client = connect(chains.get(packet.to) ?? '');
    if (await isDelivered(client, packet)) return true;
    const origin = { srcEid: endpointIdOf(packet.from), sender: packet.sender, nonce: packet.nonce };
    const message = weather.forge?.(packet.message) ?? packet.message;
    const call = async (data: Hex): Promise<boolean> => {
      const sent = { account: executor, chain: null, to: endpoint, data, gas: 1_000_000n } as const;
      const hash = await client.sendTransaction(sent);
      await client.mine({ blocks: 1 });
      return (await client.getTransactionReceipt({ hash })).status === 'success';
    };
    const { abi } = sandboxEndpoint;
    if (!packet.verified) {
      if (weather.unverified) return false;
      const hash = keccak256(`0x${packet.guid.slice(2)}${message.slice(2)}`);
      const args = [origin, packet.receiver, hash] as const;
      packet.verified = await call(encodeFunctionData({ abi, functionName: 'verify', args }));
    }
    if (weather.undelivered || !packet.verified) return false;
    const args = [origin, packet.receiver, packet.guid, message, '0x'] as const;
    if (await call(encodeFunctionData({ abi, functionName: 'lzReceive', args }))) return true;
    // As the real executor does, once: the message stays verified, and each round tries to deliver it again.
    const { receiver, guid } = packet;
    const alert = [origin, receiver, guid, 1_000_000n, 0n, message, '0x', '0x'] as const;
    if (!packet.failed) await call(encodeFunctionData({ abi, functionName: 'lzReceiveAlert', args: alert }));
    packet.failed = true;
    return false;
  }

  return {
    weather,
    async deliver() {
      for (const [chainId, rpcUrl] of chains) await collect(chainId, rpcUrl);
      let delivered = 0;
      const failed: unknown[] = [];
      for (const packet of waiting.filter(({ to }) => chains.has(to))) {
        const done = await advance(packet).catch((error: unknown) => void failed.push(error));
        if (!done) continue;
        waiting = waiting.filter((each) => each !== packet);
        delivered += 1;
      }
      if (failed.length > 0) throw failed[0];
      return delivered;
    },
  };
}

/** Any account may have delivered it. */
async function isDelivered(
  client: ReturnType<typeof connect>,
  { from, sender, receiver, nonce }: Packet,
): Promise<boolean> {
  const path = [receiver, endpointIdOf(from), sender] as const;
  const asked = { address: endpoint, abi: sandboxEndpoint.abi } as const;
  const last = await client.readContract({ ...asked, functionName: 'lazyInboundNonce', args: path });
  if ((last as bigint) < nonce) return false;
  const held = await client.readContract({ ...asked, functionName: 'inboundPayloadHash', args: [...path, nonce] });
  return BigInt(held as Hex) === 0n;
}

const sentTopic = toEventSelector('PacketSent(bytes,bytes,address)');
const payloadParameters = parseAbiParameters('bytes, bytes, address');

/** Undefined for a message to a chain that is not ours. */
function packetOf(from: Usdt0ChainId, payload: Hex): Packet | undefined {
  const part = (at: number, bytes?: number): Hex => `0x${payload.slice(2 + 2 * at, bytes && 2 + 2 * (at + bytes))}`;
  const to = chainOfEndpoint(Number(part(45, 4)));
  const receiver = `0x${part(49, 32).slice(-40)}` as Address;
  const rest = {
    sender: part(13, 32),
    receiver,
    guid: part(81, 32),
    message: part(113),
    verified: false,
    failed: false,
  };
  return to === undefined ? undefined : { from, to, nonce: BigInt(part(1, 8)), ...rest };
}

/** Interval of the sandbox's executor. */
const deliverEvery_ms = 1_000;

/**
 * Puts USDT0 on a sandbox's own chains, and delivers its messages in this process, which the executor does not keep alive.
 * @param stop ends the deliveries. Default: the process's end
 * @returns settings of the service; none with fewer than two chains of USDT0
 */
export async function openSandboxUsdt0(
  rpcUrls: ReadonlyMap<ChainId, string>,
  stop?: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const chains = [...rpcUrls].filter((each): each is [Usdt0ChainId, string] => isUsdt0Chain(each[0]));
  if (chains.length < 2) return {};
  await Promise.all(chains.map(([chainId, rpcUrl]) => plantUsdt0(rpcUrl, chainId)));
  const messages = createMessages(new Map(chains));
  async function round(): Promise<void> {
    // A chain that is away is read again in the next round.
    await messages.deliver().catch(() => {});
    if (!stop?.aborted) setTimeout(() => void round(), deliverEvery_ms).unref();
  }
  void round();
  return { USDT0_REBALANCES: 'on' };
}
