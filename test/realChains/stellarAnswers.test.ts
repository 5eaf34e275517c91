import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Operation, TransactionBuilder } from '@stellar/stellar-sdk';
import fc from 'fast-check';
import { describeOnReal } from '../support/realNodes.ts';
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
import { askBoth, assertSameAnswer, type Both, call, type HttpAnswer, type Nodes, send } from './stellarComparison.ts';

/** Set it to repeat a run. */
const seed = Number(process.env['ANSWERS_SEED'] || randomInt(2 ** 31));
const generatedRuns = Number(process.env['ANSWERS_RUNS'] ?? 200);

describe('docs/real-chains.md', () => {
  it('lists the differences that the comparison with a Stellar node accepts, and no others', () => {
    const page = readFileSync(new URL('../../docs/real-chains.md', import.meta.url), 'utf8');
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
  before(async () => {
    pair = await startPair(holders, bareAccounts);
    started = await onBoth(async (side) => (await pair.latestLedger(side)) + 1);
  });

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

  describe('requests', () => {
    for (const [about, body] of Object.entries(bodies)) {
      it(about || 'an empty body', async () => {
        assertSameAnswer(about, await askBoth(pair.nodes, (url) => send(url, body)), meantFor('getNetwork'));
      });
    }
    for (const [about, { path = '/', init }] of Object.entries(exchanges)) {
      it(about, async () => {
        const answers = await askBoth(pair.nodes, (url) => send(`${url}${path}`, '', init));
        assertSameAnswer(about, answers, meantFor('getNetwork'));
      });
    }
  });

  describe('parameters', () => {
    let facts: Both<Facts>;
    before(async () => {
      facts = await onBoth(factsOf);
    });

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

    for (const method of methods) {
      it(method, async () => {
        const params = await onBoth((side) => paramsOf(method, facts[side]));
        const found: string[] = [];
        for (const [at, real] of params.real.entries()) {
          const answers = await both(pair.nodes, params.imitation[at], real, method);
          found.push(...differences(`${method} ${JSON.stringify(real)?.slice(0, 300)}`, answers, method));
        }
        assert.ok(found.length === 0, found.join('\n\n'));
      });
    }
  });

  describe('generated parameters', () => {
    it('of each method', async () => {
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

  describe('what comes of the same transactions', () => {
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
    const waiting = () => pair.account('waiting');
    const payment = () => Operation.payment({ destination: pair.issuer.publicKey(), asset: pair.token, amount: '1' });

    /** Statuses and error codes of one transaction after the other. */
    const compareStatuses = async (run: (side: Side) => Promise<readonly unknown[]>) => {
      const { imitation, real } = await onBoth(run);
      assert.deepEqual(imitation, real);
    };
    const statusOf = async (side: Side, transaction: AnyTransaction) => {
      const sent = await pair.send(side, transaction);
      return sentOutcome(transaction, sent, {});
    };
    const bumped = (inner: AnyTransaction, fee: string): AnyTransaction => {
      assert.ok(!('innerTransaction' in inner));
      const outer = TransactionBuilder.buildFeeBumpTransaction(pair.account('bumper'), fee, inner, passphrase);
      outer.sign(pair.account('bumper'));
      return outer;
    };

    it('are duplicates until a ledger holds them, not taken again for some ledgers, and then of a used number', () =>
      compareStatuses(async (side) => {
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
      compareStatuses(async (side) => {
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
      compareStatuses(async (side) => {
        const maxTime = Math.floor(Date.now() / 1_000) - 1;
        return [
          await statusOf(
            side,
            await pair.signed(waiting(), [payment()], { timebounds: { minTime: 0, maxTime } })(side),
          ),
        ];
      }));
  });
});

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
