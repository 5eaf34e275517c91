/** One subscription by the bare protocol, message by message: the official client does not keep `caughtUp` in order with events. */
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { recordedEvent } from '../../../src/store/read.ts';
import { type Said, type Seen, seenByProduct } from './seen.ts';

const { Options } = messages.ReadReq;
const none = (): shared.Empty => new shared.Empty();

/** Sent by EventStoreDB 24.6 in place of a position that it does not know. */
const noPosition = 0xffff_ffff_ffff_ffffn;

export type Source =
  | { readonly stream: string; readonly from: 'start' | 'end' | number }
  | {
      readonly stream: null;
      readonly after: 'start' | 'end' | bigint;
      readonly prefixes: readonly string[] | null;
      readonly window: number;
    };

export interface Listening {
  /** Called at the first `caughtUp`. */
  readonly caughtUp: () => Promise<unknown>;
  /** True for the event that ends the subscription. */
  readonly isLast: (seen: Seen) => boolean;
}

/** Everything that the server says until the last event, or until it ends the call. Checkpoints are judged, not returned. */
export async function listen(client: streams.StreamsClient, source: Source, listening: Listening): Promise<Said[]> {
  const call = client.read(new messages.ReadReq().setOptions(optionsOf(source)));
  const order = checkpointOrder();
  const said: Said[] = [];
  const ended = Promise.withResolvers<void>();
  let live: Promise<unknown> | null = null;
  call.on('data', (reply: messages.ReadResp) => {
    const event = recordedEvent(Buffer.from(reply.serializeBinary()));
    const checkpoint = reply.getCheckpoint();
    if (event) {
      const seen = seenByProduct(event);
      said.push(seen, ...order.event(seen.position));
      if (listening.isLast(seen)) ended.resolve();
    } else if (checkpoint) said.push(...order.checkpoint(BigInt(checkpoint.getCommitPosition())));
    else if (reply.hasCaughtUp()) {
      said.push('caughtUp');
      live ??= listening.caughtUp();
      live.catch(ended.reject);
    } else if (!reply.hasConfirmation()) said.push({ wrong: 'a message that is none of a subscription' });
  });
  call.on('error', (error) => {
    said.push({ failed: (error as { code?: unknown }).code });
    ended.resolve();
  });
  try {
    await ended.promise;
    // An event may arrive before the answer to its append.
    await live;
  } finally {
    const length = said.length;
    call.cancel();
    // The cancellation is answered by an error of its own.
    said.length = length;
  }
  return said.slice();
}

/** Checkpoints and events are one ascending order: a subscriber that goes on after a checkpoint loses no event. */
function checkpointOrder() {
  let reached = -1n;
  const mustAscend = (position: bigint, least: bigint, what: string): Said[] => {
    const wrong: Said[] = position >= least ? [] : [{ wrong: `${what} stands before what was sent earlier` }];
    if (position > reached) reached = position;
    return wrong;
  };
  return {
    event: (position: bigint) => mustAscend(position, reached + 1n, 'an event'),
    checkpoint: (position: bigint) => (position === noPosition ? [] : mustAscend(position, reached, 'a checkpoint')),
  };
}

function optionsOf(source: Source): messages.ReadReq.Options {
  const options = new Options()
    .setUuidOption(new Options.UUIDOption().setString(none()))
    .setSubscription(new Options.SubscriptionOptions());
  return source.stream === null ? ofLog(options, source) : ofStream(options.setNoFilter(none()), source);
}

function ofStream(options: messages.ReadReq.Options, { stream, from }: Source & { stream: string }) {
  const name = new shared.StreamIdentifier().setStreamName(Buffer.from(stream).toString('base64'));
  const wanted = new Options.StreamOptions().setStreamIdentifier(name);
  if (from === 'start') wanted.setStart(none());
  else if (from === 'end') wanted.setEnd(none());
  else wanted.setRevision(`${from}`);
  return options.setStream(wanted);
}

function ofLog(options: messages.ReadReq.Options, { after, prefixes, window }: Source & { stream: null }) {
  const all = new Options.AllOptions();
  if (after === 'start') all.setStart(none());
  else if (after === 'end') all.setEnd(none());
  else all.setPosition(new Options.Position().setCommitPosition(`${after}`).setPreparePosition(`${after}`));
  options.setAll(all);
  if (prefixes === null) return options.setNoFilter(none());
  const expression = new Options.FilterOptions.Expression().setPrefixList([...prefixes]);
  return options.setFilter(
    new Options.FilterOptions().setStreamIdentifier(expression).setMax(window).setCheckpointintervalmultiplier(1),
  );
}
