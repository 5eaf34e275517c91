import assert from 'node:assert/strict';
import { chainOf, type Token } from '../../../domain/chains.ts';
import { addressBook, canonicalTxHash } from '../../../src/chains/families.ts';
import { publicNetwork } from '../../../src/chains/stellar/config.ts';
import { createStellarDeposits } from '../../../src/chains/stellar/deposits/scheme.ts';
import { assetContractOf, assetOf } from '../../../src/chains/stellar/tokens.ts';
import { muxed } from '../../support/stellar.ts';

const stellar = chainOf(1500);
const canonical = (text: string) => addressBook.canonical(stellar, text);
/** From SEP-23 and the public network. */
const account = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ';
const place = 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK';
const contract = 'CA3D5KRYM6CB7OWQ6TWYRR3Z4T7GNZLKERYNZGGA5SOAOPIFY6YQGAXE';
const [token] = stellar.tokens as [Token];

describe('addresses on Stellar', () => {
  it('are accounts, places behind accounts and contracts, with the right checksum', () => {
    for (const address of [account, place, contract]) {
      assert.equal(canonical(address), address);
      const wrong = address.endsWith('A') ? 'B' : 'A';
      assert.equal(canonical(`${address.slice(0, -1)}${wrong}`), null);
      assert.equal(canonical(address.toLowerCase()), null);
    }
  });

  it('are neither secrets, other things with checksums, nor addresses of other chains', () => {
    const seed = 'SBU2RRGLXH3E5CQHTD3ODLDF2BWDCYUSSBLLZ5GNW7JXHDIYKXZWHOKR';
    const pool = 'LA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUPJP';
    for (const text of ['', seed, pool, `0x${'11'.repeat(20)}`, ` ${account}`]) assert.equal(canonical(text), null);
  });

  it('are not the token’s issuer, behind any number, nor its contract: money sent there is lost', () => {
    const tokenContract = assetContractOf(token, publicNetwork);
    assert.equal(tokenContract, 'CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75');
    const issuer = assetOf(token).getIssuer() ?? '';
    for (const text of [issuer, muxed(issuer, 1n), tokenContract]) assert.equal(canonical(text), null);
  });

  it('have transactions whose hashes are 64 hexadecimal digits', () => {
    assert.equal(canonicalTxHash(stellar, 'AB'.repeat(32)), 'ab'.repeat(32));
    for (const text of ['ab'.repeat(31), `0x${'ab'.repeat(32)}`]) assert.equal(canonicalTxHash(stellar, text), null);
  });
});

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

  it('of the contract intent are the contract with a memo of 28 bytes, and nothing else', async () => {
    const deposit = await deposits.assign('payment-1', token, 'stellar_payin_contracts');
    assert.deepEqual([deposit.contract, deposit.memo], [contract, null]);
    assert.match(deposit.contractMemo ?? '', /^[0-9a-f]{28}$/);
    assert.deepEqual(await deposits.assign('payment-1', token, 'stellar_payin_contracts'), deposit);
  });
});
