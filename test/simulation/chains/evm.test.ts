import { strict as assert } from 'node:assert';
import { encodeFunctionData, erc20Abi, type Hex, keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { chainOf } from '../../../domain/chains.ts';
import { RpcError } from '../../../sandbox/rpcError.ts';
import { openEvmChain } from './evm/chain.ts';
import { paceOf } from './evm/pace.ts';
import { manualKernel } from './manualKernel.ts';

const [usdc] = chainOf(137).tokens;
const { block_ms } = paceOf[137];
const token = usdc?.address ?? '';
const customer = {
  address: '0x00000000000000000000000000000000000000A1',
  memo: null,
  tokenAddress: token,
  amount: 5_000_000n,
};

function world(seed = 1) {
  const kernel = manualKernel(seed);
  const chain = openEvmChain(kernel, 137);
  const [node] = chain.nodes;
  assert.ok(node);
  const key = privateKeyToAccount(chain.variables['TREASURY_PRIVATE_KEY'] as Hex);
  const ask = (method: string, ...params: readonly unknown[]) => node.ask(method, params) as never;
  const transfer = (nonce: number, { price = 10_000_000_000n, tip = 200_000_000n } = {}) =>
    key.signTransaction({
      type: 'eip1559',
      chainId: 137,
      nonce,
      to: token as Hex,
      gas: 90_000n,
      maxFeePerGas: price,
      maxPriorityFeePerGas: tip,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transfer',
        args: [customer.address as Hex, 7_000_000n],
      }),
    });
  return { kernel, chain, nodes: chain.nodes, ask, key, transfer };
}

const refusal = (words: RegExp) => (error: unknown) => error instanceof RpcError && words.test(error.message);

describe('a simulated EVM chain', () => {
  it('mines a customer’s payment, and returns it as a log, a receipt and in the truth', () => {
    const { kernel, chain, ask } = world();
    chain.pay(customer);
    kernel.advance(10 * block_ms);
    const [transfer] = chain.truth.transfers();
    assert.equal(transfer?.to, customer.address);
    assert.equal(transfer?.amount, customer.amount);
    const logs: readonly { transactionHash: string; blockHash: string }[] = ask('eth_getLogs', {
      address: [token],
      fromBlock: '0x0',
      toBlock: 'latest',
    });
    assert.deepEqual(
      logs.map(({ transactionHash }) => transactionHash),
      [transfer?.txHash],
    );
    const receipt: { status: string; blockHash: string } = ask('eth_getTransactionReceipt', transfer?.txHash);
    assert.equal(receipt.status, '0x1');
    assert.equal(receipt.blockHash, logs[0]?.blockHash);
    assert.equal(chain.truth.balance(customer.address, token), customer.amount);
  });

  it('mines the treasury’s transaction, charges its cost and counts its nonce', async () => {
    const { kernel, chain, ask, key, transfer } = world();
    const before = BigInt(ask('eth_getBalance', key.address, 'latest'));
    const raw = await transfer(0);
    assert.equal(ask('eth_sendRawTransaction', raw), keccak256(raw));
    assert.throws(() => ask('eth_sendRawTransaction', raw), refusal(/already known/));
    kernel.advance(10 * block_ms);
    assert.equal(chain.truth.balance(customer.address, token), 7_000_000n);
    assert.equal(ask('eth_getTransactionCount', key.address, 'latest'), '0x1');
    assert.ok(BigInt(ask('eth_getBalance', key.address, 'latest')) < before);
    assert.throws(() => ask('eth_sendRawTransaction', raw), refusal(/nonce too low/));
    assert.deepEqual(chain.truth.received(), [keccak256(raw)]);
  });

  it('replaces a waiting transaction only for a tenth more', async () => {
    const { kernel, chain, ask, transfer } = world();
    kernel.break('evm.mempool.waits');
    ask('eth_sendRawTransaction', await transfer(0));
    const little = await transfer(0, { price: 10_500_000_000n, tip: 300_000_000n });
    assert.throws(() => ask('eth_sendRawTransaction', little), refusal(/replacement transaction underpriced/));
    const enough = await transfer(0, { price: 11_500_000_000n, tip: 300_000_000n });
    ask('eth_sendRawTransaction', enough);
    kernel.advance(10 * block_ms);
    kernel.mend();
    kernel.advance(10 * block_ms);
    assert.deepEqual(
      chain.truth.transfers().map(({ txHash }) => txHash),
      [keccak256(enough)],
    );
  });

  it('forks: removed transactions return or are gone, and nothing final ever leaves', () => {
    const { kernel, chain, ask } = world();
    chain.pay(customer);
    kernel.advance(3 * block_ms);
    const head: { hash: string; number: string } = ask('eth_getBlockByNumber', 'latest', false);
    kernel.break('evm.fork.deep', 'evm.fork.forgets');
    kernel.advance(2 * block_ms);
    kernel.mend();
    kernel.advance(4 * block_ms);
    const there: { hash: string } = ask('eth_getBlockByNumber', head.number, false);
    assert.notEqual(there.hash, head.hash);
    chain.pay(customer);
    kernel.advance(20 * block_ms);
    const final = () => chain.truth.transfers().filter(({ block }) => block <= chain.truth.final());
    const before = final();
    assert.ok(before.length > 0);
    kernel.break('evm.fork.deep', 'evm.fork.forgets');
    kernel.advance(30 * block_ms);
    assert.deepEqual(final().slice(0, before.length), before);
  });

  it('never announces a node’s own transactions if nobody received them', async () => {
    const { kernel, chain, ask, transfer } = world();
    kernel.break('evm.mempool.drops');
    const raw = await transfer(0);
    ask('eth_sendRawTransaction', raw);
    kernel.advance(30 * block_ms);
    assert.equal(chain.truth.balance(customer.address, token), 0n);
    assert.equal((ask('eth_getTransactionByHash', keccak256(raw)) as { blockHash: unknown }).blockHash, null);
    kernel.mend();
    chain.calm();
    kernel.advance(5 * block_ms);
    assert.equal(chain.truth.balance(customer.address, token), 7_000_000n);
  });

  it('is the same for the same seed', () => {
    const course = () => {
      const { kernel, chain } = world(7);
      for (let payments = 0; payments < 5; payments += 1) {
        chain.pay(customer);
        kernel.advance(4 * block_ms);
      }
      return JSON.stringify(chain.truth.transfers(), (_, value) => (typeof value === 'bigint' ? String(value) : value));
    };
    assert.equal(course(), course());
  });
});

describe('temporary faults of a simulated EVM node', () => {
  /** Draws the weather once, with one spell, and reads during it. */
  function under(spell: string, seed = 1) {
    const { kernel, chain, nodes, ...more } = world(seed);
    chain.pay(customer);
    kernel.advance(7 * block_ms);
    kernel.break(`evm.node.${spell}`);
    kernel.advance(block_ms);
    const of = (method: string, ...params: readonly unknown[]) =>
      nodes.map((node) => {
        try {
          return node.ask(method, params);
        } catch (error) {
          return (error as Error).message;
        }
      });
    return { kernel, chain, nodes, of, ...more };
  }

  const differ = (answers: readonly unknown[]) => new Set(answers.map((each) => JSON.stringify(each))).size > 1;

  it('it lags', () => {
    const { chain, of } = under('lags');
    for (const number of of('eth_blockNumber')) assert.ok(BigInt(number as string) < chain.truth.head());
  });
  it('it receives no new blocks', () => {
    const { kernel, chain, of } = under('stays');
    const before = of('eth_blockNumber');
    kernel.advance(2 * block_ms);
    assert.deepEqual(of('eth_blockNumber'), before);
    assert.ok(BigInt(before[0] as string) < chain.truth.head());
  });
  it('it is away', () => assert.match(String(under('away').of('eth_chainId')[0]), /away/));
  it('it fails', () => assert.match(String(under('fails').of('eth_chainId')[0]), /Internal error/));
  it('it is crowded', () => assert.match(String(under('crowded').of('eth_chainId')[0]), /too many requests/));
  it('it has no states but the newest', () => {
    const { of, key } = under('prunes');
    assert.match(String(of('eth_getTransactionCount', key.address, '0x1')[0]), /missing trie node/);
  });
  it('it lacks the newest receipts', () => {
    const { kernel, chain, nodes, of } = under('indexesLate');
    chain.pay(customer);
    for (let blocks = 0; blocks < 6 && chain.truth.transfers().at(-1)?.block !== chain.truth.head(); blocks += 1)
      kernel.advance(1 * block_ms);
    assert.deepEqual(
      of('eth_getTransactionReceipt', chain.truth.transfers().at(-1)?.txHash),
      nodes.map(() => null),
    );
  });
  it('its final block does not move', () => {
    const { kernel, of } = under('finalizedStays');
    const before = of('eth_getBlockByNumber', 'finalized', false);
    kernel.advance(5 * block_ms);
    assert.deepEqual(of('eth_getBlockByNumber', 'finalized', false), before);
  });
  it('it keeps transactions to itself', async () => {
    const { kernel, chain, of, transfer } = under('swallows');
    of('eth_sendRawTransaction', await transfer(0));
    kernel.advance(15 * block_ms);
    assert.equal(chain.truth.balance(customer.address, token), customer.amount);
  });
  it('one hides logs', () =>
    assert.ok(differ(under('hidesLogs').of('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }))));
  it('one hides transactions', () => {
    const { chain, of } = under('hidesTransactions');
    assert.ok(differ(of('eth_getTransactionReceipt', chain.truth.transfers()[0]?.txHash)));
  });
  it('one reports everything as final', () =>
    assert.ok(differ(under('finalizesAll').of('eth_getBlockByNumber', 'finalized', false))));
  it('one requests a hundred times as much', () =>
    assert.ok(differ(under('asksForMore').of('eth_maxPriorityFeePerGas'))));
  it('one returns a branch of its own, which nobody else has and which ends with the spell', () => {
    const { kernel, chain, nodes, of } = under('branches');
    kernel.advance(2 * block_ms);
    const shown = of('eth_getBlockByNumber', 'latest', false) as readonly { hash: string }[];
    const liars = nodes.filter((_, at) =>
      nodes.every((other, index) => index === at || other.ask('eth_getBlockByHash', [shown[at]?.hash, false]) === null),
    );
    assert.ok(liars.length >= 1);
    kernel.mend();
    chain.calm();
    kernel.advance(3 * block_ms);
    assert.equal(differ(of('eth_getBlockByNumber', '0x1', false)), false);
  });
});
