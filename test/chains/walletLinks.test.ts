/** Wallet links, read back by the grammars of the standards and by wallets' own libraries. */
import assert from 'node:assert/strict';
import { Networks, StrKey } from '@stellar/stellar-sdk';
import { isValidSep7Uri, parseSep7Uri, type Sep7Pay } from '@stellar/typescript-wallet-sdk';
import { parse as parseEip681 } from 'eth-url-parser';
import fc from 'fast-check';
import { isAddress } from 'viem';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { walletLinkOf } from '../../src/chains/families.ts';
import { sandboxNetwork, stellarWalletLink } from '../../src/chains/stellar/payerTransactions.ts';
import { payment } from '../web/samples/payments.ts';

const view = (changed: Partial<PaymentView> = {}): PaymentView => payment((text) => text, changed);

/** EIP-681 (with ERC-831): schema "ethereum:" [ "pay-" ] target_address [ "@" chain_id ] [ "/" function_name ] [ "?" parameters ]. */
const eip681 =
  /^ethereum:(?:pay-)?(?<target>0x[0-9a-fA-F]{40})(?:@(?<chain>\d+))?(?:\/(?<name>[A-Za-z_]\w*))?(?:\?(?<parameters>[^?]*))?$/;
/** Grammar of its numbers: [ "-" / "+" ] DIGIT [ "." 1 DIGIT ] [ ( "e" / "E" ) [ 1 DIGIT ] ]. */
const number681 = /^[-+]?\d*(?:\.\d+)?(?:[eE]\d*)?$/;

const stellarDeposit = {
  sourceChainId: 1500,
  sourceTokenAddress: 'USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
  depositAddress: 'GBRPYHIL2CI3FNQ4BXLFMNDLFJUNPU2HY3ZMFSHONUCEOASW7QC7OX2H',
  depositMemo: '4611686018427387904',
} as const;

const solana = {
  sourceChainId: 501,
  sourceTokenAddress: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  depositAddress: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
} as const;

describe('links that open wallets', () => {
  it('for EVM are EIP-681 requests to call transfer of the token, on the payment’s chain, in smallest units', () => {
    const read = eip681.exec(walletLinkOf(view(), '10.02') ?? '')?.groups;
    assert.ok(read);
    const { target, chain, name, parameters } = read;
    assert.deepEqual([target, chain, name], [view().sourceTokenAddress, '8453', 'transfer']);
    const asked = new URLSearchParams(parameters);
    assert.deepEqual([...asked.keys()], ['address', 'uint256']);
    assert.ok(isAddress(asked.get('address') ?? '', { strict: false }));
    assert.equal(asked.get('address'), view().depositAddress);
    assert.equal(asked.get('uint256'), '10020000');
  });

  it('for EVM mean the same to a library of wallets', () => {
    assert.deepEqual(parseEip681(walletLinkOf(view(), '10.02') ?? ''), {
      scheme: 'ethereum',
      target_address: view().sourceTokenAddress,
      chain_id: '8453',
      function_name: 'transfer',
      parameters: { address: view().depositAddress, uint256: '10020000' },
    });
  });

  it('for EVM hold every amount exactly, in the decimals of the chain’s token', () => {
    const bnb = { sourceChainId: 56, sourceTokenAddress: '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d' } as const;
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), (units) => {
        const text = new URL(walletLinkOf(view(bnb), formatAmount(units, 18)) ?? '').searchParams.get('uint256') ?? '';
        assert.match(text, number681);
        assert.equal(BigInt(text), units);
      }),
    );
    assert.equal(walletLinkOf(view(), null), null);
    assert.equal(walletLinkOf(view(), '1.0000001'), null);
  });

  it('for Stellar are SEP-7 requests to pay the asset, with the memo as text', () => {
    const link = new URL(walletLinkOf(view(stellarDeposit), '10.0200001') ?? '');
    assert.equal(`${link.protocol}${link.pathname}`, 'web+stellar:pay');
    const asked = Object.fromEntries(link.searchParams);
    assert.deepEqual(asked, {
      destination: stellarDeposit.depositAddress,
      amount: '10.0200001',
      asset_code: 'USDC',
      asset_issuer: 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
      memo: '4611686018427387904',
      memo_type: 'MEMO_TEXT',
    });
    assert.ok(StrKey.isValidEd25519PublicKey(asked['destination'] ?? ''));
    assert.ok(Buffer.byteLength(asked['memo'] ?? '') <= 28);
    assert.equal(typeof parseAmount(asked['amount'] ?? '', 7), 'bigint');
    assert.equal(new URL(walletLinkOf(view(stellarDeposit), null) ?? '').searchParams.has('amount'), false);
    assert.equal(walletLinkOf(view({ ...stellarDeposit, depositMemo: null }), '1'), null);
  });

  it('for Stellar mean the same to the SDK of wallets: on the public network, and in the sandbox on a network without real money', () => {
    for (const [sandbox, network] of [
      [false, undefined],
      [true, sandboxNetwork],
    ] as const) {
      const link = walletLinkOf(view(stellarDeposit), '10.0200001', sandbox) ?? '';
      assert.deepEqual(isValidSep7Uri(link), { result: true });
      const read = parseSep7Uri(link) as Sep7Pay;
      assert.equal(read.operationType, 'pay');
      assert.equal(read.destination, stellarDeposit.depositAddress);
      assert.equal(read.amount, '10.0200001');
      assert.equal(`${read.assetCode}:${read.assetIssuer}`, stellarDeposit.sourceTokenAddress);
      assert.deepEqual([read.memoType, read.memo], ['MEMO_TEXT', stellarDeposit.depositMemo]);
      assert.equal(new URL(link).searchParams.get('network_passphrase') ?? undefined, network);
      assert.equal(read.networkPassphrase, network ?? Networks.PUBLIC);
    }
  });

  it('for Solana are Solana Pay transfer requests, whatever the title is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (title) => {
        const link = walletLinkOf(view({ ...solana, title }), '0.5') ?? '';
        assert.match(
          link,
          /^solana:[1-9A-HJ-NP-Za-km-z]{32,44}\?amount=0\.5&spl-token=[1-9A-HJ-NP-Za-km-z]{32,44}&reference=[1-9A-HJ-NP-Za-km-z]{32,44}&label=[^&#]*$/,
        );
        const label = new URLSearchParams(link.split('?')[1]).get('label') ?? '';
        assert.ok(title.toWellFormed().startsWith(label));
        if (encodeURIComponent(title.toWellFormed()).length <= 120) assert.equal(label, title.toWellFormed());
      }),
    );
  });

  it('for Solana fit into a code that a telephone can read, however long the title is', () => {
    for (const title of ['🧀'.repeat(200), '茶'.repeat(200), 'a'.repeat(200), ' '.repeat(200)]) {
      const link = walletLinkOf(view({ ...solana, title }), '123456789.123456') ?? '';
      assert.ok(link.length < 360, `${link.length}`);
      assert.ok(title.startsWith(new URLSearchParams(link.split('?')[1]).get('label') ?? 'none'));
    }
  });

  it('for Stellar name the test network that is served, in a sandbox too', () => {
    const passphraseIn = (sandbox: boolean, served?: string) =>
      new URL(stellarWalletLink(stellarDeposit, '1', sandbox, served) ?? '').searchParams.get('network_passphrase');
    assert.equal(passphraseIn(true, Networks.TESTNET), Networks.TESTNET);
    assert.equal(passphraseIn(false, Networks.TESTNET), Networks.TESTNET);
    assert.equal(passphraseIn(false), null);
    assert.equal(passphraseIn(true), sandboxNetwork);
  });
});
