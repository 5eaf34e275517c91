/** Generated histories: random steps of customers, chains, treasury and merchants, through the real decisions into a store. */
import fc from 'fast-check';
import { eventCodec, seal, tipOf } from '../../commands/codec.ts';
import { createHandle, type Handle } from '../../commands/handle.ts';
import type { Clock, CrashPoint, EventStore } from '../../commands/ports.ts';
import { cashback } from '../../domain/cashback.ts';
import { credit } from '../../domain/credit.ts';
import { categoryOf, type DomainEvent } from '../../domain/decider.ts';
import { closeLink, createLink, link } from '../../domain/link.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { transferId } from '../../domain/payment/events.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { minute_ms, plus } from '../../domain/time.ts';
import { operation } from '../../domain/treasury/operation.ts';
import { unmatched } from '../../domain/unmatched.ts';
import { deliveryIdOf, recordOutcome, sentByItself, startSend, webhook } from '../../domain/webhook.ts';
import { randomIds } from '../../src/process/system.ts';
import { buyer, onCashback, onCredit } from './creditSteps.ts';
import { deliveryOutcome } from './deliveries.ts';
import {
  appIdOf,
  kinds,
  linkTerms,
  named,
  onPayment,
  onUnmatched,
  paymentIdOf,
  pick,
  type Step,
  settings,
} from './historySteps.ts';
import { memoryEventStore } from './memoryEventStore.ts';
import { onOperation, operationIdOf } from './operationSteps.ts';
import * as p from './payments.ts';

export type { Step };
export { appIdOf, paymentIdOf };

export interface World {
  readonly store: EventStore;
  readonly handle: Handle;
  readonly clock: Clock & { advance(duration_ms: number): void };
}

/** @param crash where the process dies */
export function createWorld(crash?: CrashPoint): World {
  let now = p.created_at;
  const clock = {
    now: () => now,
    sleep: async () => {},
    advance: (duration_ms: number) => {
      now = plus(now, duration_ms);
    },
  };
  const store = memoryEventStore();
  return {
    store,
    clock,
    handle: createHandle({ store, clock, ids: randomIds, codec: eventCodec, ...(crash && { crash }) }),
  };
}

/** The straight ways of four payments, in turn, with random steps in between. */
export const histories: fc.Arbitrary<readonly Step[]> = fc
  .array(fc.record({ kind: fc.constantFrom(...kinds), who: fc.nat(5), n: fc.nat(5) }), { maxLength: 60 })
  .map((strewn) => straight.flatMap((step, index) => [step, ...strewn.slice(index * 2, index * 2 + 2)]));

const straight: readonly Step[] = (
  [
    'create',
    'settings',
    'key',
    'unmatched',
    'detect',
    'confirm',
    'requestPayout',
    'sign',
    'confirmPayout',
    'webhook',
    'earn',
    'spend',
    'receive',
    'withdraw',
    'operate',
  ] as const
)
  .flatMap((kind) => [0, 1, 2, 3].map((who): Step => ({ kind, who, n: who })))
  // One pays again, and sets a refund address for it.
  .concat([
    { kind: 'confirm', who: 2, n: 4 },
    { kind: 'refund', who: 2, n: 0 },
    // One withdrawal is signed and lands.
    { kind: 'operate', who: 0, n: 0 },
    { kind: 'operate', who: 0, n: 0 },
  ])
  // One more is paid out for which its buyer has earned nothing yet, and one is not paid.
  .concat(
    (['create', 'confirm', 'requestPayout', 'sign', 'confirmPayout'] as const).map((kind) => ({ kind, who: 4, n: 0 })),
    { kind: 'create', who: 5, n: 0 },
  );

/** Carries a step out if the decision allows it; refusals are normal. */
export async function play({ handle, clock, store }: World, step: Step): Promise<void> {
  clock.advance(minute_ms / 2);
  const now = clock.now();
  const appId = appIdOf(step.who);
  const facts = { cause: 'worker:history', appId } as const;
  if (step.kind === 'settings' || step.kind === 'key') {
    await handle(merchant, appId, (state) => settings(state, step, now), facts);
  } else if (step.kind === 'earn' || step.kind === 'spend') {
    await handle(credit, buyer, (state) => onCredit(state, named(step), now), facts);
  } else if (step.kind === 'receive' || step.kind === 'withdraw') {
    await handle(cashback, appId, (state) => onCashback(state, named(step), now), facts);
    const linkId = `link-${step.who}`.padEnd(36, '-');
    const terms = linkTerms(linkId, appId, now);
    await handle(link, linkId, (state) => (state ? closeLink(state, appId, now) : createLink(state, terms)), facts);
  } else if (step.kind === 'unmatched') {
    const transfer = {
      ...p.payin({ tx: `unmatched ${step.who}`, in: p.stellarUsdc }),
      memo: pick(['7', null], step.who),
    };
    await handle(unmatched, transferId(transfer), (state) => onUnmatched(state, step, transfer, now), facts);
  } else if (step.kind === 'operate') {
    await handle(operation, operationIdOf(step.who), (state) => onOperation(state, step, now), {
      ...facts,
      appId: null,
    });
  } else if (step.kind === 'webhook') {
    const told = (await store.read(`payment-${paymentIdOf(step.who)}`)).find(({ type }) => type === 'PaymentFunded');
    if (!told) return;
    const start = {
      deliveryId: deliveryIdOf(told.id),
      ...sentByItself,
      paymentId: paymentIdOf(step.who),
      appId,
      eventType: 'payment_payin_completed' as const,
      url: 'https://shop.example/hook',
      eventId: told.id,
      eventRevision: told.revision.toString(),
      startedAt: now,
    };
    await handle(webhook, start.deliveryId, (state) => startSend(state, start), facts);
    if (step.n < 3) return;
    const statusCode = step.n === 3 ? 200 : 500;
    const outcome = deliveryOutcome(statusCode, now);
    await handle(webhook, start.deliveryId, (state) => recordOutcome(state, outcome), facts);
  } else {
    await handle(paymentDecider, paymentIdOf(step.who), (state) => onPayment(state, step, now), facts);
  }
}

/** Puts events straight into a stream, sealed like the handle's, or like an older version's. */
export async function append(
  world: World,
  stream: string,
  events: readonly DomainEvent[],
  schemaVersion = eventCodec.schemaVersion(categoryOf(stream)),
): Promise<bigint> {
  const before = await world.store.read(stream);
  const last = before.at(-1);
  const facts = { at: world.clock.now(), cause: 'worker:test', appId: null, schemaVersion } as const;
  const sealed = seal(stream, last ? tipOf(last) : null, events, facts, randomIds);
  return (await world.store.append(stream, last ? last.revision : 'no_stream', sealed)).position;
}
