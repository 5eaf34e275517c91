import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { Memo, Operation, TransactionBuilder } from '@stellar/stellar-sdk';
import fc from 'fast-check';
import { describeOnReal } from '../support/realNodes.ts';
import { type Both, call, type HttpAnswer, type Nodes, onBoth as onNodes, post, seedFrom } from './comparison.ts';
import { bodies, exchanges, type Facts, methods, paramsOf } from './stellar/calls.ts';
import { meantDifferences, meantFor } from './stellar/differences.ts';
import { generatedCall, placed } from './stellar/generated.ts';
import { eventList, landedOutcome, sentOutcome } from './stellar/outcomes.ts';
import {
  type AnyTransaction,
  onBoth,
  passphrase,
  resultIn,
  type Side,
  type StellarPair,
  startPair,
} from './stellar/pair.ts';
import {
  bareAccounts,
  callScenarios,
  holders,
  landingScenarios,
  refusedScenarios,
  type Scenario,
} from './stellar/scenarios.ts';
import { assertSameAnswer } from './stellarComparison.ts';

/** Set it to repeat a run. */
const seed = seedFrom('ANSWERS_SEED');
const generatedRuns = Number(process.env['ANSWERS_RUNS'] ?? 200);

describe('docs/contribute/real-chains.md', () => {
  it('lists the differences that the comparison with a Stellar node accepts, and no others', () => {
    const page = readFileSync(new URL('../../docs/contribute/real-chains.md', import.meta.url), 'utf8');
    const [, section = ''] = page.split('## Stellar\n');
    const [, table = ''] = section.split('|---|---|---|---|\n');
    const rows = (table.split('\n\n')[0] ?? '').trim().split('\n');
    const expected = meantDifferences.map(
      (each) => `| ${each.method} | ${each.real} | ${each.imitation} | ${each.reason} |`,
    );
    assert.deepEqual(rows, expected);
  });
});

describeOnReal(['STELLAR'], 'the imitated Stellar answers as a node does', () => {
  let pair: StellarPair;
  /** First ledger of the transactions that are compared. */
  let started: Both<number>;
  let facts: Both<Facts>;
  before(async () => {
    pair = await startPair(holders, bareAccounts);
    started = await onBoth(async (side) => (await pair.latestLedger(side)) + 1);
  });
  // The network would use the processors of the next spec files.
  after(() => pair?.stop());

  /** Sends a scenario's transaction to both networks. @param lands whether to wait until ledgers hold it */
  async function compare({ title, make, isCall = false }: Scenario, lands: boolean): Promise<string | undefined> {
    const { imitation, real } = await onBoth(async (side) => {
      const transaction = await make(side);
      const sent = await pair.send(side, transaction);
      const outcome = { sent: sentOutcome(transaction, sent, { isCall }) };
      if (!lands || sent.answer['status'] !== 'PENDING') return outcome;
      return { ...outcome, landed: landedOutcome(await pair.landed(side, sent.hash), { isCall }) };
    });
    return difference(title, imitation, real);
  }

  const compareAll = async (scenarios: readonly Scenario[], lands: boolean) => {
    const differences = await Promise.all(scenarios.map((scenario) => compare(scenario, lands)));
    const found = differences.filter((each) => each !== undefined);
    assert.ok(found.length === 0, found.join('\n\n'));
  };

  /** A payment inside a fee bump, some ledgers old. */
  async function factsOf(side: Side): Promise<Facts> {
    const payment = Operation.payment({ destination: pair.issuer.publicKey(), asset: pair.token, amount: '1' });
    const inner = await pair.signed(pair.account('receiver'), [payment])(side);
    assert.ok(!('innerTransaction' in inner));
    const outer = TransactionBuilder.buildFeeBumpTransaction(pair.account('bumper'), '3000', inner, passphrase);
    outer.sign(pair.account('bumper'));
    const { hash } = await pair.send(side, outer);
    const ledger = Number((await pair.landed(side, hash))['ledger']);
    await pair.reached(side, ledger + 2);
    return { ledger, hash, innerHash: inner.hash().toString('hex'), pair, side };
  }

  /** Calls a method with usual, missing, wrong and extreme parameters. */
  async function compareCalls(method: string): Promise<void> {
    const params = await onBoth((side) => paramsOf(method, facts[side]));
    const found: string[] = [];
    for (const [at, real] of params.real.entries()) {
      const answers = await both(pair.nodes, params.imitation[at], real, method);
      found.push(...differences(`${method} ${JSON.stringify(real)?.slice(0, 300)}`, answers, method));
    }
    assert.ok(found.length === 0, found.join('\n\n'));
  }

  const waiting = () => pair.account('waiting');
  const payment = () => Operation.payment({ destination: pair.issuer.publicKey(), asset: pair.token, amount: '1' });
  const hashOf = (transaction: AnyTransaction) => transaction.hash().toString('hex');
  const statusOf = async (side: Side, transaction: AnyTransaction) =>
    sentOutcome(transaction, await pair.send(side, transaction), {});
  const foundAs = async (side: Side, transaction: AnyTransaction) =>
    resultIn((await call(pair.nodes[side], 'getTransaction', { hash: hashOf(transaction) })).body)['status'];

  /** @throws AssertionError unless the results of both are equal */
  async function compareOutcomes<T>(run: (side: Side) => Promise<T>): Promise<void> {
    const { imitation, real } = await onBoth(run);
    assert.deepEqual(imitation, real);
  }

  /** Sends a transaction with the number that is due and waits for it. Returns whether it had the number of another one. */
  async function nextLands(side: Side, other: AnyTransaction): Promise<readonly unknown[]> {
    const next = await pair.signed(waiting(), [payment()])(side);
    const sent = await statusOf(side, next);
    const { status } = await pair.landed(side, hashOf(next));
    return [sequenceOf(next) === sequenceOf(other), sent, status];
  }

  describe('requests', () => {
    for (const [about, body] of Object.entries(bodies)) {
      it(about || 'an empty body', async () => {
        assertSameAnswer(about, await onNodes(pair.nodes, (url) => post(url, body)), meantFor('getNetwork'));
      });
    }
    for (const [about, { path = '/', init }] of Object.entries(exchanges)) {
      it(about, async () => {
        const answers = await onNodes(pair.nodes, (url) => post(`${url}${path}`, '', init));
        assertSameAnswer(about, answers, meantFor('getNetwork'));
      });
    }
  });

  describe('parameters', () => {
    before(async () => {
      facts = await onBoth(factsOf);
    });

    for (const method of methods) it(method, () => compareCalls(method));
  });

  describe('generated parameters', () => {
    it('for each method', async () => {
      const facts = await onBoth(async (side) => {
        // No transaction is on its way: pages from here on are empty on both networks.
        const ledger = await pair.latestLedger(side);
        return { ledger, hash: '', innerHash: '', pair, side };
      });
      const property = fc.asyncProperty(generatedCall, async ([method, params]) => {
        const [imitated, real] = [placed(params, facts.imitation), placed(params, facts.real)];
        const answers = await both(pair.nodes, imitated, real, method);
        assertSameAnswer(`${method} ${JSON.stringify(real)}`, answers, meantFor(method));
      });
      // A failure prints the seed.
      await fc.assert(property, { seed, numRuns: generatedRuns });
    });
  });

  describe('results of the same transactions', () => {
    it('payments, and other classic operations', () => compareAll(landingScenarios(pair), true));
    it('calls of contracts', () => compareAll(callScenarios(pair), true));
    it('refused transactions', () => compareAll(refusedScenarios(pair), false));

    it('the same balances', async () => {
      const { imitation, real } = await onBoth((side) => Promise.all(holders.map((name) => pair.balance(side, name))));
      assert.deepEqual(imitation, real);
    });

    it('the same fields in lists of events, transactions and ledgers', async () => {
      for (const method of ['getEvents', 'getTransactions', 'getLedgers']) {
        const answers = await onBoth((side) => call(pair.nodes[side], method, { startLedger: started[side] }));
        assertSameAnswer(method, answers);
      }
    });

    it('the same events, one for each movement and fee', async () => {
      const { imitation, real } = await onBoth(async (side) => {
        const params = { startLedger: started[side], pagination: { limit: 1_000 } };
        return eventList(resultIn((await call(pair.nodes[side], 'getEvents', params)).body));
      });
      assert.deepEqual(imitation, real);
    });
  });

  describe('transactions that wait', () => {
    const bumped = (inner: AnyTransaction, fee: string): AnyTransaction => {
      assert.ok(!('innerTransaction' in inner));
      const outer = TransactionBuilder.buildFeeBumpTransaction(pair.account('bumper'), fee, inner, passphrase);
      outer.sign(pair.account('bumper'));
      return outer;
    };

    it('are duplicates until a ledger holds them, refused for some ledgers, and then of a used number', () =>
      compareOutcomes(async (side) => {
        const transaction = await pair.signed(waiting(), [payment()])(side);
        await pair.closed(side);
        const first = [await statusOf(side, transaction), await statusOf(side, transaction)];
        const ledger = Number((await pair.landed(side, transaction.hash().toString('hex')))['ledger']);
        const landed = await statusOf(side, transaction);
        await pair.reached(side, ledger + 7);
        const later = await statusOf(side, transaction);
        await pair.reached(side, ledger + 10);
        return [...first, landed, later, await statusOf(side, transaction)];
      }));

    it('keep others of their account waiting, and are replaced for ten times their fee', () =>
      compareOutcomes(async (side) => {
        const inner = await pair.signed(waiting(), [payment()], { fee: '100' })(side);
        const next = await pair.signed(waiting(), [payment()], { skip: 1 })(side);
        await pair.closed(side);
        const sent = [];
        for (const each of [inner, next, bumped(inner, '500'), bumped(inner, '2000'), inner, bumped(inner, '2000')])
          sent.push(await statusOf(side, each));
        const hash = inner.hash().toString('hex');
        const { feeBump, txHash } = await pair.landed(side, hash);
        return [...sent, feeBump, txHash === hash, await statusOf(side, inner)];
      }));

    it('are refused once their time has passed', () =>
      compareOutcomes(async (side) => {
        const maxTime = Math.floor(Date.now() / 1_000) - 1;
        return [
          await statusOf(
            side,
            await pair.signed(waiting(), [payment()], { timebounds: { minTime: 0, maxTime } })(side),
          ),
        ];
      }));

    it('are dropped when their time passes while they wait, and their number stays free', async () => {
      const maxTime = Math.floor(Date.now() / 1_000) + expiry_s;
      const timebounds = { minTime: 0, maxTime };
      const transactions = await onBoth((side) => pair.signed(waiting(), [payment()], { timebounds })(side));
      const goOn = pair.stall();
      const seen = async (side: Side) => [
        await statusOf(side, transactions[side]),
        await foundAs(side, transactions[side]),
      ];
      await compareOutcomes(seen);
      await compareOutcomes(seen);
      await sleep(maxTime * 1_000 + 1_500 - Date.now());
      await compareOutcomes(seen);
      goOn();
      await compareOutcomes(async (side) => {
        await pair.closed(side);
        await pair.closed(side);
        return [await seen(side), await nextLands(side, transactions[side])];
      });
    });
  });

  describe('after a restart', () => {
    interface Earlier {
      readonly landed: AnyTransaction;
      readonly lost: AnyTransaction;
      readonly outcome: object;
      readonly ledger: number;
      readonly events: readonly string[];
    }
    let earlier: Both<Earlier>;

    const outcomeOf = async (side: Side, transaction: AnyTransaction) =>
      landedOutcome(await pair.landed(side, hashOf(transaction)), {});
    const eventsOf = async (side: Side, ledger: number) => {
      const params = { startLedger: started[side], endLedger: ledger + 1, pagination: { limit: 1_000 } };
      return eventList(resultIn((await call(pair.nodes[side], 'getEvents', params)).body));
    };

    before(async () => {
      const landed = await onBoth(async (side) => {
        const transaction = await pair.signed(waiting(), [payment()], { memo: Memo.text('before') })(side);
        await pair.send(side, transaction);
        const ledger = Number((await pair.landed(side, hashOf(transaction)))['ledger']);
        return { transaction, ledger };
      });
      facts = await onBoth(factsOf);
      pair.stall();
      earlier = await onBoth(async (side) => {
        const { transaction, ledger } = landed[side];
        const lost = await pair.signed(waiting(), [payment()])(side);
        assert.equal((await pair.send(side, lost)).answer['status'], 'PENDING');
        const outcome = await outcomeOf(side, transaction);
        return { landed: transaction, lost, outcome, ledger, events: await eventsOf(side, ledger) };
      });
      await pair.restart();
    });

    for (const method of methods) it(`to ${method}`, () => compareCalls(method));

    it('to a landed transaction and the events until then, as before', async () => {
      await compareOutcomes(async (side) => {
        const { landed, ledger, ...known } = earlier[side];
        const outcome = await outcomeOf(side, landed);
        const events = await eventsOf(side, ledger);
        assert.deepEqual({ outcome, events }, { outcome: known.outcome, events: known.events });
        // Nodes that start apply the last ledgers again, and accept none of their transactions for a while.
        await pair.reached(side, ledger + 12);
        return { outcome, events, sent: await statusOf(side, landed) };
      });
    });

    it('to a transaction that waited: it is lost, and its number remains free', () =>
      compareOutcomes(async (side) => {
        const { lost } = earlier[side];
        await pair.closed(side);
        const sent = [await foundAs(side, lost), await statusOf(side, lost)];
        return [sent, (await pair.landed(side, hashOf(lost)))['status']];
      }));
  });
});

/** How long a transaction waits until its time passes. */
const expiry_s = 8;

/** Sequence number of the inner payment. */
function sequenceOf(transaction: AnyTransaction): string {
  return 'innerTransaction' in transaction ? transaction.innerTransaction.sequence : transaction.sequence;
}

function difference(title: string, imitation: object, real: object): string | undefined {
  try {
    assert.deepEqual(imitation, real);
    return undefined;
  } catch (error) {
    return `${title}: + imitation - real node\n${error instanceof Error ? error.message : error}`;
  }
}

async function both(nodes: Nodes, imitated: unknown, real: unknown, method: string): Promise<Both<HttpAnswer>> {
  const answers = await Promise.all([call(nodes.imitation, method, imitated), call(nodes.real, method, real)]);
  return { imitation: answers[0], real: answers[1] };
}

function differences(asked: string, answers: Both<HttpAnswer>, method: string): readonly string[] {
  try {
    assertSameAnswer(asked, answers, meantFor(method));
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
