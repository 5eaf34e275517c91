import assert from 'node:assert/strict';
import { chainOf, chains, findToken } from '../../../domain/chains.ts';
import { checkContractIntent } from '../../../domain/payment/intent.ts';
import { muxedReceiver, payer, stellarContract } from '../../support/contractPayments.ts';
import { type Asset, baseUsdc, bnbUsdc, ethereumUsdt, stellarUsdc } from '../../support/payments.ts';

describe('the intent stellar_payin_contracts', () => {
  const pointerOf = (source: Asset, destination: Asset, sender: string | undefined = payer) =>
    checkContractIntent(source, destination, sender)?.pointer;

  it('is served exactly on the routes of the service reference', () => {
    const served = chains.flatMap((chain) =>
      chain.tokens
        .filter((token) => !checkContractIntent(stellarUsdc, { chain, token }, payer))
        .map(({ symbol }) => `${chain.id} ${symbol}`),
    );
    assert.deepEqual(served.sort(), [
      '1 USDC',
      '1 USDT',
      '137 USDC',
      '42161 USDC',
      '501 USDC',
      '56 USDC',
      '56 USDT',
      '8453 USDC',
    ]);
  });

  it('starts from USDC on Stellar, from a sender that can call a contract', () => {
    assert.equal(pointerOf(baseUsdc, bnbUsdc), '/source/chainId');
    assert.equal(pointerOf({ ...stellarUsdc, token: ethereumUsdt.token }, bnbUsdc), '/source/tokenSymbol');
    assert.equal(checkContractIntent(stellarUsdc, bnbUsdc, undefined)?.pointer, '/source/senderAddress');
    assert.equal(pointerOf(stellarUsdc, bnbUsdc, muxedReceiver), '/source/senderAddress');
    assert.equal(pointerOf(stellarUsdc, bnbUsdc, stellarContract), undefined);
  });

  it('leads neither back to Stellar nor to a token that the route lacks', () => {
    assert.equal(pointerOf(stellarUsdc, stellarUsdc), '/destination/chainId');
    const arbitrum = chainOf(42161);
    const usdt = findToken(arbitrum, 'USDT');
    assert.ok(usdt, 'other payments may be paid out in it');
    assert.equal(pointerOf(stellarUsdc, { chain: arbitrum, token: usdt }), '/destination/tokenSymbol');
    assert.equal(pointerOf(stellarUsdc, ethereumUsdt), undefined);
  });
});
