import assert from 'node:assert/strict';
import type { NewPayment } from '../../commands/createPayment.ts';
import { type CanReceive, Unavailable } from '../../commands/ports.ts';
import { isRefusal, refuse } from '../../domain/decider.ts';
import {
  badChecksum,
  muxedReceiver,
  payer,
  stellarContract,
  stellarDeposits,
  stellarReceiver,
  stellarTreasury,
} from '../support/contractPayments.ts';
import { merchantWallet } from '../support/payments.ts';
import { accepted } from '../support/processes.ts';
import { merchant, order, refusal, wallet, world } from './creating.ts';

const takesAll: CanReceive = async () => undefined;
const stellar = (canReceive: CanReceive = takesAll) => ({
  offers: ({ family }: { family: string }) => family !== 'solana',
  deposits: { ...world().deposits, stellar: stellarDeposits() },
  canReceive: { stellar: canReceive },
});

const source = { chainId: 1500, tokenSymbol: 'USDC', senderAddress: payer };
const onBase = { chainId: 8453, tokenSymbol: 'USDC', receiverAddress: merchantWallet };
const onStellar = { chainId: 'stellar', tokenSymbol: 'USDC', receiverAddress: stellarReceiver };
const contract = (over: Partial<NewPayment> = {}): NewPayment =>
  order({ type: 'anyAmount', intent: 'stellar_payin_contracts', source, destination: onBase, ...over });
const out = (over: object = {}): NewPayment =>
  order({ type: 'exactOut', destination: { ...onStellar, amount: '10.00', ...over } });

describe('creating a payment with a payin on Stellar', () => {
  it('into the contract gives the contract and a memo of the payment’s own', async () => {
    const { create } = world(stellar());
    const { payment } = await accepted(create(contract()));
    const { intent, deposit, source: from, limits } = payment.terms;
    assert.deepEqual([intent, from.senderAddress], ['stellar_payin_contracts', payer]);
    assert.equal(deposit.contract, stellarContract);
    assert.deepEqual(limits, { min: '200000', max: '100000000000' });
    const other = await accepted(create(contract({ orderId: 'order-2' })));
    assert.notEqual(other.payment.terms.deposit.contractMemo, deposit.contractMemo);
  });

  it('into the contract takes exactIn, exactOut and anyAmount', async () => {
    const { create } = world(stellar());
    const exactIn = contract({ orderId: 'in', type: 'exactIn', source: { ...source, amount: '10.00' } });
    const exactOut = contract({ orderId: 'out', type: 'exactOut', destination: { ...onBase, amount: '10.00' } });
    const amounts = async (request: NewPayment) => {
      const { terms } = (await accepted(create(request))).payment;
      return [terms.source.amount, terms.destination.amount];
    };
    assert.deepEqual(await amounts(exactIn), ['100000000', '9990000']);
    assert.deepEqual(await amounts(exactOut), ['100100000', '10000000']);
    assert.deepEqual(await amounts(contract()), [null, null]);
  });

  it('into the contract pays a merchant out to its settlement wallet, if the route has it', async () => {
    const { create } = world(stellar());
    const request = contract({ appId: merchant.appId, destination: null });
    const { payment } = await accepted(create(request, merchant));
    assert.equal(payment.terms.destination.chainId, 137);
    const settlement = { ...onStellar, chainId: 1500, receiverMemo: null };
    assert.equal(await refusal(request, { ...merchant, settlement }, stellar()), 'invalidRequest /destination/chainId');
  });

  it('to the treasury gives its address and a memo of the payment’s own', async () => {
    const { create } = world(stellar());
    const classic = order({ source: { chainId: 1500, tokenSymbol: 'USDC' } });
    const { deposit } = (await accepted(create(classic))).payment.terms;
    assert.deepEqual([deposit.address, deposit.contract, deposit.contractMemo], [stellarTreasury, null, null]);
    const other = await accepted(create({ ...classic, orderId: 'order-2' }));
    assert.ok(deposit.memo && other.payment.terms.deposit.memo !== deposit.memo);
  });

  it('into a missing contract of the installation is refused', async () => {
    const lacking = { ...stellar(), deposits: { stellar: stellarDeposits(null) } };
    assert.equal(await refusal(contract(), wallet, lacking), 'invalidRequest /intent');
    assert.equal(await refusal(contract()), 'invalidRequest /intent');
  });

  const wrong: readonly (readonly [string, Partial<NewPayment>, string])[] = [
    ['from another chain', { source: { ...source, chainId: 8453 } }, '/source/chainId'],
    ['in another token', { source: { ...source, tokenSymbol: 'USDT' } }, '/source/tokenSymbol'],
    ['without a sender', { source: { chainId: 1500, tokenSymbol: 'USDC' } }, '/source/senderAddress'],
    [
      'from a sender with a wrong checksum',
      { source: { ...source, senderAddress: badChecksum } },
      '/source/senderAddress',
    ],
    ['back to Stellar', { destination: onStellar }, '/destination/chainId'],
    [
      'out in a token off the route',
      { destination: { ...onBase, chainId: 42161, tokenSymbol: 'USDT' } },
      '/destination/tokenSymbol',
    ],
    ['of any amount with a source amount', { source: { ...source, amount: '1.00' } }, '/source/amount'],
    ['of any amount with a destination amount', { destination: { ...onBase, amount: '1.00' } }, '/destination/amount'],
    ['of eight decimals', { type: 'exactIn', source: { ...source, amount: '1.12345678' } }, '/source/amount'],
    ['of seven decimals for six', { type: 'exactIn', source: { ...source, amount: '1.1234567' } }, '/source/amount'],
  ];
  for (const [name, over, pointer] of wrong) {
    it(`into the contract is refused ${name}`, async () => {
      assert.equal(await refusal(contract(over), wallet, stellar()), `invalidRequest ${pointer}`);
    });
  }
});

describe('creating a payment with a payout on Stellar', () => {
  it('keeps the receiver’s memo', async () => {
    const { payment } = await accepted(world(stellar()).create(out({ receiverMemo: 'invoice 7' })));
    const { receiverAddress, receiverMemo, amount } = payment.terms.destination;
    assert.deepEqual([receiverAddress, receiverMemo, amount], [stellarReceiver, 'invoice 7', '100000000']);
  });

  const refusedMemos: readonly (readonly [string, string, string])[] = [
    ['29 bytes long', stellarReceiver, `${'é'.repeat(14)}x`],
    ['beside a muxed address', muxedReceiver, '7'],
    ['for a contract', stellarContract, '7'],
  ];
  for (const [name, receiverAddress, receiverMemo] of refusedMemos) {
    it(`refuses a memo ${name}`, async () => {
      const request = out({ receiverAddress, receiverMemo });
      assert.equal(await refusal(request, wallet, stellar()), 'invalidRequest /destination/receiverMemo');
    });
  }

  it('refuses a wrong checksum', async () => {
    const request = out({ receiverAddress: badChecksum });
    assert.equal(await refusal(request, wallet, stellar()), 'invalidRequest /destination/receiverAddress');
  });

  it('checks whether the receiver can receive the amount, and passes on why not', async () => {
    const asked: unknown[] = [];
    const noTrustline: CanReceive = async (chain, token, receiver, amount) => {
      asked.push([chain.id, token.symbol, receiver, amount]);
      return refuse('invalidRequest', 'the account has no trustline for USDC: let it add one');
    };
    const answer = await refusal(out(), wallet, stellar(noTrustline));
    assert.equal(answer, 'invalidRequest /destination/receiverAddress');
    assert.deepEqual(asked, [[1500, 'USDC', stellarReceiver, 100_000_000n]]);
  });

  it('names the memo if the receiver requires it', async () => {
    const asked: unknown[] = [];
    const asksForMemo: CanReceive = async (_chain, _token, _receiver, _amount, memo) => {
      asked.push(memo);
      return memo ? undefined : refuse('memoRequired', 'the account takes nothing without a memo: give it');
    };
    assert.equal(await refusal(out(), wallet, stellar(asksForMemo)), 'memoRequired /destination/receiverMemo');
    await accepted(world(stellar(asksForMemo)).create(out({ receiverMemo: 'invoice 7' })));
    assert.deepEqual(asked, [null, 'invoice 7']);
  });

  it('is refused for now while Stellar does not answer, never let through', async () => {
    const away: CanReceive = async () => {
      throw new Unavailable('no answer');
    };
    assert.equal(await refusal(out(), wallet, stellar(away)), 'unavailable');
  });

  it('answers a repeated order even while Stellar does not answer', async () => {
    const { create, start } = world(stellar());
    const first = await accepted(create(out()));
    const away: CanReceive = async () => {
      throw new Unavailable('no answer');
    };
    const again = await accepted(create(out(), wallet, { handle: start(), canReceive: { stellar: away } }));
    assert.deepEqual([again.payment, again.createdNow], [first.payment, false]);
  });

  it('queries no node if every address can be paid', async () => {
    const never: CanReceive = () => assert.fail('asked about an EVM address');
    const created = await world(stellar(never)).create(contract());
    assert.ok(!isRefusal(created));
  });
});
