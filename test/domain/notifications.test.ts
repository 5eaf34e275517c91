/** Notifications that members choose. The choice ends when a member leaves the team. */
import assert from 'node:assert/strict';
import type { MerchantEvent } from '../../domain/merchant/events.ts';
import {
  choiceOf,
  defaultChoice,
  type NotificationChoice,
  notificationChangesMax,
  setNotifications,
} from '../../domain/merchant/notifications.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { minute } from '../support/payments.ts';
import { specification } from '../support/specification.ts';

const { given } = specification(merchant);
const registered: MerchantEvent = {
  type: 'MerchantRegistered',
  data: { appId: 'merchant_shop', developerId: 'ada', idSalt: 'ab'.repeat(32), registeredAt: minute(0) },
};
const joined: MerchantEvent = { type: 'MemberJoined', data: { developerId: 'bob', role: 'readOnly' } };
const removed: MerchantEvent = { type: 'MemberRemoved', data: { developerId: 'bob' } };
const quiet: NotificationChoice = { ...defaultChoice, mail: [] };
const chose = (developerId: string, choice = quiet): MerchantEvent => ({
  type: 'NotificationsSet',
  data: { developerId, ...choice },
});

describe('notifications of a member', () => {
  it('are chosen by the owner and by members of every role, each for themselves', () => {
    for (const who of ['ada', 'bob'])
      given([registered, joined])
        .when((state) => setNotifications(state, who, quiet))
        .then([chose(who)]);
    given([registered, joined, chose('bob')])
      .when((state) => setNotifications(state, 'ada', defaultChoice))
      .thenNothing();
  });

  it('are none of a person outside the team, whatever they chose before', () => {
    for (const past of [[registered], [registered, joined, chose('bob'), removed]]) {
      given(past)
        .when((state) => setNotifications(state, 'bob', quiet))
        .thenRefused('forbidden');
      assert.equal(choiceOf(past.reduce(merchant.evolve, merchant.initial), 'bob'), null);
    }
  });

  it('are the same in every order, and recorded once', () => {
    const choice = { ...defaultChoice, mail: ['weeklySummary', 'moneyHeld', 'moneyHeld'] as const };
    given([registered])
      .when((state) => setNotifications(state, 'ada', { ...choice, mail: [...choice.mail] }))
      .then([chose('ada', { ...defaultChoice, mail: ['moneyHeld', 'weeklySummary'] })]);
    given([registered, chose('ada', { ...defaultChoice, mail: ['moneyHeld', 'weeklySummary'] })])
      .when((state) => setNotifications(state, 'ada', { ...choice, mail: [...choice.mail] }))
      .thenNothing();
  });

  it('have an amount from 100 to a million dollars', () => {
    for (const large_microUsd of ['0', '99999999', '1000000000001'])
      given([registered])
        .when((state) => setNotifications(state, 'ada', { ...defaultChoice, large_microUsd }))
        .thenRefused('invalidRequest', /from 100 to 1000000 dollars/);
  });

  it('change 200 times: a member cannot use up the changes of the app', () => {
    const loud = { ...defaultChoice, mail: [...defaultChoice.bell] };
    const many = Array.from({ length: notificationChangesMax }, (_, n) => chose('bob', n % 2 ? quiet : loud));
    given([registered, joined, ...many])
      .when((state) => setNotifications(state, 'bob', loud))
      .thenRefused('forbidden', /200 times/);
    given([registered, joined, ...many])
      .when((state) => setNotifications(state, 'ada', loud))
      .then([chose('ada', loud)]);
  });
});
