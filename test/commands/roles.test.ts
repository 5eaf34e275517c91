/** Every role with every command: the commands obey the table of permissions. */
import assert from 'node:assert/strict';
import { createRoleCheck } from '../../commands/handle.ts';
import { createRedeliver, createSendTest } from '../../commands/sendWebhook.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { defaultChoice } from '../../domain/merchant/notifications.ts';
import { type Action, actions, allows, teamRoles } from '../../domain/merchant/roles.ts';
import { instant } from '../../domain/time.ts';
import { randomIds } from '../../src/process/system.ts';
import { ownersDeps } from '../api/owners.ts';
import { commandsOn, goodRequest } from '../api/world.ts';

const appId = 'wallet_demo';
const by = (developerId: string) => ({ cause: `developer:${developerId}` }) as const;
const operator = { cause: 'operator:spec' } as const;
/** A person for each role, and people without a role. */
const people = { owner: 'olga', developer: 'dora', operations: 'otto', readOnly: 'rita' } as const;
const outsiders = { stranger: 'eve', removed: 'rex', invited: 'ines' } as const;

async function startTeam() {
  const now = instant(Date.UTC(2026, 10, 22, 9));
  const clock = { now: () => now, sleep: async () => {} };
  const owners = ownersDeps(clock);
  const { merchants, team, handle, links } = owners;
  const accepted = <T>(answer: T | Refusal): T => (isRefusal(answer) ? assert.fail(answer.message) : answer);
  accepted(
    await merchants.register(appId, { developerId: people.owner, webhookUrl: 'https://shop.example/' }, operator),
  );
  for (const role of ['developer', 'operations', 'readOnly'] as const) {
    accepted(await team.invite(appId, { email: `${people[role]}@shop.example`, role }, by(people.owner)));
    accepted(await team.accept(appId, by(people[role])));
  }
  for (const outsider of [outsiders.removed, outsiders.invited])
    accepted(await team.invite(appId, { email: `${outsider}@shop.example`, role: 'developer' }, by(people.owner)));
  accepted(await team.accept(appId, by(outsiders.removed)));
  accepted(await team.remove(appId, outsiders.removed, by(people.owner)));
  const roleCheck = createRoleCheck(handle);
  const { createPayment, withdrawCashback, refunds, fundedRefunds, tend } = commandsOn(
    handle,
    clock,
    () => 'https://pay.example',
    roleCheck,
  );
  const sending = { handle, clock, ids: randomIds, send: async () => 'exhausted' as const };
  const issued = accepted(
    await merchants.issueKey(appId, { name: 'till', scope: 'orders', expiresAt: null }, by(people.owner)),
  );
  const app = { appId, idSalt: '00'.repeat(32), webhookUrl: null, settlement: null };
  const policy = {
    tolerance: { basisPoints: 0, most: '0' },
    under: 'hold',
    over: 'refund',
    late: 'hold',
    lateWithinMinutes: 0,
    wrongToken: 'hold',
    wrongChain: 'hold',
  } as const;
  const wallet = { chainId: 8453, tokenSymbol: 'USDC', receiverAddress: `0x${'a'.repeat(40)}` } as const;
  const { source, destination } = goodRequest();
  const commands: Readonly<Record<Action, (cause: ReturnType<typeof by>) => Promise<object | Refusal>>> = {
    inviteMember: (who) => team.invite(appId, { email: 'new@shop.example', role: 'readOnly' }, who),
    cancelInvitation: (who) => team.cancelInvitation(appId, outsiders.invited, who),
    setMemberRole: (who) => team.setRole(appId, people.readOnly, 'readOnly', who),
    removeMember: (who) => team.remove(appId, people.readOnly, who),
    leaveTeam: (who) => team.leave(appId, who),
    transferOwnership: (who) => team.transfer(appId, people.developer, who),
    requestSettlement: (who) => merchants.requestSettlement(appId, wallet, who),
    cancelSettlement: (who) => merchants.cancelSettlement(appId, who),
    setPolicy: (who) => merchants.setPolicy(appId, policy as never, who),
    withdrawCashback: (who) => withdrawCashback(app as never, { withdrawalId: randomIds.eventId(), cents: 10n }, who),
    issueAdminKey: (who) => merchants.issueKey(appId, { name: 'all', scope: 'admin', expiresAt: null }, who),
    issueKey: (who) => merchants.issueKey(appId, { name: 'till', scope: 'orders', expiresAt: null }, who),
    renameKey: (who) => merchants.renameKey(appId, issued.keyId, 'till 2', who),
    revokeKey: (who) => merchants.revokeKey(appId, issued.keyId, who),
    setWebhookUrl: (who) => merchants.setWebhookUrl(appId, 'https://shop.example/hooks', who),
    setWebhookTypes: (who) => merchants.setWebhookTypes(appId, [], who),
    changeWebhookEndpoints: (who) => merchants.removeEndpoint(appId, 'none', who),
    rotateSecret: (who) => merchants.rotateSecret(appId, who),
    sendTestWebhook: (who) => createSendTest(sending)(appId, who),
    redeliver: (who) => createRedeliver(sending)(appId, randomIds.eventId(), who),
    setPayFrom: (who) => merchants.setPayFrom(appId, [], who),
    setNotifications: (who) => merchants.setNotifications(appId, defaultChoice, who),
    setEmbeddingSites: (who) => merchants.setEmbeddingSites(appId, [], who),
    setProfile: (who) => merchants.setProfile(appId, { name: 'Shop' }, who),
    setLogo: (who) => merchants.setLogo(appId, null, who),
    createPayment: (who) =>
      createPayment({ ...goodRequest(), source, destination, appId } as never, app as never, {
        keyless: false,
        ...who,
      }),
    cancelPayment: (who) => tend.cancel(appId, randomIds.paymentId(), who),
    annotatePayment: (who) => tend.annotate(appId, randomIds.paymentId(), { note: 'call back', tags: [] }, who),
    createLink: (who) => links.create(app as never, { type: 'exactOut', amount: '1.00' } as never, who),
    closeLink: (who) => links.close(appId, 'dGhlaXItbGluay10aGVpci1saW5rLXRoZWly', who),
    orderRefund: (who) =>
      refunds.order(
        { paymentId: randomIds.paymentId(), appId },
        { scope: 'all', to: 'proven', by: 'owner', note: null, key: null } as never,
        who,
      ),
    fundRefund: (who) =>
      fundedRefunds.order(
        app as never,
        randomIds.paymentId(),
        { sender: wallet.receiverAddress, amount: '1.00', note: null, key: randomIds.eventId() },
        who,
      ),
    confirmRefundAddress: (who) =>
      fundedRefunds.confirmAddress(
        appId,
        randomIds.paymentId(),
        { transferId: '8453:0x1:0', address: wallet.receiverAddress, memo: null },
        who,
      ),
    withdrawRefundAddress: (who) => fundedRefunds.withdrawAddress(appId, randomIds.paymentId(), 1, who),
  };
  return { ...owners, commands };
}

/** True if the role is refused; other refusals come later. */
const isRoleRefusal = (answer: object | Refusal): boolean =>
  isRefusal(answer) && answer.refused === 'forbidden' && /does not allow you|the app is not yours/.test(answer.message);

describe('roles of a team', () => {
  for (const action of actions) {
    for (const role of teamRoles) {
      it(`${allows(role, action) ? 'allow' : 'refuse'} ${action} as ${role}`, async () => {
        const { commands } = await startTeam();
        const answer = await commands[action](by(people[role]));
        assert.equal(isRoleRefusal(answer), !allows(role, action), JSON.stringify(answer, text));
      });
    }
    it(`refuse ${action} to people without a role`, async () => {
      const { commands } = await startTeam();
      for (const outsider of Object.values(outsiders))
        assert.equal(isRoleRefusal(await commands[action](by(outsider))), true, outsider);
    });
  }

  it('leave operators’ settings to operators', async () => {
    const { merchants } = await startTeam();
    const who = by(people.owner);
    const answers = [
      await merchants.setOwner(appId, 'eve', who),
      await merchants.setKeylessCreation(appId, true, who),
      await merchants.removeFee(appId, { sourceChainId: null, destinationChainId: null } as never, who),
    ];
    for (const answer of answers) assert.equal(isRefusal(answer) && answer.refused, 'forbidden');
  });
});

const text = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
