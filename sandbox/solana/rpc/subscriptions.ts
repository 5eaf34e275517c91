/** Notifications over a WebSocket: signatures (once each), accounts, programs, logs, slots and roots. */
import { type Address, isAddress } from '@solana/kit';
import { RpcError } from '../../rpcError.ts';
import { type Commitment, slotAt } from '../chain/commitments.ts';
import type { TransactionRecord } from '../chain/history.ts';
import { type Watch, watchAccount, watchProgram } from './accountWatch.ts';
import { accountConfig, logsConfig, programConfig, signatureSubscribeConfig } from './configs.ts';
import { invalid, type Node, type Params, rpcCodes } from './method.ts';
import { list, optional, type Reader, readParams, text, u64, variantOrName } from './params.ts';
import { isSignature } from './transactions.ts';

/** Subscriptions of one connection. */
export interface Subscriptions {
  /** @throws RpcError. @returns the result for the caller */
  call(method: string, params: Params): unknown;
  /** Sends due notifications after a change of the chain. */
  changed(): void;
}

const subscriptionsMax = 1_000;
let lastId = 0;

export function createSubscriptions({ chain }: Node, send: (notification: object) => void): Subscriptions {
  /** Each sends new notifications and returns true if none will follow. */
  const open = new Map<number, () => boolean>();
  const notify = (method: string, subscription: number, result: unknown) =>
    send({ jsonrpc: '2.0', method, params: { result, subscription } });
  const reached = (commitment: Commitment = 'finalized') => slotAt(commitment, chain.head(), chain.finality);

  const subscribe = (news: (id: number) => boolean) => {
    if (open.size >= subscriptionsMax) throw new RpcError(rpcCodes.internal, 'too many subscriptions');
    const id = ++lastId;
    open.set(id, () => news(id));
    return id;
  };
  const subscribeTo = (method: string, watch: Watch) =>
    subscribe((id) => {
      for (const each of watch()) notify(method, id, each);
      return false;
    });
  const unsubscribe = (params: Params) => {
    const [id] = readParams<[number]>(params, 1, [u64]);
    if (!open.delete(id)) throw invalid('Invalid subscription id.');
    return true;
  };

  const methods: Readonly<Record<string, (params: Params) => unknown>> = {
    signatureSubscribe(params) {
      const [signature, config] = readParams(params, 1, [text, optional(signatureSubscribeConfig)]);
      if (!isSignature(signature)) throw invalid('Invalid Request: Invalid signature provided');
      return subscribe((id) => {
        const slot = reached(config?.commitment);
        const record = chain.history.find(signature);
        if (!record || record.slot > slot) return false;
        notify('signatureNotification', id, { context: { slot }, value: { err: record.err } });
        return true;
      });
    },
    accountSubscribe(params) {
      const [key, config] = readParams(params, 1, [text, optional(accountConfig)]);
      return subscribeTo('accountNotification', watchAccount(chain, subscribedAddress(key), config ?? {}));
    },
    programSubscribe(params) {
      const [key, config] = readParams(params, 1, [text, optional(programConfig)]);
      const program = subscribedAddress(key);
      return subscribeTo(
        'programNotification',
        asParams(() => watchProgram(chain, program, config ?? {})),
      );
    },
    logsSubscribe(params) {
      const [filter, config] = readParams(params, 1, [logsFilter, optional(logsConfig)]);
      const mentioned = mentionedIn(filter);
      let sent = reached(config?.commitment);
      const sentHere = new Set<string>();
      return subscribe((id) => {
        const upTo = reached(config?.commitment);
        const isNew = ({ signature, slot, keys }: TransactionRecord) =>
          slot >= sent && slot <= upTo && !sentHere.has(signature) && (!mentioned || keys.includes(mentioned));
        for (const { signature, slot, err, logs } of chain.history.newest(logSlotsMax).filter(isNew)) {
          sentHere.add(signature);
          notify('logsNotification', id, { context: { slot }, value: { signature, err, logs } });
        }
        if (upTo > sent)
          for (const each of sentHere) if (chain.history.find(each)?.slot !== upTo) sentHere.delete(each);
        sent = Math.max(sent, upTo);
        return false;
      });
    },
    slotSubscribe(params) {
      readParams(params, 0, []);
      let sent = chain.head();
      return subscribe((id) => {
        const slot = chain.head();
        if (slot === sent) return false;
        sent = slot;
        notify('slotNotification', id, { slot, parent: slot - 1, root: reached() });
        return false;
      });
    },
    rootSubscribe(params) {
      readParams(params, 0, []);
      let sent = reached();
      return subscribe((id) => {
        if (reached() === sent) return false;
        sent = reached();
        notify('rootNotification', id, sent);
        return false;
      });
    },
    // Nodes know these two, and refuse them unless an option enables them.
    blockSubscribe(params) {
      readParams(params, 1, [anything, optional(anything)]);
      throw methodNotFound();
    },
    voteSubscribe(params) {
      readParams(params, 0, []);
      throw methodNotFound();
    },
    signatureUnsubscribe: unsubscribe,
    accountUnsubscribe: unsubscribe,
    programUnsubscribe: unsubscribe,
    logsUnsubscribe: unsubscribe,
    slotUnsubscribe: unsubscribe,
    rootUnsubscribe: unsubscribe,
  };

  return {
    call(method, params) {
      const known = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (!known) throw methodNotFound();
      return known(params);
    },
    changed() {
      for (const [id, news] of open) if (news()) open.delete(id);
    },
  };
}

const methodNotFound = () => new RpcError(rpcCodes.methodNotFound, 'Method not found');

const anything: Reader<unknown> = (value) => value;

/** A caller further behind misses older ones. */
const logSlotsMax = 64;

const logsNames = ['all', 'allWithVotes', 'mentions'] as const;
const logsFilter = variantOrName({ mentions: list(text) }, logsNames, ['all', 'allWithVotes']);

/** @returns undefined for all transactions. @throws RpcError */
function mentionedIn(filter: ReturnType<typeof logsFilter>): string | undefined {
  if (filter.name !== 'mentions') return undefined;
  const [only, ...more] = filter.content;
  if (only === undefined || more.length > 0) throw invalid('Invalid Request: Only 1 address supported');
  if (!isAddress(only)) throw invalid('Invalid Request: Invalid mentions provided');
  return only;
}

function subscribedAddress(key: string): Address {
  if (isAddress(key)) return key;
  throw invalid('Invalid Request: Invalid pubkey provided');
}

/** Describes a refusal of wrong filters in the nodes' words. */
function asParams<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RpcError) throw invalid(`Invalid params: ${error.message}`);
    throw error;
  }
}
