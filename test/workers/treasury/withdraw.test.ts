import assert from 'node:assert/strict';
import { currentState } from '../../../commands/handle.ts';
import type { CrashPoint } from '../../../commands/ports.ts';
import { PayoutBlocked, type PayoutRail } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal, type RefusalCode } from '../../../domain/decider.ts';
import { coinAddress } from '../../../domain/money.ts';
import { day_ms } from '../../../domain/time.ts';
import { operation } from '../../../domain/treasury/operation.ts';
import { familyAddresses } from '../../../src/chains/families.ts';
import { operationOwner } from '../../../src/workers/payouts/owners.ts';
import type { OwedAmounts } from '../../../src/workers/payouts/unsettledAmounts.ts';
import {
  addToBook,
  approve,
  callOff,
  type OperatorBy,
  removeFromBook,
} from '../../../src/workers/treasury/operations.ts';
import { type AskedWithdrawal, orderWithdrawal, type WithdrawalDeps } from '../../../src/workers/treasury/withdraw.ts';
import { createWorld } from '../../support/histories.ts';
import { patience_ms } from '../../support/patience.ts';
import * as p from '../../support/payments.ts';

const ada: OperatorBy = { cause: 'operator:ada' };
const grace: OperatorBy = { cause: 'operator:grace' };
const asking = (change: Partial<AskedWithdrawal> = {}): AskedWithdrawal => ({
  chain: '1',
  asset: 'USDC',
  amount: '80.00',
  to: p.merchantWallet,
  reason: 'to the bank',
  ...change,
});

/** Dies at this point, only the first time. */
function diesOnce(at: string): CrashPoint {
  let died = at === '';
  return async (point) => {
    if (died || point !== at) return;
    died = true;
    throw new Error('died');
  };
}

/** A treasury with 100 USDC and one ether on Ethereum and on Base, and the merchant's wallet in the book for Ethereum. */
function given({ owed = {} as Partial<OwedAmounts>, diesAt = '' } = {}) {
  const world = createWorld(diesOnce(diesAt));
  const rail = (chainId: ChainId) =>
    ({
      chainId,
      account: p.treasuryAccount,
      balances: async () => ({ gas: 10n ** 18n, tokens: { [p.asset(chainId).token.address]: 100_000_000n } }),
      transferCost: async () => 10n ** 15n,
    }) as unknown as PayoutRail;
  const deps: WithdrawalDeps = {
    ...world,
    addresses: familyAddresses,
    rails: new Map([1, 8453].map((id) => [id as ChainId, rail(id as ChainId)])),
    owedOn: async () => ({ tokens: new Map(), coin: 0n, payouts: 0, ...owed }),
    priceOf: () => ({ price_microUsd: 4_000_000_000n, decimals: 18 }),
    limits: { approval_microUsd: 1_000_000_000n, perTransfer_microUsd: 10_000_000_000n },
  };
  const book = { ...deps, coolDown_hours: 24 };
  const bank = { chain: '1', address: p.merchantWallet, label: 'the bank' };
  const ask = (change: Partial<AskedWithdrawal> = {}, by = ada) =>
    orderWithdrawal(deps, asking(change), by, AbortSignal.timeout(patience_ms));
  return {
    clock: world.clock,
    deps,
    book,
    ask,
    bank,
    async ordered(change: Partial<AskedWithdrawal> = {}, by = ada) {
      const outcome = await ask(change, by);
      return isRefusal(outcome) ? assert.fail(outcome.message) : outcome;
    },
    async refused(change: Partial<AskedWithdrawal>, code: RefusalCode, about: RegExp) {
      const before = await world.store.tail();
      const outcome = await ask(change);
      if (!isRefusal(outcome)) assert.fail(`${outcome.id} was ordered`);
      assert.equal(outcome.refused, code);
      assert.match(outcome.message, about);
      assert.equal(await world.store.tail(), before, 'nothing was recorded');
    },
    async trusted() {
      await addToBook(book, bank, ada);
      world.clock.advance(day_ms);
      return this;
    },
  };
}

describe('a withdrawal from the treasury', () => {
  it('is ordered to an address of the book whose time has come', async () => {
    const on = given();
    await on.refused({}, 'notFound', /addresses add/);
    await addToBook(on.book, on.bank, ada);
    await on.refused({}, 'illegalStep', /was added recently/);
    const { operation: ordered, isNew } = await (await on.trusted()).ordered();
    assert.ok(isNew);
    assert.deepEqual(ordered.leg.order, {
      chainId: 1,
      token: p.ethereumUsdc.token,
      receiver: p.merchantWallet,
      receiverMemo: null,
      amount: 80_000_000n,
    });
    assert.equal(ordered.ordered.approvals, 0);
    assert.equal(ordered.ordered.by, 'ada');
  });

  it('requested again is the same one, unless it is marked as another', async () => {
    const on = await given().trusted();
    const first = await on.ordered();
    const [again, atOnce] = [await on.ordered(), await Promise.all([on.ordered(), on.ordered()])];
    for (const same of [again, ...atOnce]) assert.deepEqual([same.id, same.isNew], [first.id, false]);
    const second = await on.ordered({ again: true });
    assert.notEqual(second.id, first.id);
    assert.ok(second.isNew);
    assert.equal((await on.ordered({ amount: '80' })).id, second.id, 'however the amount is written');
    assert.ok((await on.ordered({ amount: '79' })).isNew);
  });

  it('may be ordered again once it was called off', async () => {
    const on = await given().trusted();
    const first = await on.ordered();
    await callOff(on.deps, first.id, 'a typing error', grace);
    assert.ok((await on.ordered()).isNew);
  });

  it('leaves payouts the money that they are owed, unless it is explicitly allowed to take it', async () => {
    const owed = { tokens: new Map([[p.ethereumUsdc.token.address, 30_000_000n]]) };
    const on = await given({ owed }).trusted();
    await on.refused(
      {},
      'illegalStep',
      /holds 100\.00 USDC on Ethereum and owes 30\.00 USDC.*at most 70\.00 USDC.*--even-owed/,
    );
    assert.ok((await on.ordered({ amount: '70' })).isNew);
    const { operation: taken } = await on.ordered({ evenOwed: true });
    assert.equal(taken.ordered.evenOwed, true);
  });

  it('in coin leaves the fees of the payouts that are owed', async () => {
    const on = await given({ owed: { payouts: 9 } }).trusted();
    await on.refused({ asset: 'coin', amount: '1' }, 'illegalStep', /at most 0\.99 ETH can go/);
    const { operation: ordered } = await on.ordered({ asset: 'coin', amount: '0.99' });
    assert.deepEqual([ordered.leg.order.token.address, ordered.leg.order.form], [coinAddress, { kind: 'coin' }]);
    assert.equal(ordered.ordered.value_microUsd, '3960000000');
  });

  it('above the limit needs another operator, also in small parts within a day', async () => {
    const large = await given({ owed: {} }).trusted();
    const one = await large.ordered({ asset: 'coin', amount: '0.5' });
    assert.equal(one.operation.ordered.approvals, 1);
    assert.ok(isRefusal(await approve(large.deps, one.id, ada)));
    const approved = await approve(large.deps, one.id, grace);
    assert.deepEqual(!isRefusal(approved) && approved.state?.approvedBy, ['grace']);
    const inParts = await given().trusted();
    const approvals = async (change: Partial<AskedWithdrawal>) =>
      (await inParts.ordered(change)).operation.ordered.approvals;
    assert.equal(await approvals({ asset: 'coin', amount: '0.2375' }), 0);
    assert.equal(await approvals({ amount: '80' }), 1);
    assert.equal(await approvals({ amount: '50' }), 0);
    inParts.clock.advance(day_ms);
    assert.equal(await approvals({ amount: '81' }), 0);
  });

  it('requested in many shells at once needs another operator nevertheless', async () => {
    const on = await given().trusted();
    const amounts = ['0.041', '0.042', '0.043', '0.044', '0.045', '0.046', '0.047'];
    const all = await Promise.all(amounts.map((amount) => on.ordered({ asset: 'coin', amount })));
    const alone = all.filter(({ operation: { ordered } }) => ordered.approvals === 0);
    const sum = alone.reduce((total, { operation: { ordered } }) => total + BigInt(ordered.value_microUsd), 0n);
    assert.ok(sum <= 1_000_000_000n && sum > 800_000_000n, `${sum} leave on one word`);
  });

  it('uses nothing of the day if it was called off', async () => {
    const on = await given().trusted();
    const first = await on.ordered({ asset: 'coin', amount: '0.24' });
    await callOff(on.deps, first.id, 'a typing error', ada);
    assert.equal((await on.ordered({ asset: 'coin', amount: '0.24' })).operation.ordered.approvals, 0);
  });

  it('with an order that was lost in a crash uses its share of the day once', async () => {
    const dying = await given({ diesAt: 'OperationOrdered.beforeAppend' }).trusted();
    await assert.rejects(dying.ask({ asset: 'coin', amount: '0.2' }), /died/);
    assert.equal((await dying.ordered({ asset: 'coin', amount: '0.2' })).operation.ordered.approvals, 0);
  });

  it('is refused with a sentence if it is unknown, unintended or not allowed, and nothing is recorded', async () => {
    const on = await given().trusted();
    await on.refused({ chain: '7' }, 'invalidRequest', /7 is not a configured chain: set RPC_URLS_<chainId>/);
    await on.refused({ chain: '137' }, 'invalidRequest', /137 is not a configured chain: set RPC_URLS_<chainId>/);
    await on.refused({ asset: 'DAI' }, 'invalidRequest', /say USDC, USDT or coin/);
    for (const amount of ['0', '-1', '1e3', '1.0000001', 'all', '', '1,5'])
      await on.refused({ amount }, 'invalidRequest', /is not an amount of USDC/);
    await on.refused({ to: '0x1234' }, 'invalidRequest', /is not an address of Ethereum/);
    await on.refused({ memo: '7' }, 'notFound', /no memo: say --memo/);
    await on.refused({ amount: '10001' }, 'invalidRequest', /SIGNER_MAX_TRANSFER_USD/);
    await on.refused({ towards: '1' }, 'invalidRequest', /from one chain to another/);
    await on.refused({ towards: '8453', asset: 'coin', amount: '0.1' }, 'invalidRequest', /no token on Base/);
    await on.refused({ amount: '101' }, 'illegalStep', /at most 100\.00/);
    await addToBook(on.book, { ...on.bank, address: p.treasuryAccount }, ada);
    await on.refused({ to: p.treasuryAccount }, 'illegalStep', /added recently/);
  });

  it('to another account of ours states which one is to be topped up', async () => {
    const on = await given().trusted();
    const { operation: ordered } = await on.ordered({ towards: '8453' });
    assert.equal(ordered.ordered.kind, 'rebalance');
    const { token } = p.baseUsdc;
    assert.deepEqual(ordered.ordered.expects, { chainId: 8453, account: p.treasuryAccount, token });
  });

  it('to an address that was removed meanwhile is refused', async () => {
    const on = await given().trusted();
    await removeFromBook(on.book, on.bank, grace);
    await on.refused({}, 'notFound', /addresses add/);
  });

  it('to an address that is added to the book again is not signed before its new time', async () => {
    const on = await given().trusted();
    const { id } = await on.ordered();
    const owner = operationOwner({ ...on.deps, railOf: (chainId) => on.deps.rails.get(chainId) });
    const prove = async () =>
      (await owner.proveFunding?.({ kind: 'operation', id, part: 1 }, AbortSignal.timeout(patience_ms)))?.();
    const isBlocked = (error: unknown) => error instanceof PayoutBlocked && error.reason === 'addressNotInBook';
    await prove();
    await removeFromBook(on.book, on.bank, grace);
    await assert.rejects(prove, isBlocked);
    await addToBook(on.book, on.bank, ada);
    await assert.rejects(prove, isBlocked, 'who put it back has it signed at once');
    on.clock.advance(day_ms);
    await prove();
  });
});

describe('the address book', () => {
  it('refuses an invalid address, chain, memo of its chain, or label', async () => {
    const { book, bank } = given();
    const refusal = async (change: Partial<typeof bank> & { memo?: string }) => {
      const outcome = await addToBook(book, { ...bank, ...change }, ada);
      return isRefusal(outcome) ? outcome.message : assert.fail('it was added');
    };
    assert.match(await refusal({ chain: 'nowhere' }), /no chain/);
    assert.match(await refusal({ address: '0x12' }), /is not an address of Ethereum/);
    assert.match(await refusal({ memo: '7' }), /carry no memo/);
    assert.match(await refusal({ label: '' }), /call it something/);
    assert.match(await refusal({ label: 'x'.repeat(101) }), /call it something/);
  });

  it('approves and calls off nothing that does not exist', async () => {
    const { deps } = given();
    for (const outcome of [await approve(deps, 'nothing', ada), await callOff(deps, 'nothing', 'why', ada)])
      assert.ok(isRefusal(outcome) && outcome.refused === 'notFound');
    assert.equal(await currentState(deps.handle, operation, 'nothing'), null);
  });
});
