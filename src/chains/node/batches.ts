/** Several calls in one request, as many as the node takes (JSON-RPC 2.0, section 6). Its refusals teach how many. */
import { inParallel } from '../../lib/mapLimit.ts';
import type { Asking, Exchange } from './exchange.ts';
import type { Reply } from './http.ts';
import { type RpcCall, wireRequest } from './jsonRpc.ts';
import type { NodeLimits } from './limits.ts';
import { costOf } from './methods.ts';
import { mostSaid, type Refusal } from './refusals.ts';
import { NoAnswer, type Outcome, parsed, type RpcAnswer, readAnswer, readReply, refusalIn } from './replies.ts';

/** What the public nodes of Base and Optimism take. */
const callsFirst = 10;
const requestsAtOnce = 4;
const callsAtOnce = 8;

export type CallMany = (calls: readonly RpcCall[], asking: Asking) => Promise<readonly RpcAnswer[]>;

interface Parts {
  readonly exchange: Exchange;
  readonly call: (call: RpcCall, asking: Asking) => Promise<RpcAnswer>;
  readonly limits: NodeLimits;
}

/** The answers as far as the node gave them, or its refusal of them all. */
type Together = { readonly answers: readonly (RpcAnswer | undefined)[] } | { readonly refusal: Refusal };

export function createBatches({ exchange, call, limits }: Parts): CallMany {
  /** So many have gone well. */
  let proven = 1;
  const most = (): number => limits.most('calls') ?? callsFirst;

  const oneByOne: CallMany = (calls, asking) => inParallel(calls, callsAtOnce, (each) => call(each, asking));

  async function many(calls: readonly RpcCall[], asking: Asking): Promise<readonly RpcAnswer[]> {
    if (calls.length <= 1 || (most() === 1 && !asking.together)) return oneByOne(calls, asking);
    if (calls.length > most()) {
      if (asking.together) return calls.map(() => notTogether);
      const parts = chunked(calls, most());
      return (await inParallel(parts, requestsAtOnce, (part) => many(part, asking))).flat();
    }
    const read = (reply: Reply) => readMany(reply, calls.length, asking.together === true);
    const found = await exchange(requestOf(calls), read, asking).catch(orFailure);
    if (found instanceof NoAnswer) return without(found, calls, asking);
    if ('refusal' in found) {
      const said = mostSaid(found.refusal.words) ?? calls.length;
      limits.learn('calls', said < calls.length ? said : Math.floor(calls.length / 2));
      return many(calls, asking);
    }
    proven = Math.max(proven, calls.length);
    // What was left out, or may pass, is asked for by itself.
    return inParallel(calls, callsAtOnce, async (each, at) => found.answers[at] ?? call(each, asking));
  }

  /** Nodes that take no so many calls may say nothing at all (Erigon ends the connection): one call shows whether this one is there. */
  async function without(failure: NoAnswer, calls: readonly RpcCall[], asking: Asking) {
    const [first, ...others] = calls;
    if (failure.kind === 'tooLarge' && !asking.together) return oneByOne(calls, asking);
    if (failure.kind === 'tooLarge' || !first || failure.kind === 'limited' || calls.length <= proven) throw failure;
    const answer = await call(first, asking);
    limits.learn('calls', Math.floor(calls.length / 2));
    if (asking.together) return calls.map(() => notTogether);
    return [answer, ...(await many(others, asking))];
  }

  return many;
}

const chunked = <T>(all: readonly T[], most: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, at) => all.slice(at * most, (at + 1) * most));

function requestOf(calls: readonly RpcCall[]) {
  const asked = calls.map((call, id) => wireRequest(id, call));
  return { body: JSON.stringify(asked), cost: calls.reduce((sum, { method }) => sum + costOf(method), 0) };
}

function orFailure(error: unknown): NoAnswer {
  if (error instanceof NoAnswer) return error;
  throw error;
}

/** @param together whether all answers must be of this reply */
function readMany(reply: Reply, count: number, together: boolean): Outcome<Together> {
  const json = parsed(reply.text);
  if (!Array.isArray(json)) {
    const { last, ...more } = readReply(reply);
    if (last instanceof NoAnswer) return { last, ...more };
    if ('refusal' in last) return { last, ...more };
    return { last: new NoAnswer('malformed', 'one answer to several calls') };
  }
  const whole = json.map(refusalIn).find((refusal) => refusal && /\bbatch/i.test(refusal.words));
  if (whole) return { last: { refusal: whole } };
  const byId = new Map(json.map((each) => [Number(each?.id ?? -1), readAnswer(each, reply)]));
  const outcomes = Array.from({ length: count }, (_, id) => byId.get(id) ?? leftOut);
  const limited = outcomes.find((outcome) => outcome.limited)?.limited;
  if (!together) return { last: { answers: outcomes.map(answerIn) }, ...(limited && { limited }) };
  if (limited)
    return { last: new NoAnswer('limited', 'it does not take so many calls now'), again: 'limited', limited };
  const again = outcomes.find((outcome) => outcome.again)?.again;
  return { last: { answers: outcomes.map(answerOrRefusal) }, again };
}

const leftOut: Outcome<never> = { last: new NoAnswer('malformed', 'it left this call out'), again: 'passes' };

const answerIn = ({ last, again }: Outcome<RpcAnswer>): RpcAnswer | undefined =>
  again || last instanceof NoAnswer ? undefined : last;

const answerOrRefusal = ({ last }: Outcome<RpcAnswer>): RpcAnswer =>
  last instanceof NoAnswer ? { refusal: last.refusal ?? inWords(last.message) } : last;

const inWords = (message: string): Refusal => ({ code: undefined, message, words: message });

const notTogether: RpcAnswer = { refusal: inWords('it does not take so many calls together') };
