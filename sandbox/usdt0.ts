/** USDT0 on local chains: LayerZero's contracts at their real addresses, and verifiers and an executor with weather. */
import {
  type Address,
  createPublicClient,
  createTestClient,
  decodeAbiParameters,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
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
import type { MessageSide, Packet } from './messageSide.ts';
import { fund } from './tokens.ts';
import { plantUsdt0OnStellar, stellarMessageSide } from './usdt0OnStellar.ts';

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

/** Puts the contracts on a chain, once, and lets its node sign for the executor. An EVM chain must have its USDT. */
export async function plantUsdt0(rpcUrl: string, chainId: Usdt0ChainId): Promise<void> {
  if (chainId === 1500) return plantUsdt0OnStellar(rpcUrl);
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

export interface Messages {
  readonly weather: MessageWeather;
  /** Verifies and delivers what was sent until now, as far as the weather allows. Returns the number of deliveries. @throws the first failure */
  deliver(): Promise<number>;
}

/** @param chains the local chains by id, with a node of each */
export function createMessages(chains: ReadonlyMap<Usdt0ChainId, string>): Messages {
  const weather: MessageWeather = { unverified: false, undelivered: false, forge: null };
  const sides = new Map(
    [...chains].map(([id, rpcUrl]) => [id, id === 1500 ? stellarMessageSide(rpcUrl) : evmMessageSide(rpcUrl)] as const),
  );
  let waiting: Packet[] = [];

  /** @returns true if the message is delivered by now */
  async function advance(packet: Packet, side: MessageSide): Promise<boolean> {
    if (await side.isDelivered(packet)) return true;
    const message = weather.forge?.(packet.message) ?? packet.message;
    if (!packet.verified) {
      if (weather.unverified) return false;
      packet.verified = await side.verify(packet, keccak256(`0x${packet.guid.slice(2)}${message.slice(2)}`));
    }
    if (weather.undelivered || !packet.verified) return false;
    if (await side.deliver(packet, message)) return true;
    // As the real executor does, once: the message stays verified, and each round tries to deliver it again.
    if (!packet.failed) await side.alert?.(packet, message);
    packet.failed = true;
    return false;
  }

  return {
    weather,
    async deliver() {
      for (const [chainId, side] of sides)
        waiting.push(...(await side.sent()).flatMap((payload) => packetOf(chainId, payload) ?? []));
      let delivered = 0;
      const failed: unknown[] = [];
      for (const packet of waiting) {
        const side = sides.get(packet.to);
        const done = side && (await advance(packet, side).catch((error: unknown) => void failed.push(error)));
        if (!done) continue;
        waiting = waiting.filter((each) => each !== packet);
        delivered += 1;
      }
      if (failed.length > 0) throw failed[0];
      return delivered;
    },
  };
}

function evmMessageSide(rpcUrl: string): MessageSide {
  const client = connect(rpcUrl);
  const reader = createPublicClient({ transport: localRpc(rpcUrl), cacheTime: 0 });
  const { abi } = sandboxEndpoint;
  let seen = -1n;

  async function call(data: Hex): Promise<boolean> {
    const hash = await client.sendTransaction({ account: executor, chain: null, to: endpoint, data, gas: 1_000_000n });
    await client.mine({ blocks: 1 });
    return (await client.getTransactionReceipt({ hash })).status === 'success';
  }
  const addressed = (packet: Packet) => [originOf(packet), receiverOf(packet)] as const;

  return {
    async sent() {
      const to = await reader.getBlockNumber();
      if (seen >= to) return [];
      const range = { fromBlock: numberToHex(seen + 1n), toBlock: numberToHex(to) };
      const logs = await reader.request({
        method: 'eth_getLogs',
        params: [{ address: endpoint, topics: [sentTopic], ...range }],
      });
      seen = to;
      return logs.map(({ data }) => decodeAbiParameters(payloadParameters, data)[0]);
    },
    isDelivered: (packet) => isDelivered(client, packet),
    verify: (packet, hash) =>
      call(encodeFunctionData({ abi, functionName: 'verify', args: [...addressed(packet), hash] })),
    deliver: (packet, message) =>
      call(
        encodeFunctionData({
          ...{ abi, functionName: 'lzReceive' },
          args: [...addressed(packet), packet.guid, message, '0x'],
        }),
      ),
    alert(packet, message) {
      const args = [...addressed(packet), packet.guid, 1_000_000n, 0n, message, '0x', '0x'] as const;
      return call(encodeFunctionData({ abi, functionName: 'lzReceiveAlert', args }));
    },
  };
}

const originOf = ({ from, sender, nonce }: Packet) => ({ srcEid: endpointIdOf(from), sender, nonce });
const receiverOf = ({ receiver }: Packet): Address => `0x${receiver.slice(-40)}`;

/** Any account may have delivered it. */
async function isDelivered(client: ReturnType<typeof connect>, packet: Packet): Promise<boolean> {
  const path = [receiverOf(packet), endpointIdOf(packet.from), packet.sender] as const;
  const asked = { address: endpoint, abi: sandboxEndpoint.abi } as const;
  const last = await client.readContract({ ...asked, functionName: 'lazyInboundNonce', args: path });
  if ((last as bigint) < packet.nonce) return false;
  const args = [...path, packet.nonce] as const;
  return BigInt((await client.readContract({ ...asked, functionName: 'inboundPayloadHash', args })) as Hex) === 0n;
}

const sentTopic = toEventSelector('PacketSent(bytes,bytes,address)');
const payloadParameters = parseAbiParameters('bytes, bytes, address');

/** Undefined for a message to a chain that is not ours. */
function packetOf(from: Usdt0ChainId, payload: Hex): Packet | undefined {
  const part = (at: number, bytes?: number): Hex => `0x${payload.slice(2 + 2 * at, bytes && 2 + 2 * (at + bytes))}`;
  const to = chainOfEndpoint(Number(part(45, 4)));
  const rest = {
    sender: part(13, 32),
    receiver: part(49, 32),
    guid: part(81, 32),
    message: part(113),
    verified: false,
    failed: false,
  };
  return to === undefined ? undefined : { from, to, nonce: BigInt(part(1, 8)), ...rest };
}

/** In smallest units of USDT. */
const lockedByOthers = 10_000_000n * 10n ** 6n;

/** On the public Ethereum others have locked USDT, which pays out messages to it. Here it is play money, put there again at each start. */
async function lockForOthers(rpcUrl: string, chainId: Usdt0ChainId): Promise<void> {
  if (!isLocking(chainId)) return;
  const [holder, token] = [oftOn(chainId) as Address, sendableOn(chainId)?.address as Address];
  const asked = { address: token, abi: erc20Abi, functionName: 'balanceOf', args: [holder] } as const;
  const lacking = lockedByOthers - (await connect(rpcUrl).readContract(asked));
  if (lacking > 0n) await fund(rpcUrl, chainId, holder, { tokens: { USDT: lacking } });
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
  await Promise.all(
    chains.map(async ([chainId, rpcUrl]) => {
      await plantUsdt0(rpcUrl, chainId);
      await lockForOthers(rpcUrl, chainId);
    }),
  );
  const messages = createMessages(new Map(chains));
  async function round(): Promise<void> {
    // A chain that is away is read again in the next round.
    await messages.deliver().catch(() => {});
    if (!stop?.aborted) setTimeout(() => void round(), deliverEvery_ms).unref();
  }
  void round();
  return { USDT0_REBALANCES: 'on' };
}
