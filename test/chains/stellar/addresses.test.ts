import assert from 'node:assert/strict';
import { chainOf, type Token } from '../../../domain/chains.ts';
import { canonicalTxHash, familyAddresses } from '../../../src/chains/families.ts';
import { publicNetwork } from '../../../src/chains/stellar/config.ts';
import { assetContractOf, assetOf } from '../../../src/chains/stellar/tokens.ts';
import { muxed } from '../../support/stellar.ts';

const stellar = chainOf(1500);
const canonical = (text: string) => familyAddresses.canonical(stellar, text);
/** From SEP-23 and from the public network. */
const account = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ';
const muxedAccount = 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK';
const contract = 'CA3D5KRYM6CB7OWQ6TWYRR3Z4T7GNZLKERYNZGGA5SOAOPIFY6YQGAXE';
const [token] = stellar.tokens as [Token];

describe('addresses on Stellar', () => {
  it('are accounts, muxed accounts and contracts, with the right checksum', () => {
    for (const address of [account, muxedAccount, contract]) {
      assert.equal(canonical(address), address);
      const wrong = address.endsWith('A') ? 'B' : 'A';
      assert.equal(canonical(`${address.slice(0, -1)}${wrong}`), null);
      assert.equal(canonical(address.toLowerCase()), null);
    }
  });

  it('are neither secrets, other texts with checksums, nor addresses of other chains', () => {
    const seed = 'SBU2RRGLXH3E5CQHTD3ODLDF2BWDCYUSSBLLZ5GNW7JXHDIYKXZWHOKR';
    const pool = 'LA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUPJP';
    /** A muxed contract (CAP-84): no payment goes to one yet. */
    const muxedContract = 'WA3D5KRYM6CB7OWQ6TWYRR3Z4T7GNZLKERYNZGGA5SOAOPIFY6YQGAAAAAAAAAPCIA6IG';
    for (const text of ['', seed, pool, muxedContract, `0x${'11'.repeat(20)}`, ` ${account}`])
      assert.equal(canonical(text), null);
  });

  it('are neither the token’s issuer, muxed or not, nor its contract: money sent there is lost', () => {
    const tokenContract = assetContractOf(token, publicNetwork);
    assert.equal(tokenContract, 'CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75');
    const issuer = assetOf(token).getIssuer() ?? '';
    for (const text of [issuer, muxed(issuer, 1n), tokenContract]) assert.equal(canonical(text), null);
  });

  it('are distinct from transactions, whose hashes are 64 hexadecimal digits', () => {
    assert.equal(canonicalTxHash(stellar, 'AB'.repeat(32)), 'ab'.repeat(32));
    for (const text of ['ab'.repeat(31), `0x${'ab'.repeat(32)}`]) assert.equal(canonicalTxHash(stellar, text), null);
  });
});
