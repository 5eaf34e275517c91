import assert from 'node:assert/strict';
import { describeOnReal } from '../support/realNodes.ts';
import { landedOutcome, sentOutcome } from './stellar/outcomes.ts';
import { onBoth, type StellarPair, startPair } from './stellar/pair.ts';
import {
  bareAccounts,
  callScenarios,
  holders,
  landingScenarios,
  refusedScenarios,
  type Scenario,
} from './stellar/scenarios.ts';

describeOnReal(['STELLAR'], 'the imitated Stellar answers as a node does', () => {
  let pair: StellarPair;
  before(async () => {
    pair = await startPair(holders, bareAccounts);
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

  describe('what comes of the same transactions', () => {
    it('payments, and other classic operations', () => compareAll(landingScenarios(pair), true));
    it('calls of contracts', () => compareAll(callScenarios(pair), true));
    it('refused transactions', () => compareAll(refusedScenarios(pair), false));
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
