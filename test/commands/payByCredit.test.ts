import assert from 'node:assert/strict';
import { currentState } from '../../commands/handle.ts';
import { createPayByCredit } from '../../commands/payByCredit.ts';
import { credit, earn } from '../../domain/credit.ts';
import { isRefusal } from '../../domain/decider.ts';
import { epochMs } from '../../domain/time.ts';
import { customerWallet, minute } from '../support/payments.ts';
import { accepted, processes } from '../support/processes.ts';

type EarnedOn = 8453 | 137 | 42161 | 1;

/** A contract's account that earned a cent on Base. @param whileQueried called while a node answers for the contract */
async function world(whileQueried: (earnOn: (chainId: EarnedOn) => Promise<void>, queries: number) => Promise<void>) {
  const { start, clock } = processes({ now: minute(6) });
  const handle = start();
  const facts = { cause: 'worker:test', appId: 'shop' } as const;
  const earnOn = async (chainId: EarnedOn) => {
    const earning = { account: customerWallet, paymentId: `on ${chainId}`, appId: 'shop', chainId, basisPoints: 100 };
    await accepted(
      handle(credit, customerWallet, (state) => earn(state, { ...earning, cents: 5_000n }, minute(6)), facts),
    );
  };
  await earnOn(8453);
  const queried: (readonly number[])[] = [];
  let acceptedOn: readonly number[] = [8453];
  const pay = createPayByCredit({
    handle: start(),
    clock,
    service: () => 'https://pay.example.com/v1/cashbacksign',
    isCurrency: () => true,
    signers: {
      canonical: (text) => text,
      isSignedBy: async () => false,
      async isAcceptedBy(_address, _message, chainIds) {
        queried.push(chainIds);
        await whileQueried(earnOn, queried.length);
        return chainIds.every((chainId) => acceptedOn.includes(chainId));
      },
    },
  });
  const request = {
    fromAddress: customerWallet,
    toHandle: 'shop',
    amountUsdCents: 5_001,
    timestamp_ms: epochMs(minute(6)),
    signature: '0x',
    amountLocal: null,
    currencyLocal: null,
    orderId: null,
    about: null,
  };
  return {
    queried,
    acceptOn: (chainIds: readonly number[]) => (acceptedOn = chainIds),
    pay: () => pay(request, 'shop', { cause: 'keyless' }),
    balance_cents: async () => (await currentState(start(), credit, customerWallet)).balance_cents,
  };
}

describe('paying by a contract’s credit', () => {
  const earnsOnPolygon = (earnOn: (chainId: EarnedOn) => Promise<void>, queries: number) =>
    queries === 1 ? earnOn(137) : Promise.resolve();

  it('spends nothing that a namesake on another chain earned while the contract was queried', async () => {
    const { pay, queried, balance_cents } = await world(earnsOnPolygon);
    assert.equal(await pay(), 'NOT_VALID_SIGN');
    assert.deepEqual(queried, [[8453], [137, 8453]]);
    assert.equal(await balance_cents(), 10_000n);
  });

  it('spends the money that the contract itself earned there meanwhile', async () => {
    const { pay, acceptOn, balance_cents } = await world(earnsOnPolygon);
    acceptOn([8453, 137]);
    assert.equal(await pay(), 'SUCCESS');
    assert.equal(await balance_cents(), 4_999n);
  });

  it('requests the message again when the account earns on a new chain at each query', async () => {
    const { pay, acceptOn, balance_cents } = await world((earnOn, queries) =>
      earnOn(([137, 42161, 1] as const)[queries - 1] ?? assert.fail('the contract is queried three times at most')),
    );
    acceptOn([8453, 137, 42161, 1]);
    const answer = await pay();
    assert.equal(isRefusal(answer) && answer.refused, 'unavailable');
    assert.equal(await balance_cents(), 20_000n);
  });
});
