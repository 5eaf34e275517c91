/** A simulated Stellar: ledgers that close, nodes that report them, and customers who pay. */
import { Account, Keypair, Memo, Networks, Operation, StrKey, TransactionBuilder } from '@stellar/stellar-sdk';
import { type Chain, chainOf } from '../../../../domain/chains.ts';
import { formatAmount } from '../../../../domain/money.ts';
import type { Submitted } from '../../../../sandbox/stellar/transactions/envelope.ts';
import type { CustomerPayment, OpenChain, Random, SimulatedNode } from '../../kernel/ports.ts';
import { createSpells } from '../spells.ts';
import { createClosing } from './closing.ts';
import { assetOf, landing } from './landing.ts';
import { balanceKey, createLedgers, type Landed, native, sequenceKey } from './ledgers.ts';
import { answer } from './methods.ts';
import { createStellarNode, type StellarNode } from './node.ts';
import { read } from './transactions.ts';
import { createTruth } from './truth.ts';

const treasuryKey = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 0x5e));
const treasury = treasuryKey.publicKey();
const passphrase = Networks.PUBLIC;

export const ledger_ms = 6_000;
const firstLedger = 50_000;
const nodesLeast = 2;
const plenty = 10n ** 17n;
const gossipMost_ms = 1_200;
const receiversMost = 40;

const accountFrom = (random: Random): string => StrKey.encodeEd25519PublicKey(Buffer.from(random.bytes(32)));

export const openStellarChain: OpenChain = (kernel, chainId) => {
  const chain = chainOf(chainId);
  const { random, fails } = kernel;
  const receivers = Array.from({ length: receiversMost }, () => accountFrom(random));
  const closedAt_s = Math.floor(kernel.now_ms() / 1_000);
  const ledgers = createLedgers(
    { sequence: firstLedger, closedAt_s, landed: [] },
    holdings(chain, receivers),
    ledger_ms,
  );
  const forged: Landed[] = [];
  const memos: string[] = [];
  const closing = createClosing({ kernel, ledgers, passphrase });
  const truth = createTruth({ chain, ledgers });
  const count = nodesLeast + random.below(2);
  const liar = random.below(count);
  let given = 0;

  const nodes = Array.from({ length: count }, (_, number): StellarNode => {
    const spells = createSpells(kernel, { family: 'stellar', block_ms: ledger_ms, isLiar: number === liar });
    const { inclusion } = closing;
    return createStellarNode({ kernel, ledgers, spells, passphrase, treasury, number, tell, forged, inclusion });
  });

  function tell(submitted: Submitted): void {
    if (fails('stellar.queue.drops', 0.08)) return;
    kernel.after(random.below(gossipMost_ms), () => closing.take(submitted));
  }

  /** An unsigned transaction, because a customer's signature is never checked. */
  function paymentOf({
    memo,
    tokenAddress,
    amount,
    from,
  }: Pick<CustomerPayment, 'memo' | 'tokenAddress' | 'amount' | 'from'>): Submitted {
    // Equal payments of one account differ by their sequence numbers.
    const source =
      from === undefined ? new Account(accountFrom(random), '0') : new Account(from, String(random.below(2 ** 31)));
    const builder = new TransactionBuilder(source, {
      fee: '100',
      networkPassphrase: passphrase,
    })
      .addOperation(
        Operation.payment({ destination: treasury, asset: assetOf(tokenAddress), amount: formatAmount(amount, 7) }),
      )
      .setTimeout(0);
    const asId = memo !== null && /^\d+$/.test(memo) && random.next() < 0.5;
    if (memo !== null) builder.addMemo(asId ? Memo.id(memo) : Memo.text(memo));
    return read(builder.build().toEnvelope().toXDR('base64'), passphrase);
  }

  function pay(payment: CustomerPayment): void {
    if (payment.memo !== null) memos.push(payment.memo);
    closing.put(paymentOf(payment), fails('stellar.customer.slow', 0.05) ? 2 + random.below(20) : random.below(2));
  }

  /** Payments that nobody made, in the newest ledgers, to those who wait for one. */
  function forge(): void {
    const [token] = chain.tokens;
    const memo = memos[random.below(memos.length)] ?? null;
    if (!token) return;
    const { sequence, closedAt_s: at_s } = ledgers.head();
    const submitted = paymentOf({ memo, tokenAddress: token.address, amount: 10n ** 9n });
    const moved = { asset: token.address, from: submitted.source, to: treasury, memo, amount: 10n ** 9n };
    forged.push(landing(submitted, [moved], { passphrase, sequence, closedAt_s: at_s, order: 900 + forged.length }));
  }

  function tick(): void {
    const ledger = closing.close();
    if (ledger) {
      truth.changed();
      for (const node of nodes) {
        node.hear(ledger);
        for (const [source, { hash }] of node.waiting) if (closing.isOver(source, hash)) node.waiting.delete(source);
      }
    }
    for (const { spells, number } of nodes) {
      const begun = spells.draw();
      for (const spell of begun) kernel.note(`chain ${chainId} node ${number + 1}: ${spell}`);
      if (begun.includes('forges')) forge();
    }
    kernel.after(ledger_ms, tick);
  }
  kernel.after(ledger_ms, tick);

  const urlOf = (number: number) => `http://stellar-${number + 1}.simulated/`;
  return {
    chainId,
    family: 'stellar',
    nodes: nodes.map(
      (node): SimulatedNode => ({
        url: urlOf(node.number),
        ask(method, params) {
          if (method === 'sendTransaction') truth.receive(params, passphrase);
          return answer(node, method, params);
        },
      }),
    ),
    truth,
    treasury,
    pay,
    receiver: () => receivers[given++ % receiversMost] ?? treasury,
    calm() {
      for (const { spells, waiting } of nodes) {
        spells.calm();
        for (const each of waiting.values()) closing.take(each);
      }
      closing.calm();
    },
    variables: {
      [`RPC_URLS_${chainId}`]: nodes.map(({ number }) => urlOf(number)).join(','),
      [`POLL_MS_${chainId}`]: '4000',
      STELLAR_TREASURY_SECRET: treasuryKey.secret(),
      STELLAR_TREASURY_ADDRESS: treasury,
    },
  };
};

/** Initial state: the treasury's float, and accounts of merchants. */
function holdings({ tokens }: Chain, receivers: readonly string[]): ReadonlyMap<string, bigint> {
  const accounts = [treasury, ...receivers];
  const assets = [native, ...tokens.map(({ address }) => address)];
  const balance = (account: string) => (account === treasury ? plenty : 0n);
  return new Map([
    ...accounts.map((account) => [sequenceKey(account), BigInt(firstLedger - 1) << 32n] as const),
    ...accounts.flatMap((account) =>
      assets.map((asset) => [balanceKey(asset, account), asset === native ? plenty : balance(account)] as const),
    ),
  ]);
}
