/** A simulated EVM chain: one producer of blocks, some nodes, and customers who pay. */
import { secp256k1 } from '@noble/curves/secp256k1';
import { publicKeyToAddress } from 'viem/accounts';
import { type Chain, chainOf } from '../../../../domain/chains.ts';
import { checksummed } from '../../../../src/chains/evm/addresses.ts';
import { mintCall } from '../../../../src/chains/evm/cctp.ts';
import type { EvmChainId } from '../../../../src/chains/evm/config.ts';
import type {
  CustomerPayment,
  Kernel,
  OftMessage,
  OpenChain,
  SimulatedNode,
  StrangersCall,
} from '../../kernel/ports.ts';
import { allowanceKey, type Changes, codeKey, coinKey, createTree, type Tree, tokenKey } from './blocks.ts';
import { burnMessageOf } from './cctp.ts';
import { type Contracts, contractsOf } from './execution.ts';
import { answer } from './methods.ts';
import { createNetwork } from './network.ts';
import { type Pace, paceOf, pollOf_ms } from './pace.ts';
import { createProducer } from './producer.ts';
import { callOfTransfer } from './tokens.ts';
import type { Transaction } from './transactions.ts';
import { createTruth } from './truth.ts';
import { deliveryCalls, messagesUpTo, stageAt } from './usdt0.ts';

/** One key for every simulated EVM chain, as in the service. */
const treasuryKey = `${'00'.repeat(28)}5eed5eed`;
const publicKey = Buffer.from(secp256k1.getPublicKey(treasuryKey, false)).toString('hex');
const treasury = checksummed(publicKeyToAddress(`0x${publicKey}`).slice(2).toLowerCase());

/** Account that sends payers' authorizations, in worlds that have one. */
export const relayKey = `0x${'00'.repeat(28)}4e1a4e1a` as const;
const relayPublicKey = Buffer.from(secp256k1.getPublicKey(relayKey.slice(2), false)).toString('hex');
export const relayAccount = checksummed(publicKeyToAddress(`0x${relayPublicKey}`).slice(2).toLowerCase());
export const coinOfRelays_wei = 10n ** 22n;

const begunBefore_blocks = 12;
const baseFee_wei = 1_000_000_000n;
const tip_wei = 100_000_000n;
const tokensOfTreasury = 10n ** 12n;
const coinOfTreasury_wei = 10n ** 24n;
const payment = { value: 0n, nonce: 0, gas: 100_000n, maxFee_wei: 10n ** 12n, maxTip_wei: tip_wei, ours: false };

export const openEvmChain: OpenChain = (kernel, chainId) => {
  const chain = chainOf(chainId);
  const pace = paceOf[chainId as EvmChainId];
  const { random } = kernel;
  const contracts = contractsOf(chain, treasury);
  const hash = () => `0x${Buffer.from(random.bytes(32)).toString('hex')}`;
  const account = () => `0x${hash().slice(-40)}`;

  const tree = begin(kernel, pace, holdings(chain, contracts), hash);
  const watched: string[] = [];
  const common = { kernel, chain, tree, pace, contracts };
  const producer = createProducer({ ...common, baseFee_wei });
  const truth = createTruth({ ...common, final: producer.final });
  const { nodes, heard, drawWeather, calm } = createNetwork({ ...common, producer, tip_wei, watched });
  const urlOf = (number: number) => `http://evm-${chainId}-${number + 1}.simulated/`;

  /** Unsigned, because a customer's bytes are never read. */
  const transferOf = (to: string, tokenAddress: string, amount: bigint, from?: string): Transaction => ({
    ...payment,
    hash: hash(),
    from: from?.toLowerCase() ?? account(),
    ...(from !== undefined && { isAnyNonce: true }),
    to: tokenAddress.toLowerCase(),
    data: callOfTransfer(to, amount),
  });

  function pay({ address, tokenAddress, amount, from }: CustomerPayment): void {
    const to = address.toLowerCase();
    if (!watched.includes(to)) watched.push(to);
    const wait_blocks = kernel.fails('evm.customer.slow', 0.05) ? random.below(15) : random.below(3);
    producer.put(transferOf(to, tokenAddress, amount, from), wait_blocks);
  }

  function call({ address, data }: StrangersCall): void {
    const sent = { ...payment, hash: hash(), from: account(), to: address.toLowerCase(), data };
    producer.put(sent, random.below(3));
  }

  function tick(): void {
    const before = tree.best();
    const best = producer.tick();
    if (best !== before) {
      truth.changed();
      heard(best);
    }
    drawWeather();
    kernel.after(pace.block_ms, tick);
  }
  kernel.after(pace.block_ms, tick);

  const cctp = {
    burned: (burnHash: string) => burnMessageOf(finalBlock(), burnHash),
    head: () => BigInt(tree.best().number),
    mint(message: string, attestation: string): void {
      const form = { kind: 'mint', message, attestation } as const;
      const { to, data } = mintCall({ form });
      call({ address: to, data });
    },
  };
  const { usdt0 } = contracts;
  const finalBlock = () => tree.at(tree.best(), Math.max(0, producer.final())) ?? tree.best();
  const messages = usdt0 && {
    sent: () => messagesUpTo(finalBlock(), usdt0),
    stageOf: (message: OftMessage) => ({ best: stageAt(tree.best(), message), final: stageAt(finalBlock(), message) }),
    verify: (message: OftMessage) => call(deliveryCalls(message).verify),
    deliver: (message: OftMessage) => call(deliveryCalls(message).deliver),
  };

  return {
    chainId,
    family: 'evm',
    ...(messages && { usdt0: messages }),
    ...(contracts.cctp && { cctp }),
    nodes: nodes.map(
      (node): SimulatedNode => ({
        url: urlOf(node.number),
        ask(method, params) {
          if (method === 'eth_sendRawTransaction') truth.receive(node, params);
          return answer(node, method, params);
        },
      }),
    ),
    truth,
    treasury,
    pay,
    call,
    receiver: () => checksummed(account().slice(2)),
    calm() {
      calm();
      producer.calm();
    },
    variables: {
      [`RPC_URLS_${chainId}`]: nodes.map(({ number }) => urlOf(number)).join(','),
      [`CONFIRMATIONS_${chainId}`]: pace.depth,
      [`CONFIRMATIONS_LARGE_${chainId}`]: pace.depthLarge,
      [`PAYOUT_CONFIRMATIONS_${chainId}`]: pace.depth,
      [`POLL_MS_${chainId}`]: String(pollOf_ms(pace)),
      TREASURY_PRIVATE_KEY: `0x${treasuryKey}`,
      TREASURY_ADDRESS: treasury,
    },
  };
};

/** Initial state: the treasury's float, PayMany's allowance, the forwarder of deposits, and USDT that others have locked. */
function holdings({ tokens }: Chain, { factory, treasury: own, usdt0 }: Contracts): Changes {
  const held = tokens.map(
    ({ address, decimals }) =>
      [tokenKey(address.toLowerCase(), own), tokensOfTreasury * 10n ** BigInt(decimals)] as const,
  );
  const allowed = tokens.map(({ address }) => [allowanceKey(address.toLowerCase(), own), 2n ** 200n] as const);
  return new Map([
    ...held,
    ...allowed,
    ...(usdt0 ? [[tokenKey(usdt0.token, usdt0.counterparty), tokensOfTreasury * 10n ** 6n] as const] : []),
    [coinKey(own), coinOfTreasury_wei],
    [coinKey(relayAccount.toLowerCase()), coinOfRelays_wei],
    [codeKey(factory), 1n],
  ]);
}

/** A chain of some empty blocks. */
function begin(kernel: Kernel, { block_ms }: Pace, changes: Changes, hash: () => string): Tree {
  const time_s = (left: number) => Math.floor((kernel.now_ms() - left * block_ms) / 1_000);
  const tree = createTree({ time_s: time_s(begunBefore_blocks), baseFee_wei, changes }, hash);
  for (let left = begunBefore_blocks - 1; left >= 0; left -= 1)
    tree.become(tree.add(tree.best(), { time_s: time_s(left), baseFee_wei, mined: [], changes: new Map() }));
  return tree;
}
