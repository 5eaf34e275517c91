import assert from 'node:assert/strict';
import { isRefusal } from '../../../domain/decider.ts';
import * as transfers from '../../../domain/transfer/leg.ts';
import { checkDied, checkSettle, checkSign } from '../../../domain/transfer/record.ts';
import type { DeathProof, SignedAttempt } from '../../../domain/transfer/shapes.ts';
import {
  attempt,
  customerWallet,
  ethereumUsdc,
  feeCaps,
  landed,
  merchantWallet,
  minute,
  of,
  polygonUsdc,
} from '../../support/payments.ts';

const order: transfers.Order = {
  chainId: 1,
  token: ethereumUsdc.token,
  receiver: merchantWallet,
  receiverMemo: null,
  amount: of('10.00'),
};
const leg = (...attempts: SignedAttempt[]) => attempts.reduce(transfers.signed, transfers.newLeg(order));
const first = attempt(1, { fee: feeCaps(100) });

const nonceUsed: DeathProof = { reason: 'nonceUsed', detail: 'transaction 0xaa used nonce 7' };

const verdict = (current: transfers.TransferLeg, next: SignedAttempt): string => {
  const checked = checkSign(current, next);
  if (checked === 'ok') return 'ok';
  return isRefusal(checked) ? checked.message : 'already done';
};

describe('an owed transfer', () => {
  it('accepts a first attempt for exactly the ordered transfer', () => {
    assert.equal(verdict(leg(), first), 'ok');
    const strays: Partial<SignedAttempt>[] = [
      { amount: of('10.000001').toString() },
      { amount: of('9.99').toString() },
      { receiver: customerWallet },
      { receiverMemo: '7' },
      { chainId: 137 },
      { token: polygonUsdc.token },
    ];
    for (const stray of strays) {
      assert.match(verdict(leg(), { ...first, ...stray }), /not the one that was ordered/, JSON.stringify(stray));
    }
  });

  it('counts its attempts without gaps: a reader of an older stream must read again', () => {
    assert.match(verdict(leg(), attempt(2)), /attempt 1 is next/);
    assert.match(verdict(leg(first), attempt(1, { fee: feeCaps(200) })), /attempt 2 is next/);
  });

  it('accepts the same bytes once', () => {
    assert.equal(verdict(leg(first), first), 'already done');
    assert.equal(verdict(transfers.died(leg(first), 1, nonceUsed), first), 'already done');
  });

  describe('with a live attempt accepts only its fee bump', () => {
    const bump = (over: Partial<SignedAttempt>) =>
      verdict(leg(first), { ...attempt(2, { fee: feeCaps(113) }), ...over });

    it('same nonce, every cap higher', () => {
      assert.equal(bump({}), 'ok');
    });

    it('not one with a cap that is equal, lower or missing', () => {
      const { maxFeePerGas, gas } = feeCaps(113) as Record<string, string>;
      for (const fee of [
        feeCaps(100),
        feeCaps(99),
        { ...feeCaps(113), maxPriorityFeePerGas: '100' },
        { maxFeePerGas, gas },
      ]) {
        assert.match(bump({ fee: fee as Record<string, string> }), /can still land/, JSON.stringify(fee));
      }
    });

    it('not one under another nonce or from another account', () => {
      assert.match(bump({ nonce: '8' }), /can still land/);
      assert.match(bump({ account: customerWallet }), /can still land/);
    });

    it('not one if the chain has no nonce, or no caps to compare', () => {
      const solana = { ...first, nonce: null };
      assert.match(verdict(leg(solana), attempt(2, { nonce: null, fee: feeCaps(113) })), /can still land/);
      const flat = { ...first, fee: { gasPrice: '100' } };
      assert.match(verdict(leg(flat), attempt(2, { fee: { gasPrice: '200' } })), /can still land/);
    });

    it('measured against the latest live one', () => {
      const bumped = leg(first, attempt(2, { fee: feeCaps(113) }));
      assert.match(verdict(bumped, attempt(3, { fee: feeCaps(112) })), /attempt 2 can still land/);
      assert.equal(verdict(bumped, attempt(3, { fee: feeCaps(128) })), 'ok');
    });
  });

  describe('with only dead attempts', () => {
    const dead = transfers.died(leg(first), 1, nonceUsed);

    it('accepts another nonce', () => {
      assert.equal(verdict(dead, attempt(2, { nonce: '8' })), 'ok');
    });

    it('accepts no nonce that was used up, however high the fee', () => {
      assert.match(verdict(dead, attempt(2, { fee: feeCaps(500) })), /nonce 7 is used up/);
      assert.equal(verdict(dead, attempt(2, { account: customerWallet })), 'ok', 'another account counts by itself');
    });
  });

  describe('with only lapsed attempts', () => {
    const lapsed = transfers.died(leg(first), 1, { reason: 'validityPassed', detail: 'ledger 9 closed' });

    it('accepts their nonce again, which is not used up, or another when that was cancelled', () => {
      assert.equal(transfers.noncesUsedUp(lapsed), 0);
      assert.equal(verdict(lapsed, attempt(2, { fee: feeCaps(50) })), 'ok');
      assert.equal(verdict(lapsed, attempt(2, { nonce: '8' })), 'ok');
    });

    it('is bound to the nonce again once it is signed, and has used it up when that dies by another’s use', () => {
      const second = attempt(2, { fee: feeCaps(50) });
      const again = transfers.signed(lapsed, second);
      assert.deepEqual(transfers.liveAttempts(again), [second]);
      assert.match(verdict(again, attempt(3, { nonce: '8' })), /attempt 2 can still land/);
      const used = transfers.died(again, 2, nonceUsed);
      assert.equal(transfers.noncesUsedUp(used), 1);
      assert.match(verdict(used, attempt(3, { fee: feeCaps(500) })), /nonce 7 is used up/);
    });

    it('never settles them', () => {
      const settled = { attempt: 1, hash: first.hash, blockNumber: '1', blockHash: 'x', confirmedAt: minute(9) };
      const refusal = checkSettle(lapsed, settled);
      assert.match(typeof refusal === 'object' && 'refused' in refusal ? refusal.message : '', /proven dead/);
      assert.deepEqual(checkDied(lapsed, 1, nonceUsed), []);
    });
  });

  it('accepts nothing more once it is settled', () => {
    const settled = transfers.settle(leg(first), landed(first));
    assert.match(verdict(settled, attempt(2, { fee: feeCaps(113) })), /settled/);
  });

  it('accepts a bounded number of attempts', () => {
    const many = Array.from({ length: transfers.attemptsMax }, (_, i) => attempt(i + 1, { fee: feeCaps(100 + i) }));
    const next = attempt(transfers.attemptsMax + 1, { fee: feeCaps(1_000) });
    assert.match(verdict(leg(...many), next), /100 attempts/);
    assert.equal(verdict(transfers.withMoreAttempts(leg(...many)), next), 'ok');
    assert.equal(
      verdict(leg(...many.slice(1).map((a, i) => ({ ...a, attempt: i + 1 }))), { ...next, attempt: 100 }),
      'ok',
    );
  });
});
