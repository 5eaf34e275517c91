import assert from 'node:assert/strict';
import { chainOf } from '../../../domain/chains.ts';
import { memoProblem } from '../../../domain/payment/memo.ts';
import { muxedReceiver, stellarContract, stellarReceiver } from '../../support/contractPayments.ts';
import { merchantWallet } from '../../support/payments.ts';

const stellar = chainOf(1500);
const onStellar = (memo: string, receiver = stellarReceiver) => memoProblem(stellar, receiver, memo);

describe('the memo of a receiver', () => {
  it('on Stellar has at most 28 bytes in UTF-8, however few characters they are', () => {
    assert.equal(onStellar('x'.repeat(28)), undefined);
    assert.match(onStellar('x'.repeat(29)) ?? '', /at most 28 bytes.*has 29/);
    assert.equal(onStellar('é'.repeat(14)), undefined);
    assert.match(onStellar(`${'é'.repeat(14)}x`) ?? '', /has 29/);
    assert.match(onStellar('💶'.repeat(8)) ?? '', /has 32/);
    assert.equal(onStellar('18446744073709551615'), undefined, 'an id');
  });

  it('is refused where the address holds it already, or the transfer carries none', () => {
    assert.match(onStellar('7', muxedReceiver) ?? '', /M address/);
    assert.match(onStellar('7', stellarContract) ?? '', /contract/);
    assert.match(memoProblem(chainOf(8453), merchantWallet, '7') ?? '', /Base transfers carry no memo/);
  });
});
