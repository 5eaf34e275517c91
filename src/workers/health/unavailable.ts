/** Reports causes of 503 answers: in the log, as an alarm if a chain's nodes are the cause, and in readiness. */
import type { Clock } from '../../../commands/ports.ts';
import { epochMs, minute_ms } from '../../../domain/time.ts';
import { RpcFailed } from '../../chains/node/jsonRpc.ts';
import { ChainUnavailable } from '../../chains/node/nodes.ts';
import { throttle } from '../../lib/cache.ts';
import type { Telemetry } from '../../process/telemetry.ts';

export interface UnavailableReasons {
  /** Reports an error at most once a minute. For a chain: each node, with the method and the node's answer. */
  report(error: unknown): void;
  /** Answers of a chain's nodes within the last minute, without their hosts; undefined if no caller had to wait for them. */
  ofChain(chainId: number): string | undefined;
}

interface Reason {
  readonly chainId: number;
  readonly node: string;
  readonly method: string;
  readonly answer: string;
}

/** Maximum depth of error causes. A longer chain is a mistake. */
const depthMax = 10;
/** Stored characters of an answer, whose text a node chooses. */
const answerMax = 300;

export function createUnavailableReasons(
  clock: Pick<Clock, 'now'>,
  telemetry: Pick<Telemetry, 'alarm' | 'logger'>,
): UnavailableReasons {
  const newest = new Map<number, { readonly text: string; readonly at_ms: number }>();
  const alarm = throttle(
    minute_ms,
    clock,
    ({ chainId, node, method }: Reason) => `${chainId} ${node} ${method}`,
    ({ chainId, node, method, answer }) =>
      telemetry.alarm(
        'chainUnanswered',
        { chainId, node, method, answer },
        `a caller got 503 because ${node} did not answer ${method}: ${answer}`,
      ),
  );
  const log = throttle(minute_ms, clock, String, (reason: string) =>
    telemetry.logger.warn({ reason }, 'a caller got 503'),
  );

  return {
    report(error) {
      const failed = chainFailure(error);
      if (failed === undefined) return log(textOf(error));
      const reasons = failed.failures.map((failure) => reasonOf(failed.chainId, failure));
      for (const reason of reasons) alarm(reason);
      if (reasons.length === 0) log(failed.message);
      const text = reasons.map(({ node, method, answer }) => `${hostless(node)} ${method}: ${answer}`).join('; ');
      newest.set(failed.chainId, { text, at_ms: epochMs(clock.now()) });
    },

    ofChain(chainId) {
      const last = newest.get(chainId);
      return last && epochMs(clock.now()) - last.at_ms < minute_ms ? last.text : undefined;
    },
  };
}

function chainFailure(error: unknown): ChainUnavailable | undefined {
  let each = error;
  for (let depth = 0; depth < depthMax && each instanceof Error; depth += 1) {
    if (each instanceof ChainUnavailable) return each;
    each = each.cause;
  }
  return undefined;
}

function reasonOf(chainId: number, failure: Error): Reason {
  if (!(failure instanceof RpcFailed))
    return { chainId, node: 'its nodes', method: 'any call', answer: failure.message.slice(0, answerMax) };
  const { node, method, kind, detail } = failure;
  return { chainId, node, method, answer: `${kind}: ${detail}`.slice(0, answerMax) };
}

/** Removes the host of "node 1 (host)". */
const hostless = (node: string): string => node.replace(/ \(.*\)$/, '');

const textOf = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));
