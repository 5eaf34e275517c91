import assert from 'node:assert/strict';
import { nativeToScVal, xdr } from '@stellar/stellar-sdk';
import { chainOf, type Token } from '../../../../domain/chains.ts';
import { type SeenEvent, transfersToTreasury } from '../../../../src/chains/stellar/payins/movements.ts';
import { addressArg, i128Arg, stringArg } from '../../../support/stellar.ts';

const treasury = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ';
const issuer = 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN';
const alice = 'CA3D5KRYM6CB7OWQ6TWYRR3Z4T7GNZLKERYNZGGA5SOAOPIFY6YQGAXE';
const [token] = chainOf(1500).tokens as [Token];
const other: Token = { symbol: 'USDT', address: `USDT:${issuer}`, decimals: 7 };
const watched = {
  treasury,
  tokens: new Map([
    ['token', token],
    ['second token', other],
  ]),
  payin: { contract: 'payin', tokenContract: 'token' },
};
const name = stringArg(`USDC:${issuer}`);
const symbol = (text: string) => xdr.ScVal.scvSymbol(text);

const moved = (amount: bigint, from = alice, to = treasury): SeenEvent => ({
  contract: 'token',
  topics: [symbol('transfer'), addressArg(from), addressArg(to), name],
  value: i128Arg(amount),
});
const paid = (amount: bigint, memo: string, from = alice): SeenEvent => ({
  contract: 'payin',
  topics: [symbol('payment'), addressArg(from)],
  value: nativeToScVal(
    { amount: i128Arg(amount), destination: addressArg(treasury), from: addressArg(from), memo: stringArg(memo) },
    { type: { amount: ['symbol'], destination: ['symbol'], from: ['symbol'], memo: ['symbol'] } },
  ),
});
const read = (...events: SeenEvent[]) =>
  transfersToTreasury(watched, events).map(({ to, memo, amount }) => [to, memo, amount]);

describe('the movement of one operation', () => {
  it('is one payin for a transfer and the contract’s event about it', () => {
    assert.deepEqual(read(moved(5n), paid(5n, 'x')), [['payin', 'x', 5n]]);
  });

  it('is each payin of an operation that pays several times', () => {
    assert.deepEqual(read(moved(5n), paid(5n, 'x'), moved(5n), paid(5n, 'y'), moved(5n)), [
      ['payin', 'x', 5n],
      ['payin', 'y', 5n],
      [treasury, null, 5n],
    ]);
  });

  it('is never the contract’s event alone: without that transfer before it, from that sender, nothing moved', () => {
    assert.deepEqual(read(paid(5n, 'x')), []);
    assert.deepEqual(read(paid(5n, 'x'), moved(5n)), [[treasury, null, 5n]]);
    assert.deepEqual(read(moved(5n), paid(50n, 'x')), [[treasury, null, 5n]]);
    assert.deepEqual(read(moved(5n, issuer), paid(5n, 'x')), [[treasury, null, 5n]]);
    assert.deepEqual(read(moved(5n), paid(5n, 'x'), paid(5n, 'y')), [['payin', 'x', 5n]]);
  });

  it('is in the token that moved, and the contract’s event is about its own token alone', () => {
    const second = { ...moved(5n), contract: 'second token' };
    const movements = transfersToTreasury(watched, [moved(5n), second, paid(5n, 'x')]);
    assert.deepEqual(
      movements.map((movement) => [movement.token, movement.to, movement.memo]),
      [
        [token, 'payin', 'x'],
        [other, treasury, null],
      ],
    );
  });

  it('includes an issue to the treasury', () => {
    const minted = { contract: 'token', topics: [symbol('mint'), addressArg(treasury), name], value: i128Arg(9n) };
    assert.deepEqual(transfersToTreasury(watched, [minted]), [
      { token, from: issuer, to: treasury, memo: null, amount: 9n },
    ]);
  });

  it('is nothing where the treasury pays itself, whatever the memo', () => {
    assert.deepEqual(read(moved(5n, treasury), paid(5n, 'x', treasury)), []);
  });

  it('is nothing for empty transfers, other receivers, other tokens, and events in another form', () => {
    assert.deepEqual(read(moved(0n), moved(5n, alice, alice), { ...moved(5n), contract: 'other' }), []);
    assert.deepEqual(read({ ...moved(5n), value: stringArg('5') }, { ...moved(5n), topics: [symbol('transfer')] }), []);
    assert.deepEqual(read({ ...paid(5n, 'x'), value: xdr.ScVal.scvVoid() }, { ...paid(5n, 'x'), topics: [] }), []);
  });
});
