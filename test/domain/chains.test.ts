import assert from 'node:assert/strict';
import { StrKey } from '@stellar/stellar-sdk';
import { getAddress } from 'viem';
import { chainIds, chainOf, chains, findChain, findToken, memoProblem, tokenAt } from '../../domain/chains.ts';
import { networks as testNetworks } from '../../domain/testNetworks.ts';
import { familyFor } from '../../src/chains/families.ts';
import { muxedReceiver, stellarContract, stellarReceiver } from '../support/contractPayments.ts';
import { merchantWallet } from '../support/payments.ts';

/** Facts from the issuers' pages and from chain explorers. */
const tokens: Record<number, Record<string, [address: string, decimals: number]>> = {
  8453: { USDC: ['0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 6] },
  56: {
    USDC: ['0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', 18],
    USDT: ['0x55d398326f99059fF775485246999027B3197955', 18],
  },
  1: {
    USDC: ['0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 6],
    USDT: ['0xdAC17F958D2ee523a2206206994597C13D831ec7', 6],
  },
  42161: {
    USDC: ['0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 6],
    USDT: ['0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', 6],
  },
  137: {
    USDC: ['0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 6],
    USDT: ['0xc2132D05D31c914a87C6611C10748AEb04B58e8F', 6],
  },
  501: { USDC: ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 6] },
  1500: { USDC: ['USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN', 7] },
};

describe('the test networks', () => {
  it('are as many as the main ones, in their order: a chain without one could not be tried', () => {
    assert.deepEqual(
      testNetworks.map(({ id }) => id),
      [...chainIds],
    );
  });

  it('replace main ones, with tokens of their own whose addresses are spelled like their chains’', () => {
    for (const { id, network, family, tokens } of testNetworks) {
      assert.equal(family, chainOf(id).family);
      assert.ok(network);
      for (const { address, symbol, decimals } of tokens) {
        const main = findToken(chainOf(id), symbol);
        assert.equal(decimals, main?.decimals);
        assert.notEqual(address, main?.address);
        if (family === 'evm') assert.equal(address, getAddress(address));
        if (family === 'stellar') assert.ok(StrKey.isValidEd25519PublicKey(address.split(':')[1] ?? ''));
        if (family === 'solana') assert.equal(familyFor(chainOf(id)).canonicalAddress(chainOf(id), address), address);
      }
    }
  });
});

describe('the catalogue', () => {
  it('holds these tokens and no others', () => {
    const held = Object.fromEntries(
      chains.map(({ id, tokens }) => [
        id,
        Object.fromEntries(tokens.map(({ symbol, address, decimals }) => [symbol, [address, decimals]])),
      ]),
    );
    assert.deepEqual(held, tokens);
    assert.deepEqual(
      chains.map(({ id }) => id),
      [...chainIds],
    );
  });

  it('spells EVM addresses with their checksum', () => {
    for (const chain of chains.filter(({ family }) => family === 'evm')) {
      for (const { address } of chain.tokens) assert.equal(getAddress(address), address);
    }
  });

  it('covers the routes of Stellar contract payments', () => {
    const routes: [number, string[]][] = [
      [8453, ['USDC']],
      [56, ['USDT', 'USDC']],
      [1, ['USDT', 'USDC']],
      [42161, ['USDC']],
      [137, ['USDC']],
      [501, ['USDC']],
    ];
    for (const [id, symbols] of routes) {
      const chain = findChain(id);
      for (const symbol of symbols) assert.ok(chain && findToken(chain, symbol), `${symbol} on ${id}`);
    }
  });

  it('finds a chain by number, digits or alias, and nothing else', () => {
    for (const id of chainIds) {
      assert.equal(findChain(id)?.id, id);
      assert.equal(findChain(String(id))?.id, id);
      assert.equal(chainOf(id).id, id);
    }
    const aliases = [900, '900', 'solana', 'Solana', 'stellar', 'STELLAR'].map((alias) => findChain(alias)?.id);
    assert.deepEqual(aliases, [501, 501, 501, 501, 1500, 1500]);
    for (const unknown of [
      0,
      -1,
      2,
      8453.5,
      Number.NaN,
      '',
      ' 1',
      '08453',
      '1e0',
      'base',
      'constructor',
      '__proto__',
    ]) {
      assert.equal(findChain(unknown), undefined, String(unknown));
    }
  });

  it('finds a token by its contract, whatever the letter case of an EVM address, and never by a look-alike', () => {
    const [base, solana] = [chainOf(8453), chainOf(501)];
    const usdc = findToken(base, 'USDC');
    assert.ok(usdc);
    assert.equal(tokenAt(base, usdc.address.toLowerCase()), usdc);
    assert.equal(tokenAt(base, '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA'), undefined, 'USDbC is no USDC');
    const mint = solana.tokens[0]?.address ?? '';
    assert.ok(tokenAt(solana, mint));
    assert.equal(tokenAt(solana, mint.toLowerCase()), undefined, 'Solana addresses mean their letter case');
    assert.equal(findToken(base, 'USDT'), undefined);
    assert.equal(findToken(base, 'usdc'), undefined);
  });
});

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

  it('is refused if the address contains one already, or the transfer carries none', () => {
    assert.match(onStellar('7', muxedReceiver) ?? '', /M address/);
    assert.match(onStellar('7', stellarContract) ?? '', /contract/);
    assert.match(memoProblem(chainOf(8453), merchantWallet, '7') ?? '', /Base transfers carry no memo/);
  });
});
