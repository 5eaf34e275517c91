import assert from 'node:assert/strict';
import { chainOf, type Token } from '../../../../domain/chains.ts';
import { createStellarDeposits } from '../../../../src/chains/stellar/deposits/scheme.ts';

const account = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ';
const contract = 'CA3D5KRYM6CB7OWQ6TWYRR3Z4T7GNZLKERYNZGGA5SOAOPIFY6YQGAXE';
const [token] = chainOf(1500).tokens as [Token];

describe('deposits on Stellar', () => {
  const deposits = createStellarDeposits({ treasury: account, payinContract: contract });

  it('are the treasury with a number of the payment’s own that fits any kind of memo', async () => {
    const numbers = new Set<string | null>();
    for (let n = 0; n < 100; n++) {
      const deposit = await deposits.assign(`payment-${n}`, token, null);
      assert.deepEqual([deposit.address, deposit.contract, deposit.contractMemo], [account, null, null]);
      assert.ok(/^\d{1,19}$/.test(deposit.memo ?? '') && BigInt(deposit.memo ?? '') < 2n ** 63n);
      assert.ok(!deposit.memo?.includes(`${n}payment`) && !JSON.stringify(deposit).includes('payment-'));
      numbers.add(deposit.memo);
    }
    assert.equal(numbers.size, 100);
  });

  it('are the contract or the treasury for the contract intent, with one memo of 28 bytes', async () => {
    const deposit = await deposits.assign('payment-1', token, 'stellar_payin_contracts');
    assert.deepEqual([deposit.contract, deposit.address, deposit.memo], [contract, account, deposit.contractMemo]);
    assert.match(deposit.contractMemo ?? '', /^[0-9a-f]{28}$/);
    assert.deepEqual(await deposits.assign('payment-1', token, 'stellar_payin_contracts'), deposit);
  });
});
