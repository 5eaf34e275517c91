/** A subscription to the whole log, with a position that is safe to store. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { convertToCommandError } from '@eventstore/db-client/dist/utils/index.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import rpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientReadableStream } from '@grpc/grpc-js';
import { type EventBatchRead, Unavailable } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import type { AllOptions, Subscriber, SubscriptionFlow, SubscriptionNews } from './calls.ts';
import type { StoreConnection } from './connection.ts';
import { storeReasonOf, unusable } from './failures.ts';
import { recordedEvent } from './read.ts';

const maxBatch = 500;

/**
 * Events that the server examines between two checkpoints: many while catching up, one when live, so a subscriber learns of the log's end.
 */
const catchUpWindow = 512;
const liveWindow = 1;

/** Servers before 24.2 never report that a subscriber has caught up: after this silence they get another query. */
const quiet_ms = 1_000;

/** Value of older servers for an unknown position (uint64 max). */
const noPosition = 0xffff_ffff_ffff_ffffn;

type Tail = () => Promise<bigint>;

/**
 * The server has no record at the position to continue after. Callers subscribe again from an event that they find in the log
 * (src/readmodels/logSetBack.ts): a record of the store's own, at which a checkpoint may be, can be missing from another leader's log.
 */
export class ForeignPosition extends Unavailable {
  override readonly name = 'ForeignPosition';
  constructor(after: bigint | null, reason: string) {
    super(
      `the event log has no record at position ${after} (${reason}): subscribe again. If that does not help, the log was restored from a backup, ` +
        'or EVENTSTORE_URL names another log (docs/operate/backup.md)',
    );
  }
}

/**
 * Follows $all. A first subscription catches up with a wide window; when live, a second one continues from the same position with the
 * narrow one. A position after the last event is followed silently until the log has grown past it: it belongs to the store's own records,
 * or the log is another one. Callers identify the log by an event (src/readmodels/logSetBack.ts).
 * @param tail of the leader's log
 * @throws ForeignPosition, Unavailable
 */
export async function* followAll(
  connection: StoreConnection,
  options: AllOptions,
  tail: Tail,
): AsyncGenerator<EventBatchRead> {
  let { after } = options;
  if (options.signal.aborted) return;
  for await (const batch of follow(connection, options, catchUpWindow, tail)) {
    if (batch.position > 0n) after = batch.position;
    yield { ...batch, live: false };
    if (batch.live) break;
  }
  if (!options.signal.aborted) yield* follow(connection, { ...options, after }, liveWindow, tail);
}

/** One subscription as batches. */
async function* follow(
  connection: StoreConnection,
  options: AllOptions,
  window: number,
  tail: Tail,
): AsyncGenerator<EventBatchRead> {
  const { signal } = options;
  const inbox = await openInbox(connection, options, window, tail);
  signal.addEventListener('abort', inbox.wake);
  let position = options.after ?? 0n;
  let live = false;
  try {
    while (!signal.aborted) {
      const { events, reached, caughtUp } = inbox.take();
      if (reached > position || (caughtUp && !live)) {
        if (reached > position) position = reached;
        live ||= caughtUp;
        yield { events, position, live: live && inbox.isEmpty };
      } else if (inbox.failure !== undefined) throw brokenOff(inbox.failure, options.after);
      else {
        await inbox.news(live);
        // Events of the same packets belong to the same batch.
        await nextTurn();
      }
    }
  } finally {
    signal.removeEventListener('abort', inbox.wake);
    inbox.close();
  }
}

/** Events that have arrived from one subscription; it stops reading while nobody consumes them. */
async function openInbox(connection: StoreConnection, options: AllOptions, window: number, tail: Tail) {
  let arrived: StoredEvent[] = [];
  let reached = 0n;
  let caughtUp = false;
  let confirmed = false;
  let heard = 0;
  let failure: unknown;
  let wake = (): void => {};

  const fail = (error: unknown): void => {
    failure ??= error;
    wake();
  };
  const { left } = connection;
  const leave = (): void => fail('the store is reached another way now');
  left.addEventListener('abort', leave, { once: true });
  function said(news: StoredEvent | SubscriptionNews): boolean {
    connection.heard();
    heard += 1;
    if ('stream' in news) {
      arrived.push(news);
      reached = news.position;
    } else {
      const { checkpoint = noPosition } = news;
      if (checkpoint !== noPosition) reached = checkpoint;
      caughtUp ||= news.caughtUp === true;
      confirmed ||= news.confirmed === true;
    }
    wake();
    return arrived.length < maxBatch;
  }
  const flow = await connection.subscribe(options, window, { said, failed: fail }).catch((error: unknown) => {
    throw brokenOff(error, options.after);
  });

  /**
   * A busy server is silent as well, and so is one that this process was too busy to read: it has nothing more if it answers another query
   * and sends nothing here meanwhile.
   */
  async function onSilence(): Promise<void> {
    const before = heard;
    const answered = await tail().then(
      () => true,
      () => false,
    );
    caughtUp ||= confirmed && answered && heard === before;
    wake();
  }

  return {
    /** Takes the events that have arrived: large batches while catching up, single events when live. */
    take(): { events: readonly StoredEvent[]; reached: bigint; caughtUp: boolean } {
      const taken = { events: arrived, reached, caughtUp };
      arrived = [];
      caughtUp = false;
      flow.resume();
      return taken;
    },
    /** Resolves when something has arrived, or when a subscription that is not live yet has been silent for long. */
    news(live: boolean): Promise<void> {
      return new Promise((resolve) => {
        const quiet = live ? undefined : setTimeout(() => void onSilence(), quiet_ms);
        wake = () => {
          clearTimeout(quiet);
          resolve();
        };
      });
    },
    wake: () => wake(),
    get isEmpty() {
      return arrived.length === 0 && flow.isEmpty;
    },
    get failure() {
      return failure;
    },
    close() {
      left.removeEventListener('abort', leave);
      flow.cancel();
    },
  };
}

/** The server's status for a start position that is not in its log. */
const invalidArgument = 3;

function brokenOff(failure: unknown, after: bigint | null): Error {
  const reason = storeReasonOf(failure);
  const code = typeof failure === 'object' && failure !== null && 'code' in failure ? failure.code : undefined;
  return code === invalidArgument
    ? new ForeignPosition(after, reason)
    : (unusable(failure) ?? new Unavailable(`the event store's subscription broke off: ${reason}; subscribe again`));
}

/** An event, or another message of the server. */
type Said = StoredEvent | messages.ReadResp;

const { path, requestSerialize, responseDeserialize } = rpc.StreamsService.read;
const said = (message: Buffer): Said => recordedEvent(message) ?? responseDeserialize(message);

/** Opened by the official client, which finds the server; the events are parsed here. */
export async function subscribeCall(
  client: EventStoreDBClient,
  options: AllOptions,
  window: number,
  subscriber: Subscriber,
): Promise<SubscriptionFlow> {
  const request = subscribeRequest(options, window);
  const open = client['GRPCStreamCreator'](rpc.StreamsClient, 'subscribeToAll', (streams) => {
    const settings = client['callArguments']({ requiresLeader: true }, { deadline: Number.POSITIVE_INFINITY });
    return streams.makeServerStreamRequest(path, requestSerialize, said, request, ...settings);
  });
  const call: ClientReadableStream<Said> = await open();
  call
    .on('data', (message: Said) => {
      if (!subscriber.said('stream' in message ? message : newsIn(message))) call.pause();
    })
    .on('error', (error) => subscriber.failed(convertToCommandError(error as never)))
    .on('end', () => subscriber.failed('the server ended it'));
  return {
    get isEmpty() {
      return call.readableLength === 0;
    },
    resume() {
      if (call.isPaused()) call.resume();
    },
    // A call cannot be cancelled in the turn that opened it.
    cancel: () => void setImmediate(() => call.cancel()),
  };
}

function newsIn(message: messages.ReadResp): SubscriptionNews {
  const checkpoint = message.getCheckpoint()?.getCommitPosition();
  return {
    checkpoint: checkpoint === undefined ? undefined : BigInt(checkpoint),
    caughtUp: message.hasCaughtUp(),
    confirmed: message.hasConfirmation(),
  };
}

function subscribeRequest({ after, prefixes }: AllOptions, window: number): messages.ReadReq {
  const { Options } = messages.ReadReq;
  const all = new Options.AllOptions();
  if (after === null) all.setStart(new shared.Empty());
  else all.setPosition(new Options.Position().setCommitPosition(`${after}`).setPreparePosition(`${after}`));
  const filter = new Options.FilterOptions()
    .setStreamIdentifier(new Options.FilterOptions.Expression().setPrefixList([...prefixes]))
    .setMax(window)
    .setCheckpointintervalmultiplier(1);
  const options = new Options()
    .setAll(all)
    .setSubscription(new Options.SubscriptionOptions())
    .setUuidOption(new Options.UUIDOption().setString(new shared.Empty()))
    .setFilter(filter);
  return new messages.ReadReq().setOptions(options);
}
