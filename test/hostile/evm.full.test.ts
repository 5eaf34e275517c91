/** Attacks on payments over EVM of a running service: by strangers who pay, and by one lying node, called first, beside an honest one. */
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import {
  type Address,
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  erc20Abi,
  type Hex,
  pad,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { chainOf, findToken } from '../../domain/chains.ts';
import { payinsMax } from '../../domain/payment/payins.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { localRpc } from '../../sandbox/localRpc.ts';
import { transferTopic } from '../../src/chains/evm/reads.ts';
import { type Behaviour, honest, type NodeProxy, startProxy } from '../chains/proxy.ts';
import { type Answer, createSandbox } from '../support/sandbox.ts';
import { isFull } from '../support/suite.ts';
import { walletOrders } from '../support/walletOrders.ts';

/** Number of transfers beyond the maximum of a payment. */
const beyondMax = isFull ? payinsMax : 20;
const smallMax = payinsMax / 2;

/** Concurrent transfers: most are sent before a node has mined the first. */
const atOnce = 50;

const usdc = findToken(chainOf(8453), 'USDC')?.address ?? '';
const stranger = `0x${'bad1'.repeat(10)}` as const;

describe('attacks on payments over EVM', () => {
  const sandbox = createSandbox({ chains: [8453, 1] });
  before(async () => assert.equal(await sandbox.start(), 'ready', sandbox.printed()));
  after(() => sandbox.destroy());
  const { order, create } = walletOrders(sandbox);

  describe('a flood of transfers', () => {
    const receiver = '0x3333333333333333333333333333333333333333';
    const made = () =>
      create(order('exactOut', { chainId: 8453 }, { chainId: 1, receiverAddress: receiver, amount: '5' }));

    async function flood({ source }: Awaited<ReturnType<typeof made>>, count: number, amount: bigint) {
      const transport = localRpc(sandbox.file().chains['8453']?.rpcUrl ?? '');
      const wallet = createWalletClient({
        account: privateKeyToAccount(keepKeys(sandbox.dataDir).customer),
        transport,
      });
      const chain = createPublicClient({ transport, pollingInterval: 200 });
      let nonce = await chain.getTransactionCount({ address: wallet.account.address });
      for (let sent = 0; sent < count; sent += atOnce) {
        const hashes: Hex[] = [];
        for (let n = sent; n < Math.min(sent + atOnce, count); n++)
          hashes.push(
            await wallet.writeContract({
              chain: null,
              address: source.tokenAddress as Address,
              abi: erc20Abi,
              functionName: 'transfer',
              args: [source.receiverAddress as Address, amount],
              gas: 120_000n,
              nonce: nonce++,
            }),
          );
        const last = await chain.waitForTransactionReceipt({ hash: hashes.at(-1) as Hex });
        assert.equal(last.status, 'success');
      }
    }

    const recorded = async (paymentId: string) =>
      (await sandbox.query(`SELECT 1 FROM payins WHERE payment_id = '${paymentId}'`)).length;
    const beyond = async (paymentId: string) =>
      (await sandbox.query(`SELECT 1 FROM unmatched WHERE beyond_payment = '${paymentId}' AND verdict = 'open'`))
        .length;

    it('to a waiting payment does not displace its customer’s money', async () => {
      const payment = await made();
      await flood(payment, smallMax + beyondMax / 2, 10_000n);
      await sandbox.until(async () => (await beyond(payment.id)) === beyondMax / 2);
      await sandbox.pay(payment);
      await sandbox.follow(payment.id);
      assert.equal(await recorded(payment.id), smallMax + 1);
    });

    it('to a payment that is over is kept outside its stream, over a restart, and everybody else is paid', async () => {
      const [over, other] = [await made(), await made()];
      await sandbox.pay(over);
      await sandbox.follow(over.id);
      await flood(over, payinsMax + beyondMax, 200_000n);
      await sandbox.kill();
      assert.equal(await sandbox.start(), 'ready', sandbox.printed());
      await sandbox.until(async () => (await beyond(over.id)) === beyondMax + 1);
      assert.equal(await recorded(over.id), payinsMax);
      await sandbox.pay(await sandbox.read(other.id));
      await sandbox.follow(other.id);
      const { status } = await sandbox.operations('/readyz');
      assert.equal(status, 200);
    });
  });

  describe('a lying node', () => {
    const lieAgain_ms = 30_000;
    const receiver = '0x2222222222222222222222222222222222222222';
    let liar: NodeProxy;
    before(async () => {
      const chain = sandbox.file().chains['8453']?.rpcUrl ?? '';
      liar = await startProxy(chain);
      const other = await startProxy(chain);
      await sandbox.kill();
      // Like production: the nodes must agree for every sum.
      assert.equal(await sandbox.start({ RPC_URLS_8453: `${liar.url},${other.url}` }), 'ready', sandbox.printed());
    });

    const payOut = (amount: string) => ({ chainId: 1, receiverAddress: receiver, amount });
    const alarms = async (reason: string): Promise<number> => {
      const { body } = await sandbox.operations('/metrics');
      return Number(new RegExp(`^pi_alarms_total\\{reason="${reason}"\\} (\\d+)`, 'm').exec(String(body))?.[1] ?? 0);
    };
    const stands = async (payment: Answer['body']) => {
      const { status, source } = await sandbox.read(payment.id);
      return [status, source.txHash];
    };

    it('fabricates a payin of 8,990 USDC: it is reported, and nothing is paid out', async () => {
      const payment = await create(order('exactOut', { chainId: 8453 }, payOut('8990')));
      const amount = BigInt(payment.source.amount.replace('.', '')) * 10_000n;
      // On a slow machine the service may ask the other node alone for a while: then nobody hears the lie, and a later block repeats it.
      let lied_ms = Number.NEGATIVE_INFINITY;
      await sandbox.until(async () => {
        if ((await alarms('nodesDisagree')) > 0) return true;
        if (performance.now() - lied_ms < lieAgain_ms) return false;
        liar.behave(await inventing({ to: payment.source.receiverAddress, amount }));
        lied_ms = performance.now();
        return false;
      });
      // Long enough for the final pass of large sums to pass the block, and for a payout.
      await setTimeout(5_000);
      assert.notEqual((await stands(payment))[0], 'payment_payin_completed');
      assert.equal(await sandbox.balance(1, 'USDC', receiver), 0n);
      assert.match(sandbox.printed(), /nodesDisagree.*node 1 .*: shows it.*node 2 .*: has no transaction/);
    });

    it('holds up nobody else meanwhile: a real payment is paid out', async () => {
      const payment = await create(order('exactOut', { chainId: 8453 }, payOut('10')));
      await sandbox.pay(payment);
      await sandbox.follow(payment.id);
      assert.equal(await sandbox.balance(1, 'USDC', receiver), 10_000_000n);
    });

    it('hides a real payin: nothing is paid out before both return it', async () => {
      const payment = await create(order('exactOut', { chainId: 8453 }, payOut('20')));
      // The node hides the receipt from the start: a quick service would have paid before.
      liar.behave(async (method, params, forward) =>
        method === 'eth_getTransactionReceipt' ? null : forward(method, params),
      );
      await sandbox.pay(payment);
      await setTimeout(4_000);
      assert.equal(await sandbox.balance(1, 'USDC', receiver), 10_000_000n);
      liar.behave(honest);
      await sandbox.follow(payment.id);
      assert.equal(await sandbox.balance(1, 'USDC', receiver), 30_000_000n);
    });

    /** The node returns a fabricated transfer in its newest block, in each of its answers. */
    async function inventing({ to, amount }: { to: `0x${string}`; amount: bigint }): Promise<Behaviour> {
      const block = (await sandbox.rpc(8453, 'eth_getBlockByNumber', ['latest', false])) as {
        readonly number: `0x${string}`;
        readonly timestamp: `0x${string}`;
      };
      const at = BigInt(block.number) + 3n;
      const txHash = `0x${'f00d'.repeat(16)}`;
      const log = (blockHash: string) => ({
        address: usdc,
        topics: [transferTopic, pad(stranger), pad(to)],
        data: encodeAbiParameters([{ type: 'uint256' }], [amount]),
        transactionHash: txHash,
        blockNumber: `0x${at.toString(16)}`,
        blockHash,
        logIndex: '0x63',
        removed: false,
      });
      const hashAt = async (forward: Parameters<Behaviour>[2]) => {
        const there = (await forward('eth_getBlockByNumber', [`0x${at.toString(16)}`, false])) as {
          hash: string;
        } | null;
        return there?.hash;
      };
      return async (method, params, forward) => {
        if (method === 'eth_getTransactionReceipt' && params[0] === txHash) {
          const blockHash = await hashAt(forward);
          if (!blockHash) return null;
          const logs = [{ ...log(blockHash), logIndex: '0x63' }];
          return { transactionHash: txHash, status: '0x1', blockNumber: `0x${at.toString(16)}`, blockHash, logs };
        }
        const answer = await forward(method, params);
        if (method !== 'eth_getLogs') return answer;
        const [{ blockHash, fromBlock, toBlock }] = params as [
          { blockHash?: string; fromBlock?: string; toBlock?: string },
        ];
        const hash = await hashAt(forward);
        const isAsked = blockHash ? blockHash === hash : BigInt(fromBlock ?? 0) <= at && at <= BigInt(toBlock ?? 0);
        return hash && isAsked ? [...(answer as object[]), log(hash)] : answer;
      };
    }
  });
});
