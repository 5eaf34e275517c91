import assert from 'node:assert/strict';
import { PublicKey } from 'solana-web3-v1';
import { transferOf } from '../../../commands/chainPorts.ts';
import { PayoutBlocked, SigningRefused, type TransferOrder, type Unsigned } from '../../../commands/transferPorts.ts';
import { chainOf, type Token } from '../../../domain/chains.ts';
import { plantMint } from '../../../sandbox/solana/controls.ts';
import { endowToken } from '../../../sandbox/solana/endow.ts';
import { transferInstructions } from '../../../sandbox/solana/wallet.ts';
import { familyAddresses } from '../../../src/chains/families.ts';
import { createSolanaSweep } from '../../../src/chains/solana/deposits/sweep.ts';
import { type TransactionTerms, transferMessage } from '../../../src/chains/solana/payouts/transaction.ts';
import { ownerKey, ownerScheme } from '../../../src/chains/solana/signer/keys.ts';
import { transfersIn } from '../../../src/chains/solana/signer/signer.ts';
import { tokenAccountOf } from '../../../src/chains/solana/tokenProgram.ts';
import { withToken } from '../../support/catalogue.ts';
import * as p from '../../support/payments.ts';
import { flushed } from './deposits/flushing.ts';
import { watching } from './payins/watching.ts';
import {
  depositSeed,
  orderTo,
  payout,
  payoutReference,
  type SolanaWorld,
  signal,
  solanaWorld,
  usdcToken,
} from './world.ts';

const mint = '2KW2XRd9kwqet15Aha2oK3tYvd3nWbTFH1MBiRAv1BE1';
const second: Token = { symbol: 'USDT', address: mint, decimals: 9 };
const amount = 5_000_000000n;

describe('a second token on Solana', () => {
  withToken(501, second);
  let world: SolanaWorld;
  let treasury: string;
  beforeEach(async () => {
    world = await solanaWorld({ slot_ms: 20 });
    treasury = world.treasury.publicKey.toBase58();
    await plantMint(world.solana.rpcUrl, mint, second.decimals);
    world.settle();
  });
  afterEach(() => world.lab.stop());

  const fund = async (wallet: string, units: bigint) => {
    await endowToken(world.solana.rpcUrl, wallet, { mint, decimals: second.decimals, amount: units });
    world.settle(world.solana.chain.finality.finalized_slots);
  };
  const held = async (owner: string, token: Token): Promise<bigint> => {
    const account = new PublicKey(tokenAccountOf(owner, token.address));
    const { value } = await world.lab.connection.getParsedAccountInfo(account, 'processed');
    if (value === null || !('parsed' in value.data)) return 0n;
    return BigInt(value.data.parsed.info.tokenAmount.amount);
  };
  const ordered = (receiver: string) => orderTo(receiver, amount, { token: second });

  describe('is paid out', () => {
    it('in itself, and no USDC moves', async () => {
      await fund(treasury, 2n * amount);
      const receiver = String(world.nobody());
      const attempt = await world.attemptTo(ordered(receiver));
      await world.rail.broadcast(attempt.bytes);
      world.settle();
      assert.equal((await world.rail.fate([attempt], signal)).kind, 'final');
      assert.equal(await held(receiver, second), amount);
      assert.equal(await held(receiver, usdcToken), 0n);
      assert.equal(await held(treasury, usdcToken), 1_000_000000n);
    });

    it('not at all when the treasury has only USDC', async () => {
      const isFloat = (error: unknown) => error instanceof PayoutBlocked && error.reason === 'float';
      await assert.rejects(world.rail.numbering.prepare(ordered(String(world.nobody()))), isFloat);
    });

    it('from a float of its own', async () => {
      await fund(treasury, 7n);
      const { tokens } = await world.rail.balances(signal);
      assert.deepEqual(tokens, { [usdcToken.address]: 1_000_000000n, [mint]: 7n });
    });
  });

  describe('is signed', () => {
    const terms: TransactionTerms = { blockhash: mint, units: 80_000, price_microLamports: 1_000n };
    const reference = payoutReference(orderTo(treasury));
    const messageOf = (order: TransferOrder) => transferMessage(treasury, order, reference, terms);
    const unsignedOf = (order: TransferOrder, message: Uint8Array): Unsigned => ({
      ...{ chainId: 501, account: treasury, nonce: null, order, validUntil: '150', fee: {} },
      payload: { message: Buffer.from(message).toString('base64') },
    });
    const isMismatch = (error: unknown) => error instanceof SigningRefused && error.reason === 'mismatch';

    it('for an order of itself alone: a message that moves USDC is refused, and the reverse', async () => {
      const receiver = String(world.nobody());
      const [own, other] = [ordered(receiver), orderTo(receiver, amount)];
      await world.signer.sign(unsignedOf(own, messageOf(own)), payout);
      for (const [order, moved] of [
        [own, other],
        [other, own],
        [own, { ...own, token: { ...second, decimals: 6 } }],
      ] as const)
        await assert.rejects(world.signer.sign(unsignedOf(order, messageOf(moved)), payout), isMismatch);
    });

    it('by the content of the message, not by its builder', () => {
      const receiver = String(world.nobody());
      assert.deepEqual(transfersIn(messageOf(ordered(receiver))), [
        {
          source: tokenAccountOf(treasury, mint),
          mint,
          destination: tokenAccountOf(receiver, mint),
          authority: treasury,
          amount,
          decimals: 9,
        },
      ]);
    });
  });

  describe('is received', () => {
    const salt = '0d'.repeat(32);
    const deposit = ownerKey(depositSeed, salt).address;

    /** Pays the deposit in both tokens. */
    async function paid() {
      const payer = await world.lab.person();
      await fund(payer.publicKey.toBase58(), amount);
      await world.lab.pay({ from: payer, to: new PublicKey(deposit), amount: 3n });
      const transfer = { from: payer.publicKey, to: new PublicKey(deposit), mint, decimals: 9, amount };
      await world.lab.send(await world.lab.signed(payer, await transferInstructions(transfer)));
      world.settle();
      const { ingester, poll } = watching(world, [new PublicKey(deposit)]);
      const logs = (await poll('final'))?.logs ?? [];
      return { ingester, logs };
    }

    it('as itself', async () => {
      const { ingester, logs } = await paid();
      const seen = logs.map((log) => [log.token.address, log.amount] as const);
      assert.deepEqual(
        new Map(seen),
        new Map([
          [usdcToken.address, 3n],
          [mint, amount],
        ] as const),
      );
      const [found] = await ingester.lookUp(logs.find(({ token }) => token.address === mint)?.txHash ?? '', signal);
      assert.deepEqual([found?.token.address, found?.amount], [mint, String(amount)]);
    });

    it('and swept beside USDC, each from its own account', async () => {
      const { logs } = await paid();
      const transfers = logs.map((log) => transferOf(501, log));
      const created = p.created({ from: p.asset(501) });
      assert.ok(created.type === 'PaymentCreated');
      const at = { scheme: ownerScheme, address: deposit, salt, memo: null, contract: null, contractMemo: null };
      const first = { ...created, data: { ...created.data, deposit: at } };
      const payins = transfers.flatMap((payin) => [p.detected(payin), p.confirmed(payin)]);
      const payment = p.paymentAfter([first, ...payins, p.expired()]);
      const sweep = createSolanaSweep(world.config(), async () => payment);
      const asked = [{ address: deposit, paymentId: payment.terms.paymentId }];
      const found = await sweep.held(asked, signal);
      const { parts } = await sweep.plan(found, 8, signal);
      assert.deepEqual(
        parts.map(({ token, deposits }) => [token, deposits.map((each) => each.amount)]),
        [
          [usdcToken, [3n]],
          [second, [amount]],
        ],
      );
      for (const each of found) assert.equal((await flushed(world, each)).kind, 'final');
      assert.equal(await held(treasury, second), amount);
      assert.deepEqual(await sweep.held(asked, signal), []);
    });
  });

  it('is never a receiver’s wallet', () => assert.equal(familyAddresses.canonical(chainOf(501), mint), null));
});
