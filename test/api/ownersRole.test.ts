import assert from 'node:assert/strict';
import { Unavailable } from '../../commands/ports.ts';
import { ApiError } from '../../src/api/errors.ts';
import { countedCommands, type OwnersCommands, personCommands } from '../../src/api/owners.ts';
import { type Rates, unlimited } from '../../src/api/rateLimits.ts';
import type { Core } from '../../src/core.ts';

const by = { cause: 'developer:ada' } as const;
const wallet = { chainId: 1, tokenSymbol: 'USDC', receiverAddress: '0xShop' } as const;

describe('changes of an app’s settings', () => {
  it('are counted for each app; protective changes are always possible', async () => {
    const seen: string[] = [];
    const rates: Rates = {
      count: async (name, who) => {
        seen.push(`${name} ${who}`);
        return { name, allowed: false, remaining: 0, reset_s: 60, requestsMax: 1, window_s: 60 };
      },
    };
    const done = async () => ({ position: null });
    const commands = new Proxy({}, { get: () => done }) as OwnersCommands;
    const limited = countedCommands(commands, rates);
    const key = { name: 'till', scope: 'orders', expiresAt: null } as const;
    const ordinary = [
      () => limited.setProfile('merchant_shop', {}, by),
      () => limited.setLogo('merchant_shop', null, by),
      () => limited.requestSettlement('merchant_shop', wallet, by),
      () => limited.setWebhookUrl('merchant_shop', null, by),
      () => limited.rotateSecret('merchant_shop', by),
      () => limited.issueKey('merchant_shop', key, by),
      () => limited.renameKey('merchant_shop', 'k1', 'till', by),
    ];
    for (const command of ordinary)
      await assert.rejects(command, (error) => error instanceof ApiError && error.code === 'rateLimited');
    assert.deepEqual(seen, Array(ordinary.length).fill('changes merchant_shop'));
    assert.deepEqual(await limited.cancelSettlement('merchant_shop', by), { position: null });
    assert.deepEqual(await limited.revokeKey('merchant_shop', 'k1', by), { position: null });
  });

  describe('are answered once they are in force', () => {
    const waits: string[] = [];
    const reached = (name: string, end: () => Promise<unknown>) => async () => {
      waits.push(name);
      await end();
    };
    const ownersWith = (end: () => Promise<unknown>) =>
      personCommands(
        { merchants: {}, projected: reached('projected', end), caughtUp: reached('caughtUp', end) } as unknown as Core,
        unlimited,
      );
    beforeEach(() => {
      waits.length = 0;
    });

    it('waits for a change, and for an earlier one with the same content', async () => {
      const { shown } = ownersWith(async () => {});
      await shown({ position: 7n });
      await shown({ position: null });
      assert.deepEqual(waits, ['projected', 'caughtUp']);
    });

    it('answers 503 with the next step while the read models are behind', async () => {
      const { shown } = ownersWith(async () => {
        throw new Unavailable('behind');
      });
      for (const position of [7n, null])
        await assert.rejects(
          () => shown({ position }),
          (error) => error instanceof ApiError && error.code === 'unavailable' && /recorded/.test(error.message),
        );
    });
  });
});
