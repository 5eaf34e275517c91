/** Offers to browser wallets, read by independent libraries. */
import assert from 'node:assert/strict';
import { PublicKey, TransactionMessage, VersionedTransaction } from 'solana-web3-v1';
import { decodeFunctionData, erc20Abi, type Hex } from 'viem';
import * as viemChains from 'viem/chains';
import { type ChainId, chainOf, chains, findToken, type TokenSymbol } from '../../domain/chains.ts';
import { parseAmount } from '../../domain/money.ts';
import { viewOf } from '../../domain/payment/view.ts';
import { networkId } from '../../src/chains/evm/config.ts';
import { walletOfferOf } from '../../src/chains/families.ts';
import { defaultSolanaConfig } from '../../src/chains/solana/config.ts';
import { createSolanaPayerTransactions } from '../../src/chains/solana/payerTransactions.ts';
import { publicReferenceOf } from '../../src/chains/solana/payouts/transaction.ts';
import type { SolanaRpc } from '../../src/chains/solana/rpc.ts';
import { tokenAccountOf } from '../../src/chains/solana/tokenProgram.ts';
import * as p from '../support/payments.ts';

const deposit = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const view = (chainId: ChainId, symbol: TokenSymbol = 'USDC') => ({
  ...viewOf(p.paymentAfter(p.unpaid), p.minute(46)),
  sourceChainId: chainId,
  sourceTokenSymbol: symbol,
  sourceTokenAddress: findToken(chainOf(chainId), symbol)?.address ?? '',
  depositAddress: deposit,
});
const evmChains = chains.filter(({ family }) => family === 'evm');

describe('the offer to a wallet of an EVM chain', () => {
  for (const { id, name, tokens } of evmChains) {
    it(`on ${name} is a transfer of exactly the amount, for each token in its own decimals`, () => {
      for (const { symbol, decimals, address } of tokens) {
        const offer = walletOfferOf(view(id, symbol), '10.02');
        assert.ok(offer?.family === 'evm');
        const read = decodeFunctionData({ abi: erc20Abi, data: offer.data as Hex });
        const units = parseAmount('10.02', decimals);
        assert.deepEqual([offer.token, read.functionName, read.args], [address, 'transfer', [deposit, units]]);
        assert.equal(offer.units, String(units));
      }
    });

    it(`on ${name} names the network as viem does`, () => {
      const offer = walletOfferOf(view(id), '1');
      assert.ok(offer?.family === 'evm');
      const known = Object.values(viemChains).find((chain) => chain.id === networkId(id));
      assert.equal(Number(offer.chain.id), known?.id);
      assert.deepEqual(offer.chain.coin.symbol, known?.nativeCurrency.symbol);
      assert.deepEqual(
        offer.chain.explorers.map((url) => new URL(url).host),
        [new URL(known?.blockExplorers?.default.url ?? '').host],
      );
      for (const url of [...offer.chain.rpcUrls, ...offer.chain.explorers]) assert.match(url, /^https:\/\//);
    });
  }

  it('has the local node of a simulated chain, and no public one', () => {
    const offer = walletOfferOf(view(8453), '1', ['http://127.0.0.1:8545']);
    assert.ok(offer?.family === 'evm');
    assert.deepEqual([offer.chain.rpcUrls, offer.chain.explorers], [['http://127.0.0.1:8545'], []]);
  });

  it('is none for an amount that the payer chooses, or that the token cannot have', () => {
    assert.equal(walletOfferOf(view(8453), null), null);
    assert.equal(walletOfferOf(view(8453), '1.0000001'), null);
  });
});

describe('the transaction for a wallet of Solana', () => {
  it('opens the deposit’s account at the payer’s cost, and pays it with the reference: nothing else', async () => {
    const payer = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
    const owner = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
    const token = findToken(chainOf(501), 'USDC');
    assert.ok(token);
    const config = defaultSolanaConfig({ rpcUrls: [], treasury: owner });
    const { prepare } = createSolanaPayerTransactions(config, { as: () => ({}) } as unknown as SolanaRpc);
    const order = {
      paymentId: '0198f3c2-0000-8000-8000-000000000001',
      chainId: 501,
      token,
      amount: 10_020_000n,
      deposit: { address: owner, memo: null, contract: null, contractMemo: null },
      payer,
    } as const;
    const terms = { blockhash: PublicKey.default.toBase58(), units: 80_000, price_microLamports: 1_000n };
    const prepared = await prepare(order, terms);
    assert.ok('transaction' in prepared);
    const transaction = VersionedTransaction.deserialize(Buffer.from(prepared.transaction, 'base64'));
    const { instructions, payerKey } = TransactionMessage.decompile(transaction.message);
    assert.equal(payerKey.toBase58(), payer);
    assert.deepEqual([transaction.signatures.length, transaction.signatures[0]?.some(Boolean)], [1, false]);
    const [, , opens, pays, ...others] = instructions;
    assert.equal(others.length, 0);
    const account = tokenAccountOf(owner, token.address);
    assert.deepEqual(
      opens?.keys.slice(0, 3).map(({ pubkey }) => pubkey.toBase58()),
      [payer, account, owner],
    );
    assert.deepEqual([...(opens?.data ?? [])], [1]);
    assert.deepEqual(
      pays?.keys.map(({ pubkey }) => pubkey.toBase58()),
      [
        tokenAccountOf(payer, token.address),
        token.address,
        account,
        payer,
        publicReferenceOf('payin', order.paymentId),
      ],
    );
    assert.equal(pays?.data.readBigUInt64LE(1), 10_020_000n);
  });
});
