/** Payers on Solana and Stellar who hold no coin and sign on the payment's page, and wallets that sign something else. */
import assert from 'node:assert/strict';
import { base58 } from '@scure/base';
import { hash, Keypair as StellarKeypair, xdr } from '@stellar/stellar-sdk';
import type { Page } from 'playwright-core';
import { Keypair, PublicKey, VersionedTransaction } from 'solana-web3-v1';
import { fundWallet } from '../../../sandbox/solana/controls.ts';
import { fundAccount } from '../../../sandbox/stellar/controls.ts';
import { publicNetwork } from '../../../src/chains/stellar/config.ts';
import { visitor } from '../../support/chromium.ts';
import { sharedSandbox, startSharedSandbox } from '../../support/sharedSandbox.ts';
import type { Answer, Json } from '../../support/shop.ts';
import { solanaClient } from '../../support/solana.ts';
import { programTransaction } from '../../support/solanaRelays.ts';
import { freighter, type SigningWallet, solanaWallet } from '../../support/standInWallets.ts';
import { gateCases } from '../../support/suite.ts';
import { gasFreeButton, phone, toldOfWallet } from '../wallets.ts';

const receiverAddress = '0x3333333333333333333333333333333333333333';

/** A wallet's answer to a prepared authorization, as the page posts it. */
type Signed = { readonly chainId: number } & Json;

interface Payer {
  readonly address: string;
  /** Signs as a wallet of the chain does. */
  sign(prepared: Answer['body']): Signed;
  openWallet(page: Page): Promise<SigningWallet>;
}

interface Family {
  readonly name: string;
  readonly chainId: 501 | 1500;
  /** Request to the wallet that signs without sending. */
  readonly asks: string;
  /** A payer with 10 USDC; on Solana they have no SOL. */
  payer(): Promise<Payer>;
  /** Bodies that are not what was prepared, each with the field that the refusal names. */
  altered(
    prepared: Answer['body'],
    payer: Payer,
    payment: Answer['body'],
  ): Promise<readonly (readonly [what: string, body: Signed, pointer: string])[]>;
}

describe('paying without gas on the payment’s page', () => {
  const sandbox = sharedSandbox();
  before(startSharedSandbox);

  async function create(chainId: number): Promise<Answer['body']> {
    const { status, body } = await sandbox.create(
      {
        type: 'exactOut',
        display: { title: 'Tea' },
        source: { chainId, tokenSymbol: 'USDC' },
        destination: { chainId: 8453, tokenSymbol: 'USDC', amount: '3.00', receiverAddress },
      },
      sandbox.file().wallet.ordersKey,
    );
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  const pathOf = ({ paymentLink }: Answer['body']) => `${new URL(paymentLink).pathname}/authorization`;
  const desk = (payment: Answer['body'], account?: string) =>
    sandbox.callOnce('GET', `${pathOf(payment)}${account === undefined ? '' : `?account=${account}`}`);
  const post = (payment: Answer['body'], body: Json) => sandbox.callOnce('POST', pathOf(payment), { body });

  const pointerOf = ({ body }: Answer) => body.errors?.[0]?.pointer;
  /** On a slow machine a blockhash may be over before it is used. */
  const isExpired = (answer: Answer) => pointerOf(answer) === '/expired';

  async function preparedFor(payment: Answer['body'], account: string): Promise<Answer['body']> {
    let answer = await desk(payment, account);
    while (isExpired(answer)) answer = await desk(payment, account);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.authorizations[0] ?? assert.fail(JSON.stringify(answer.body));
  }

  const late = (page: Page) => toldOfWallet(page, /took too long/);

  /** Presses until the service has accepted a signature. */
  async function signsOn(page: Page): Promise<void> {
    for (let isAccepted = false; !isAccepted; ) {
      const accepted = page.waitForResponse(
        (answer) => answer.request().method() === 'POST' && answer.url().endsWith('/authorization') && answer.ok(),
      );
      await gasFreeButton(page).click();
      isAccepted = await Promise.race([
        accepted.then(() => true),
        late(page)
          .waitFor()
          .then(() => false),
      ]);
      accepted.catch(() => {});
    }
  }

  for (const family of [solana(), stellar()]) {
    describe(`on ${family.name}`, () => {
      it('pays by one signature in the wallet, which sends nothing; the page follows it to the end, also if its tab is closed', async () => {
        const { chainId, asks } = family;
        // The relay is the same on both chains.
        for (const closes of gateCases([false, true], (each) => !each || chainId === 1500)) {
          const [payment, payer] = [await create(chainId), await family.payer()];
          const { page, newTab, leave } = await visitor(sandbox.file().baseUrl, phone);
          const wallet = await payer.openWallet(page);
          await page.goto(payment.paymentLink);
          await signsOn(page);
          if (closes) {
            // The tab that stays open keeps the profile.
            await newTab();
            await page.close();
          } else await page.getByText('has been paid').or(late(page)).first().waitFor();
          const done = await followOrSign(payment, payer);
          assert.equal(done.status, 'payment_payout_completed');
          assert.deepEqual(new Set(wallet.asked.filter((method) => /SUBMIT|sign/.test(method))), new Set([asks]));
          await leave();
        }
      });

      it('accepts one of two signatures that arrive at once, and pays once', async () => {
        const [payment, payer] = [await create(family.chainId), await family.payer()];
        const signBoth = async () => {
          const tabs = [await preparedFor(payment, payer.address), await preparedFor(payment, payer.address)];
          return Promise.all(tabs.map((prepared) => post(payment, payer.sign(prepared))));
        };
        let answers = await signBoth();
        while (answers.every(isExpired)) answers = await signBoth();
        for (const answer of answers)
          assert.ok([200, 202, 409].includes(answer.status) || isExpired(answer), JSON.stringify(answer.body));
        const { last } = (await desk(payment)).body;
        assert.ok(last !== null, 'a signature was accepted');
        const done = await followOrSign(payment, payer);
        assert.equal(done.source.amountReceived ?? done.source.amount, payment.source.amount);
      });

      it('refuses what a wallet altered, and what was signed for another payment, by its field; nothing is stored', async () => {
        const [payment, other, payer] = [
          await create(family.chainId),
          await create(family.chainId),
          await family.payer(),
        ];
        const prepared = await preparedFor(payment, payer.address);
        const form = 'entry' in prepared ? '/entry' : '/transaction';
        const wrong = [
          ...(await family.altered(prepared, payer, payment)),
          ['signed for another payment', payer.sign(await preparedFor(other, payer.address)), form],
          ['as a text', { ...payer.sign(prepared), [form.slice(1)]: 'AAAA' }, form],
          ['with another field', { ...payer.sign(prepared), more: '1' }, '/more'],
        ] as const;
        for (const [what, body, pointer] of wrong) {
          const answer = await post(payment, body);
          assert.deepEqual(
            [answer.status, pointerOf(answer)],
            [400, pointer],
            `${what}: ${JSON.stringify(answer.body)}`,
          );
        }
        assert.equal((await desk(payment)).body.last, null);
        assert.equal((await sandbox.read(payment.id)).status, 'payment_unpaid');
      });

      it('prepares nothing for an account with too little, for no account, and for one of another chain', async () => {
        const [payment, another] = [await create(family.chainId), family.chainId === 501 ? stellar() : solana()];
        const bare =
          family.chainId === 501 ? Keypair.generate().publicKey.toBase58() : StellarKeypair.random().publicKey();
        const poor = await desk(payment, bare);
        assert.deepEqual([poor.status, pointerOf(poor)], [409, '/token'], JSON.stringify(poor.body));
        assert.deepEqual((await desk(payment)).body.authorizations, []);
        assert.deepEqual((await desk(payment, (await another.payer()).address)).body.authorizations, []);
        for (const text of ['', 'x'.repeat(101)]) {
          const answer = await desk(payment, text);
          assert.deepEqual([answer.status, pointerOf(answer)], [400, '/account']);
        }
      });
    });
  }

  /** Follows a payment to its payout. On a slow machine an authorization may expire before its relay is sent: then the payer signs again. */
  async function followOrSign(payment: Answer['body'], payer: Payer): Promise<Answer['body']> {
    await sandbox.until(async () => {
      if ((await sandbox.read(payment.id)).status !== 'payment_unpaid') return true;
      const { last } = (await desk(payment)).body;
      if (last?.status !== 'failed') return false;
      assert.equal(last.reason, 'expired', JSON.stringify(last));
      await post(payment, payer.sign(await preparedFor(payment, payer.address)));
      return false;
    });
    return sandbox.follow(payment.id);
  }

  function solana(): Family {
    const url = () => sandbox.file().chains['501']?.rpcUrl ?? '';
    const bytesOf = ({ transaction }: Answer['body']) => Buffer.from(transaction, 'base64');
    const keys = new Map<string, Keypair>();
    return {
      name: 'Solana',
      chainId: 501,
      asks: 'signTransaction',
      async payer() {
        const payer = Keypair.generate();
        const address = payer.publicKey.toBase58();
        keys.set(address, payer);
        await fundWallet(url(), address, { usdc: 10_000000n });
        const client = solanaClient(url());
        await sandbox.until(
          async () => (await client.balance(payer.publicKey, 'finalized').catch(() => null)) === 10_000000n,
        );
        return {
          address,
          sign(prepared) {
            const transaction = VersionedTransaction.deserialize(bytesOf(prepared));
            transaction.sign([payer]);
            return { chainId: 501, transaction: Buffer.from(transaction.serialize()).toString('base64') };
          },
          openWallet: (page) => solanaWallet(page, { secret: base58.encode(payer.secretKey), rpcUrl: url() }),
        };
      },
      async altered(prepared, { address }, { source }) {
        const payer = keys.get(address) ?? assert.fail();
        const { message } = VersionedTransaction.deserialize(bytesOf(prepared));
        const [to, amount] = [new PublicKey(source.receiverAddress), BigInt(Math.round(Number(source.amount) * 1e6))];
        const own = {
          ...{ payer, feePayer: message.staticAccountKeys[0]?.toBase58() ?? '', to, amount },
          blockhash: message.recentBlockhash,
        };
        const stranger = Keypair.generate();
        const body = async (more: object) => ({
          chainId: 501,
          transaction: await programTransaction({ ...own, ...more }),
        });
        return [
          ['another amount', await body({ amount: 1n }), '/transaction'],
          ['another receiver', await body({ to: stranger.publicKey }), '/transaction'],
          ['another fee payer', await body({ feePayer: stranger.publicKey.toBase58() }), '/transaction'],
          ['the payer as the fee payer', await body({ feePayer: address }), '/transaction'],
          ['another signer', await body({ signer: stranger }), '/transaction'],
          ['no signature', { chainId: 501, transaction: prepared.transaction }, '/transaction'],
          [
            'an entry of Stellar',
            { chainId: 501, entry: prepared.transaction.slice(0, 400), signature: 'AAAA' },
            '/entry',
          ],
        ];
      },
    };
  }

  function stellar(): Family {
    const url = () => sandbox.file().chains['1500']?.rpcUrl ?? '';
    const signed = (by: StellarKeypair, { entry, preimage }: Answer['body']) => ({
      chainId: 1500,
      entry,
      signature: by.sign(hash(Buffer.from(preimage, 'base64'))).toString('base64'),
    });
    return {
      name: 'Stellar',
      chainId: 1500,
      asks: 'SUBMIT_AUTH_ENTRY',
      async payer() {
        const payer = StellarKeypair.random();
        await fundAccount(url(), payer.publicKey(), { usdc: 10_0000000n });
        return {
          address: payer.publicKey(),
          sign: (prepared) => signed(payer, prepared),
          openWallet: (page) => freighter(page, { secret: payer.secret(), network: publicNetwork }),
        };
      },
      async altered(prepared, payer) {
        const good = payer.sign(prepared);
        const edited = (edit: (args: xdr.ScVal[], entry: xdr.SorobanAuthorizationEntry) => void) => {
          const entry = xdr.SorobanAuthorizationEntry.fromXDR(prepared.entry, 'base64');
          edit(entry.rootInvocation().function().contractFn().args(), entry);
          return { ...good, entry: entry.toXDR('base64') };
        };
        const amount = (args: xdr.ScVal[]) => {
          args[2] = xdr.ScVal.scvI128(
            new xdr.Int128Parts({ hi: xdr.Int64.fromString('0'), lo: xdr.Uint64.fromString('1') }),
          );
        };
        const receiver = (args: xdr.ScVal[]) => {
          args[1] = args[0] ?? assert.fail();
        };
        return [
          ['another amount', edited(amount), '/entry'],
          ['another receiver', edited(receiver), '/entry'],
          [
            'another nonce',
            edited((_args, entry) => entry.credentials().address().nonce(xdr.Int64.fromString('7'))),
            '/signature',
          ],
          ['another signer', signed(StellarKeypair.random(), prepared), '/signature'],
          ['no signature', { ...good, signature: 'AAAA' }, '/entry'],
          ['a transaction of Solana', { chainId: 1500, transaction: prepared.entry }, '/transaction'],
        ];
      },
    };
  }
});
