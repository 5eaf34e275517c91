import assert from 'node:assert/strict';
import { getBase58Decoder } from '@solana/kit';
import { Keypair, PublicKey } from 'solana-web3-v1';
import { ownerKey, parseSolanaKey, solanaKey } from '../../../../src/chains/solana/signer/keys.ts';
import { tokenAccountOf } from '../../../../src/chains/solana/tokenProgram.ts';
import { depositSeed, usdcToken } from '../world.ts';

const salt = 'ab'.repeat(32);
const owner = ownerKey(depositSeed, salt).address;
const [treasury, receiver] = [7, 8].map((byte) => solanaKey(Buffer.alloc(32, byte)).address);

describe('keys of Solana', () => {
  it('are read as wallets export them, and only when both halves belong together', () => {
    const { secretKey, publicKey: own } = Keypair.fromSeed(new Uint8Array(32).fill(3));
    assert.equal(parseSolanaKey(getBase58Decoder().decode(secretKey))?.address, own.toBase58());
    assert.equal(parseSolanaKey(getBase58Decoder().decode(secretKey.slice(0, 32))), undefined);
    assert.equal(parseSolanaKey(getBase58Decoder().decode(secretKey.toReversed())), undefined);
    assert.equal(parseSolanaKey('0x12'), undefined);
  });

  it('for deposits follow from seed and salt, and from nothing else', () => {
    assert.equal(ownerKey(depositSeed, salt).address, owner);
    assert.notEqual(ownerKey('00'.repeat(32), salt).address, owner);
    assert.notEqual(ownerKey(depositSeed, '00'.repeat(32)).address, owner);
    assert.equal(ownerKey('11'.repeat(32), '22'.repeat(32)).address, '7XP9fU1g13neWdSgw39SJCs8iNoTwNgZBtiCaJqHxcyv');
  });

  it('have the token account that the network derives', () => {
    for (const text of [owner, receiver, treasury].map(String)) {
      const seeds = [
        text,
        'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
        'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
      ];
      const [account] = PublicKey.findProgramAddressSync(
        seeds.map((seed) => new PublicKey(seed).toBytes()),
        new PublicKey(associatedProgram),
      );
      assert.equal(tokenAccountOf(text, usdcToken.address), account.toBase58());
    }
  });
});

const associatedProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
