/** What a caller hears over a WebSocket: signatureSubscribe (once each), slotSubscribe and programSubscribe. */
import { slotAt } from '../chain/commitments.ts';
import type { Call } from './call.ts';
import { commitmentOf, configParam, inContext, invalid, type Node, RpcError, rpcCodes } from './method.ts';
import { programWatch } from './programWatch.ts';
import { signatureOf } from './transactions.ts';

/** Of one connection. */
export interface Subscriptions {
  /** @throws RpcError. @returns the result for the caller */
  call(call: Call): unknown;
  /** The chain has changed: tells what there is to tell. */
  changed(): void;
}

const subscriptionsMax = 1_000;
let lastId = 0;

export function createSubscriptions({ chain }: Node, tell: (notification: object) => void): Subscriptions {
  /** Each tells what is new and whether it has no more to tell. */
  const open = new Map<number, () => boolean>();
  const notify = (method: string, subscription: number, result: unknown) =>
    tell({ jsonrpc: '2.0', method, params: { result, subscription } });

  const subscribe = (news: (id: number) => boolean) => {
    if (open.size >= subscriptionsMax) throw new RpcError(rpcCodes.internal, 'too many subscriptions');
    const id = ++lastId;
    open.set(id, () => news(id));
    return id;
  };

  const unsubscribe = ([id]: readonly unknown[]) => {
    if (!open.delete(Number(id))) throw invalid('Invalid subscription id.');
    return true;
  };

  const methods: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    signatureSubscribe(params) {
      const signature = signatureOf(params[0]);
      const commitment = commitmentOf(configParam(params, 1));
      return subscribe((id) => {
        const slot = slotAt(commitment, chain.head(), chain.finality);
        const record = chain.history.find(signature);
        if (!record || record.slot > slot) return false;
        notify('signatureNotification', id, inContext(slot, { err: record.err }));
        return true;
      });
    },
    slotSubscribe() {
      let told = chain.head();
      return subscribe((id) => {
        const slot = chain.head();
        if (slot === told) return false;
        told = slot;
        const root = slotAt('finalized', slot, chain.finality);
        notify('slotNotification', id, { parent: slot - 1, root, slot });
        return false;
      });
    },
    programSubscribe(params) {
      const news = programWatch(chain, params);
      return subscribe((id) => {
        for (const each of news()) notify('programNotification', id, each);
        return false;
      });
    },
    signatureUnsubscribe: unsubscribe,
    slotUnsubscribe: unsubscribe,
    programUnsubscribe: unsubscribe,
  };

  return {
    call({ method, params }) {
      const known = Object.hasOwn(methods, String(method)) ? methods[String(method)] : undefined;
      if (!known) throw new RpcError(rpcCodes.methodNotFound, 'Method not found');
      return known(params ?? []);
    },
    changed() {
      for (const [id, news] of open) if (news()) open.delete(id);
    },
  };
}
