import assert from 'node:assert/strict';
import type { NewPayment } from '../../commands/createPayment.ts';
import type { AppSettings } from '../../commands/paymentRequest.ts';
import { isRefusal } from '../../domain/decider.ts';
import { customerWallet, ethereumUsdc, ethereumUsdt, merchantWallet } from '../support/payments.ts';
import { accepted } from '../support/processes.ts';

import { merchant, order, refusal, sale, wallet, world } from './creating.ts';

describe('a request to create a payment', () => {
  describe('by a merchant', () => {
    it('pays out to its settlement wallet', async () => {
      const { create } = world();
      const { payment } = await accepted(create(sale(), merchant));
      const { destination } = payment.terms;
      assert.deepEqual([destination.chainId, destination.receiverAddress], [137, merchantWallet]);
      assert.equal(destination.amount, '9990000');
    });

    it('lets the request say only the amount, or repeat the wallet however it is spelled', async () => {
      const repeats: NewPayment['destination'][] = [
        { amount: '10.00' },
        {
          amount: '10.00',
          chainId: '137',
          tokenSymbol: 'USDC',
          receiverAddress: merchantWallet.toLowerCase(),
          receiverMemo: null,
        },
      ];
      for (const destination of repeats) {
        const exactOut = sale({ type: 'exactOut', source: { chainId: 8453, tokenSymbol: 'USDC' }, destination });
        const { payment } = await accepted(world().create(exactOut, merchant));
        assert.equal(payment.terms.destination.receiverAddress, merchantWallet);
        assert.equal(payment.terms.destination.amount, '10000000');
      }
    });

    it('refuses another receiver, chain, token or memo, pointing at it', async () => {
      const strays = {
        chainId: 8453,
        tokenSymbol: 'USDT',
        receiverAddress: customerWallet,
        receiverMemo: '7',
      };
      for (const [field, value] of Object.entries(strays)) {
        assert.equal(
          await refusal(sale({ destination: { [field]: value } }), merchant),
          `forbidden /destination/${field}`,
        );
      }
    });

    it('is refused without a settlement wallet', async () => {
      assert.equal(await refusal(sale(), { ...merchant, settlement: null }), 'settlementMissing');
    });
  });

  describe('by a wallet app', () => {
    it('must contain the payout’s destination', async () => {
      const whole = { chainId: 1, tokenSymbol: 'USDC', amount: '10.00', receiverAddress: merchantWallet };
      assert.equal(await refusal(order({ destination: null })), 'invalidRequest /destination/chainId');
      for (const field of ['chainId', 'tokenSymbol', 'receiverAddress'] as const) {
        const { [field]: _, ...destination } = whole;
        assert.equal(await refusal(order({ destination })), `invalidRequest /destination/${field}`);
      }
    });

    it('spells the receiver like its chain, and refuses an invalid address', async () => {
      const to = (receiverAddress: string) =>
        order({ destination: { chainId: 1, tokenSymbol: 'USDC', amount: '10.00', receiverAddress } });
      const { payment } = await accepted(world().create(to(merchantWallet.toLowerCase())));
      assert.equal(payment.terms.destination.receiverAddress, merchantWallet);
      const wrongChecksum = merchantWallet.replace('C51812dc', 'c51812dc');
      const none = [
        wrongChecksum,
        '',
        '0x',
        merchantWallet.slice(2),
        `${merchantWallet}00`,
        'vitalik.eth',
        `0x${'0'.repeat(40)}`,
        ethereumUsdc.token.address,
        ethereumUsdt.token.address.toLowerCase(),
      ];
      for (const text of none) {
        assert.equal(await refusal(to(text)), 'invalidRequest /destination/receiverAddress', text);
      }
    });

    it('refuses a memo that the chain cannot carry', async () => {
      const destination = { ...order().destination, receiverMemo: '42' };
      assert.equal(await refusal(order({ destination })), 'invalidRequest /destination/receiverMemo');
    });
  });

  describe('refuses, pointing at the field,', () => {
    it('unknown chains and tokens', async () => {
      const from = (chainId: string | number, tokenSymbol = 'USDC') => order({ source: { chainId, tokenSymbol } });
      assert.equal(await refusal(from(4)), 'invalidRequest /source/chainId');
      assert.equal(await refusal(from('')), 'invalidRequest /source/chainId');
      assert.equal(await refusal(from(8453, 'USDT')), 'invalidRequest /source/tokenSymbol');
      assert.equal(await refusal(from(8453, 'XUSD')), 'invalidRequest /source/tokenSymbol');
      const to = (over: object) => order({ destination: { ...order().destination, ...over } });
      assert.equal(await refusal(to({ chainId: 4 })), 'invalidRequest /destination/chainId');
      assert.equal(await refusal(to({ tokenSymbol: 'XUSD' })), 'invalidRequest /destination/tokenSymbol');
    });

    it('chains that are in the catalogue and not served here', async () => {
      assert.equal(
        await refusal(order({ source: { chainId: 'solana', tokenSymbol: 'USDC' } })),
        'invalidRequest /source/chainId',
      );
      const onlyBase = { offers: ({ id }: { id: number }) => id === 8453 };
      assert.equal(await refusal(order(), wallet, onlyBase), 'invalidRequest /destination/chainId');
      assert.equal(await refusal(sale(), merchant, onlyBase), 'invalidRequest /destination/chainId');
    });

    it('a source that nobody could watch, for now', async () => {
      const onlyBase = { canSeePayins: ({ id }: { id: number }) => id === 8453 };
      const from = (chainId: number) => order({ source: { chainId, tokenSymbol: 'USDC' } });
      assert.equal(await refusal(from(137), wallet, onlyBase), 'routeUnavailable /source/chainId');
      const alternative = { ...from(8453), payFrom: [{ chainId: 137, tokenSymbol: 'USDC' }] };
      assert.equal(await refusal(alternative, wallet, onlyBase), 'routeUnavailable /payFrom/0/chainId');
      const payFrom: AppSettings['payFrom'] = [{ chainId: 137, tokenSymbol: 'USDC' }];
      const made = await world(onlyBase).create(from(8453), { ...wallet, payFrom: payFrom ?? [] });
      assert.ok(!isRefusal(made));
      assert.equal(made.payment.terms.alternatives, undefined);
    });

    it('an intent that is not served here', async () => {
      assert.equal(await refusal(order({ intent: 'stellar_payin_contracts' })), 'invalidRequest /intent');
    });

    it('invalid amounts', async () => {
      const out = (amount: string) => order({ destination: { ...order().destination, amount } });
      const none = [
        '-1.00',
        '0',
        '0.00',
        '',
        '1e3',
        '1,00',
        ' 1',
        'NaN',
        '9'.repeat(100_000),
        '1.1234567',
        `1.${'1'.repeat(19)}`,
      ];
      for (const amount of none) {
        assert.equal(await refusal(out(amount)), 'invalidRequest /destination/amount', amount.slice(0, 30));
        const into = sale({ source: { chainId: 8453, tokenSymbol: 'USDC', amount } });
        assert.equal(await refusal(into, merchant), 'invalidRequest /source/amount', amount.slice(0, 30));
      }
    });

    it('amounts that only one of the tokens can represent', async () => {
      const fine = { chainId: 56, tokenSymbol: 'USDC', receiverAddress: merchantWallet, amount: '1.0000001' };
      assert.equal(await refusal(order({ destination: fine })), 'invalidRequest /destination/amount');
      const bnb = order({ source: { chainId: 56, tokenSymbol: 'USDC' }, destination: fine });
      const { payment } = await accepted(world().create(bnb));
      assert.equal(payment.terms.source.amount, '1010000100000000000');
    });

    it('amounts above a billion, and accepts exactly that', async () => {
      const out = (amount: string) => order({ destination: { ...order().destination, amount } });
      assert.equal(await refusal(out('1000000000.000001')), 'invalidRequest /destination/amount');
      await accepted(world().create(out('1000000000')));
    });

    it('missing amounts, and amounts of a payment that takes any', async () => {
      const source = { chainId: 8453, tokenSymbol: 'USDC', amount: '10.00' };
      const noAmount = { chainId: 1, tokenSymbol: 'USDC', receiverAddress: merchantWallet };
      assert.equal(await refusal(order({ destination: noAmount })), 'invalidRequest /destination/amount');
      assert.equal(await refusal(order({ type: 'exactIn', destination: noAmount })), 'invalidRequest /source/amount');
      assert.equal(await refusal(order({ type: 'anyAmount' })), 'invalidRequest /destination/amount');
      assert.equal(
        await refusal(order({ type: 'anyAmount', source, destination: noAmount })),
        'invalidRequest /source/amount',
      );
      const { payment } = await accepted(world().create(order({ type: 'anyAmount', destination: noAmount })));
      assert.deepEqual(payment.terms.limits, { min: '20000', max: '10000000000' });
    });

    it('an amount that the fee eats up', async () => {
      const crumbs = sale({ source: { chainId: 8453, tokenSymbol: 'USDC', amount: '0.01' } });
      assert.equal(await refusal(crumbs, merchant), 'invalidRequest /source/amount');
    });

    it('line items that do not add up to the order, or that its type has no sum for', async () => {
      const listing = (...amounts: string[]) => ({
        display: {
          ...{ title: 'Coffee', description: null, currency: 'USD' },
          lineItems: amounts.map((amount, index) => ({ name: `Item ${index}`, quantity: 1, amount })),
        },
      });
      assert.equal(await refusal(order(listing('9.00', '0.99'))), 'invalidRequest /display/lineItems');
      assert.equal(await refusal(sale(listing('10.01')), merchant), 'invalidRequest /display/lineItems');
      assert.equal(await refusal(order(listing('9.00', '1.0000001'))), 'invalidRequest /display/lineItems/1/amount');
      const any = order({
        ...{ type: 'anyAmount', ...listing('10.00') },
        destination: { chainId: 1, tokenSymbol: 'USDC', receiverAddress: merchantWallet },
      });
      assert.equal(await refusal(any), 'invalidRequest /display/lineItems');
      const { payment } = await accepted(world().create(order(listing('9', '1.0'))));
      assert.deepEqual(
        payment.terms.display.lineItems?.map(({ amount }) => amount),
        ['9.00', '1.00'],
      );
      const without = await accepted(world().create(order(listing())));
      assert.equal(without.payment.terms.display.lineItems, undefined);
    });

    it('an invalid sender', async () => {
      const from = (senderAddress: string) => order({ source: { chainId: 8453, tokenSymbol: 'USDC', senderAddress } });
      assert.equal(await refusal(from('me')), 'invalidRequest /source/senderAddress');
      const { payment } = await accepted(world().create(from(customerWallet.toLowerCase())));
      assert.equal(payment.terms.source.senderAddress, customerWallet);
    });
  });
});
