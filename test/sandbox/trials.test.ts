/** The kit that `npm run chaos` and `npm run compose:check` share, against a service of this spec. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChainId } from '../../domain/chains.ts';
import { randomOf } from '../../sandbox/random.ts';
import { addTo, checkSums } from '../../sandbox/trials/check.ts';
import { createCustomers, tokenOf } from '../../sandbox/trials/customers.ts';
import { type Habit, type Order, orderOf } from '../../sandbox/trials/orders.ts';
import { inflict, type TrialWorld } from '../../sandbox/trials/world.ts';

const chainIds = [8453, 1] as const satisfies readonly ChainId[];
const { signal } = new AbortController();

describe('the kit of trials', () => {
  let server: Server;
  /** Statuses of the next answers, and of the payment in the next reads. Default: 201, and unpaid. */
  let statuses: number[] = [];
  let reads: string[] = [];
  const sent: (readonly [symbol: string, amount: bigint])[] = [];
  const world: TrialWorld = {
    get url() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    ...{ apiKey: 'key', chainIds },
    rpcUrl: () => '',
    payers: () => [{ address: '0xpayer', pay: async (_payment, { symbol }, amount) => sent.push([symbol, amount]) }],
    treasury: () => '0xtreasury',
    tool: async () => '',
    close: async () => {},
  };
  const createdBy = createCustomers.bind(null, world, { signal, payTries: 1 });

  before(async () => {
    const source = { amount: '3.000000', receiverAddress: '0xdeposit' };
    server = createServer(({ method }, response) => {
      const status = statuses.shift() ?? 201;
      response.writeHead(status, { 'content-type': 'application/json' });
      const payment = { id: 'p1', status: (method === 'GET' && reads.shift()) || 'payment_unpaid', source };
      response.end(JSON.stringify(status === 201 ? payment : { code: 'no' }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => void server.close());
  beforeEach(() => {
    statuses = [];
    reads = [];
    sent.length = 0;
  });

  const order = (habit: Habit, number = 1): Order => orderOf(randomOf('trial'), number, [1], { [habit]: 1 });

  it('repeats requests while the service is unavailable, and counts them', async () => {
    statuses = [503, 429];
    const customers = createdBy();
    assert.equal((await customers.create(order('exact'))).payment.id, 'p1');
    const { repeated, longestWait_ms } = customers.takeInterruptions();
    assert.deepEqual(
      [...repeated],
      [
        ['503 no', 1],
        ['429 no', 1],
      ],
    );
    assert.ok(longestWait_ms > 0);
    assert.equal(customers.takeInterruptions().repeated.size, 0);
  });

  it('does not repeat a refused order, and reports it', async () => {
    statuses = [400];
    const customers = createdBy();
    await customers.arrive(() => order('exact'), { count: 1, every_ms: 0, until: signal });
    assert.match(customers.failures.join(), /^trial-1: POST : 400 /);
    assert.deepEqual([customers.placed, sent, statuses], [[], [], []]);
  });

  const transfers: Readonly<Record<Habit, readonly (readonly [string, bigint])[]>> = {
    exact: [['USDC', 3_000_000n]],
    inParts: [
      ['USDC', 1_000_000n],
      ['USDC', 2_000_000n],
    ],
    over: [['USDC', 3_750_000n]],
    under: [['USDC', 2_400_000n]],
    otherToken: [['USDT', 3_000_000n]],
    late: [],
    never: [],
  };
  for (const [habit, expected] of Object.entries(transfers) as [Habit, (typeof transfers)[Habit]][])
    it(`pays by the habit ${habit}`, async () => {
      const customers = createdBy();
      await customers.arrive(() => order(habit), { count: 1, every_ms: 0, until: signal });
      assert.deepEqual(sent, expected);
      await customers.payLate();
      assert.deepEqual(sent, habit === 'late' ? transfers.exact : expected);
      assert.deepEqual(customers.failures, []);
    });

  it('polls a late payment until its money is detected, and one that nobody pays until it expires', async () => {
    const customers = createdBy();
    const [late, never] = [await customers.create(order('late')), await customers.create(order('never', 2))];
    reads = ['payment_expired', 'payment_bounced'];
    const [detected] = await customers.untilEnded([late], 60_000);
    assert.deepEqual([detected?.end.status, reads], ['payment_bounced', []]);
    reads = ['payment_expired', 'payment_bounced'];
    const [expired] = await customers.untilEnded([never], 60_000);
    assert.deepEqual([expired?.end.status, reads], ['payment_expired', ['payment_bounced']]);
  });

  it('names tokens whose sums differ from the record', () => {
    const usdc = tokenOf(1, 'USDC');
    const sums = (amount: bigint) => {
      const made = new Map<string, bigint>();
      addTo(made, 1, usdc, amount);
      return made;
    };
    const none = new Map<string, bigint>();
    const flows = { received: sums(10n), left: sums(7n), refunded: sums(2n) };
    const before = { customers: sums(100n), ours: sums(50n) };
    const check = (customers: bigint, ours: bigint) =>
      checkSums(world, flows, before, { customers: sums(customers), ours: sums(ours) });
    assert.deepEqual(check(92n, 53n), []);
    assert.match(check(91n, 53n).join(), /^USDC on Ethereum: customers paid 11 units, 10 are recorded$/);
    assert.match(check(92n, 52n).join(), /^USDC on Ethereum: we hold 2 units more, received 10 and sent 7$/);
    assert.equal(checkSums(world, { received: none, left: none, refunded: none }, before, before).length, 0);
  });

  it('reverts a fault whose duration was interrupted', async () => {
    const steps: string[] = [];
    const strike = async () => {
      steps.push('struck');
      return async () => void steps.push('reverted');
    };
    const interrupted = inflict(strike, world, randomOf('trial'), async () => {
      throw new Error('interrupted');
    });
    await assert.rejects(interrupted, /interrupted/);
    assert.deepEqual(steps, ['struck', 'reverted']);
  });
});
