/** Active quirks of one node, combined: the path of each request. */
import { randomOf } from '../random.ts';
import type { Ask, Call, HttpReply } from './call.ts';
import type { CallEffect, Effect, HttpEffect, Often, Quirk, QuirkyNode } from './quirk.ts';
import { checkWeather, type QuirkName, quirkNames, quirks, type Weather, type WeatherChange } from './quirks.ts';

/** Effects on one HTTP request, combined. */
export interface Passage {
  readonly ask: (call: Call) => Promise<unknown>;
  readonly send: HttpEffect;
}

export interface Effects {
  /** @throws RpcError for unknown quirks */
  change(change: WeatherChange): void;
  /** Active quirks. */
  inForce(): Weather;
  begin(calls: readonly Call[]): Passage;
}

type Begun = (calls: readonly Call[]) => Effect;

/** @param seed of all that happens by chance */
export function createEffects(node: Omit<QuirkyNode, 'random'>, seed: string): Effects {
  const settings = new Map<QuirkName, object>();
  const begun = new Map<QuirkName, Begun>();

  function start(name: QuirkName, given: object & Often): Begun {
    const own = { ...node, random: randomOf(`${seed} ${name}`).next };
    const quirk: Quirk<never> = quirks[name];
    return atTimes(quirk.begin(given as never, own), given, randomOf(`${seed} ${name} at times`).next);
  }

  return {
    change(change) {
      checkWeather(change, node.family);
      for (const name of quirkNames) {
        const wanted = change[name];
        if (wanted === undefined) continue;
        settings.delete(name);
        begun.delete(name);
        if (wanted === null) continue;
        settings.set(name, wanted);
        begun.set(name, start(name, wanted));
      }
    },
    inForce: () => Object.fromEntries(settings) as Weather,
    begin(calls) {
      const effects = quirkNames.flatMap((name) => begun.get(name)?.(calls) ?? []);
      return { ask: askThrough(effects, node.chain), send: sendThrough(effects) };
    },
  };
}

function askThrough(effects: readonly Effect[], chain: Ask): Passage['ask'] {
  const ask = effects.reduceRight<(call: Call) => Promise<unknown>>(
    (behind, { call: effect }) =>
      effect ? (call) => effect(call, (method, params) => behind({ ...call, method, params })) : behind,
    ({ method, params }) => chain(method, params),
  );
  return ask;
}

const sendThrough =
  (effects: readonly Effect[]): HttpEffect =>
  (reply) =>
    effects.reduceRight<() => Promise<HttpReply>>((behind, { http }) => (http ? () => http(behind) : behind), reply)();

/** The same quirk, for some methods and by chance. */
function atTimes(begun: Begun, { chance = 1, methods }: Often, random: () => number): Begun {
  const happens = () => chance >= 1 || random() < chance;
  const isMeant = ({ method }: Call) => methods?.includes(method) ?? true;
  const some =
    (effect: CallEffect): CallEffect =>
    (call, next) =>
      isMeant(call) && happens() ? effect(call, next) : next(call.method, call.params);
  return (calls) => {
    const { call, http } = begun(calls);
    const shows = http && calls.some(isMeant) && happens();
    return { ...(call && { call: some(call) }), ...(shows && { http }) };
  };
}
