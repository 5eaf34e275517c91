import assert from 'node:assert/strict';
import { base58, hex } from '@scure/base';
import fc from 'fast-check';
import { address32, addressing } from '../../../domain/rebalance/burnMessage.ts';
import { solanaCctp } from '../../../domain/rebalance/cctp.ts';
import { solana32, tokenAccount32 } from '../../../domain/rebalance/solanaTokenAccount.ts';
import { tokenAccountOf } from '../../../src/chains/solana/tokenProgram.ts';
import { solanaUsdc } from '../../support/payments.ts';

const { address: mint } = solanaUsdc.token;
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('the token account that a message for Solana names', () => {
  it('is the one that the chain’s library derives, for any wallet', () => {
    fc.assert(
      fc.property(bytes32, (wallet) => {
        const address = base58.encode(wallet);
        assert.equal(tokenAccount32(address, mint), hex.encode(base58.decode(tokenAccountOf(address, mint))));
      }),
      { numRuns: 20 },
    );
  });

  it('is the recipient of a burn for Solana, where each account may mint', () => {
    const wallet = 'GHhb4dH6XUFuJ2LLvw6JS6jkMaVNi6TzC6VJhU2gBRLw';
    const { mintRecipient, destinationCaller, hookData } = addressing(5, wallet);
    assert.equal(mintRecipient, tokenAccount32(wallet, mint));
    assert.notEqual(mintRecipient, address32(wallet));
    assert.deepEqual([destinationCaller, hookData], ['0'.repeat(64), '']);
  });

  it('keeps the 32 bytes of any address, with those that begin with zeros', () => {
    fc.assert(
      fc.property(bytes32, fc.nat(32), (bytes, zeros) => {
        const address = bytes.fill(0, 0, zeros);
        assert.equal(solana32(base58.encode(address)), hex.encode(address));
      }),
      { numRuns: 200 },
    );
    assert.equal(solana32('1'.repeat(32)), '0'.repeat(64));
    assert.equal(address32(solanaCctp.messenger), hex.encode(base58.decode(solanaCctp.messenger)));
  });

  it('has no bytes for a text that is no address of Solana', () => {
    for (const text of [
      '',
      '1'.repeat(31),
      '1'.repeat(33),
      'z'.repeat(44),
      `${'1'.repeat(31)}0`,
      '0x12',
      '1'.repeat(56),
    ])
      assert.throws(() => solana32(text), RangeError, text);
  });
});
