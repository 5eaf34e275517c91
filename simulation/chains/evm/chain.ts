/** A simulated EVM chain: one producer of blocks, some nodes, customers and strangers. */
import { secp256k1 } from '@noble/curves/secp256k1';
import { publicKeyToAddress } from 'viem/accounts';
import { chainOf } from '../../../domain/chains.ts';
import { checksummed } from '../../../src/chains/evm/addresses.ts';
import { type EvmChainId, networkId } from '../../../src/chains/evm/config.ts';
import type { CustomerPayment, Kernel, OpenChain, SimulatedNode } from '../../kernel/ports.ts';
import { type Block, codeKey, coinKey, createTree, tokenKey } from './blocks.ts';
import { contractsOf } from './execution.ts';
import { type Forging, forge, onTop } from './liar.ts';
import { answer } from './methods.ts';
import { type ChainNode, createChainNode } from './node.ts';
import { paceOf } from './pace.ts';
import { createProducer } from './producer.ts';
import { createSpells } from './spells.ts';
import { callOfTransfer } from './tokens.ts';
import type { Transaction } from './transactions.ts';
import { createTruth } from './truth.ts';

/** Of every simulated EVM chain, as in the service: one key for all of them. */
const treasuryKey = `${'00'.repeat(28)}5eed5eed`;
const treasury = checksummed(
  publicKeyToAddress(`0x${Buffer.from(secp256k1.getPublicKey(treasuryKey, false)).toString('hex')}`)
    .slice(2)
    .toLowerCase(),
);

const nodesEach = 3;
const begunBefore_blocks = 400;
const weatherEvery_ms = 5_000;
const gossipMost_ms = 1_500;
const baseFee_wei = 1_000_000_000n;
const tip_wei = 100_000_000n;
const plenty = 10n ** 12n;

export const openEvmChain: OpenChain = (kernel, chainId) => {
  const chain = chainOf(chainId);
  const pace = paceOf[chainId as EvmChainId];
  const contracts = contractsOf(
    chain.tokens.map(({ address }) => address),
    treasury,
  );
  const { random } = kernel;
  const hash = () => `0x${Buffer.from(random.bytes(32)).toString('hex')}`;
  const account = () => `0x${hash().slice(-40)}`;
  const own = treasury.toLowerCase();

  const tree = createTree(
    { time_s: timeBefore(kernel, begunBefore_blocks * pace.block_ms), baseFee_wei, changes: holdings() },
    hash,
  );
  let begun = tree.best();
  for (let left = begunBefore_blocks - 1; left >= 0; left -= 1)
    begun = tree.add(begun, {
      time_s: timeBefore(kernel, left * pace.block_ms),
      baseFee_wei,
      mined: [],
      changes: new Map(),
    });
  tree.become(begun);

  const producer = createProducer({ kernel, tree, contracts, pace, baseFee_wei });
  const truth = createTruth({ chain, tree, final: producer.final });
  const watched: string[] = [];
  const liar = random.below(nodesEach);

  function holdings(): Map<string, bigint> {
    const tokens = chain.tokens.map(
      ({ address, decimals }) => [tokenKey(address.toLowerCase(), own), plenty * 10n ** BigInt(decimals)] as const,
    );
    return new Map([...tokens, [coinKey(own), 10n ** 24n], [codeKey(contracts.factory), 1n]]);
  }

  const nodes = Array.from(
    { length: nodesEach },
    (_, number): ChainNode =>
      createChainNode({
        kernel,
        tree,
        pace,
        chain,
        contracts,
        number,
        tip_wei,
        networkId: networkId(chainId),
        spells: createSpells(kernel, 'evm', number === liar),
        tell: (transaction) => tellFrom(number, transaction),
      }),
  );

  /** The producer and the other nodes hear of it, each after a while or never. */
  function tellFrom(number: number, transaction: Transaction): void {
    const others = nodes.filter((_, at) => at !== number).map(({ view }) => ({ pool: view.pool, tip: view.tip }));
    for (const { pool, tip } of [...others, { pool: producer.pool, tip: tree.best }]) {
      if (kernel.fails('evm.mempool.drops', 0.08)) continue;
      kernel.after(random.below(gossipMost_ms), () => takeIn(pool, tip(), transaction));
    }
  }

  const forging = (): Forging => ({ random, tree, pace, contracts, watched, waiting: producer.pool.all() });

  function drawWeather(): void {
    for (const { view, pretend, pretends } of nodes) {
      const began = view.spells.draw();
      for (const spell of began) kernel.note(`chain ${chainId} node ${view.number + 1}: ${spell}`);
      if (began.includes('branches')) pretend(forge(forging()));
      else if (pretends() && !view.spells.has('branches')) pretend(null);
      if (kernel.fails('evm.node.forgetsPool', 0.01))
        for (const { hash: each } of view.pool.all()) view.pool.drop(each);
    }
    if (kernel.fails('evm.mempool.forgets', 0.01))
      for (const { hash: each } of producer.pool.all()) producer.pool.drop(each);
  }

  function tick(): void {
    const before = tree.best();
    const best = producer.tick();
    if (best === before) return;
    truth.changed();
    for (const { hear, pretend, pretends } of nodes) {
      hear(best);
      const branch = pretends();
      if (branch) pretend(grown(branch, best));
    }
  }

  function grown(branch: Block, best: Block): Block {
    let tip = branch;
    while (tip.number < best.number) tip = onTop(forging(), tip, best.time_s, []);
    return tip;
  }

  const every = (wait_ms: number, run: () => void): void =>
    void kernel.after(wait_ms, () => {
      run();
      every(wait_ms, run);
    });
  every(pace.block_ms * pace.together, tick);
  every(weatherEvery_ms, drawWeather);

  /** A stranger's, or a customer's: unsigned, for nobody asks for their bytes. */
  const unsigned = (to: string, data: string): Transaction => ({
    hash: hash(),
    from: account(),
    to,
    data,
    value: 0n,
    nonce: 0,
    gas: 100_000n,
    maxFee_wei: 10n ** 12n,
    maxTip_wei: tip_wei,
    ours: false,
  });

  function pay({ address, tokenAddress, amount }: CustomerPayment): void {
    const to = address.toLowerCase();
    if (!watched.includes(to)) watched.push(to);
    const wait_blocks = kernel.fails('evm.customer.slow', 0.05) ? random.below(60) : random.below(4);
    producer.put(unsigned(tokenAddress.toLowerCase(), callOfTransfer(to, amount)), wait_blocks);
  }

  return {
    chainId,
    family: 'evm',
    nodes: nodes.map(
      ({ view }): SimulatedNode => ({
        url: `http://evm-${chainId}-${view.number + 1}.simulated/`,
        ask(method, params) {
          if (method === 'eth_sendRawTransaction') truth.receive(view, params);
          return answer(view, method, params);
        },
      }),
    ),
    truth,
    treasury,
    pay,
    receiver: () => checksummed(account().slice(2)),
    calm() {
      for (const node of nodes) {
        node.calm();
        for (const waiting of node.view.pool.all()) takeIn(producer.pool, tree.best(), waiting);
      }
      producer.calm();
    },
    variables: {
      [`RPC_URLS_${chainId}`]: nodes.map(({ view }) => `http://evm-${chainId}-${view.number + 1}.simulated/`).join(','),
      TREASURY_PRIVATE_KEY: `0x${treasuryKey}`,
      TREASURY_ADDRESS: treasury,
    },
  };
};

const timeBefore = (kernel: Kernel, before_ms: number): number => Math.floor((kernel.now_ms() - before_ms) / 1_000);

function takeIn(pool: ChainNode['view']['pool'], tip: Block, transaction: Transaction): void {
  try {
    pool.add(transaction, tip);
  } catch {
    // It has it, or another one in its place, or it is mined.
  }
}
