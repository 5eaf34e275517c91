/** What `npm run doctor` looks at, and what it can say of it. */
export type Verdict = 'fine' | 'look' | 'broken';

/** One thing that was looked at. */
export interface Finding {
  readonly verdict: Verdict;
  readonly what: string;
  readonly said: string;
  /** What to do about it; left out where there is nothing to do. */
  readonly todo?: string;
}

export interface Check {
  /** What is looked at as a whole: `Postgres`, `Base (8453)`. */
  readonly area: string;
  look(signal: AbortSignal): Promise<readonly Finding[]>;
}

export interface Examined {
  readonly area: string;
  readonly findings: readonly Finding[];
}

export const fine = (what: string, said: string): Finding => ({ verdict: 'fine', what, said });
export const look = (what: string, said: string, todo: string): Finding => ({ verdict: 'look', what, said, todo });
export const broken = (what: string, said: string, todo: string): Finding => ({ verdict: 'broken', what, said, todo });

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Longer than the slowest node is waited for. */
const patience_ms = 90_000;

/**
 * Looks at everything side by side. One that fails, or does not come to its end, is a finding of its own.
 * @param onDone called as each ends
 * @returns in the order of the checks
 */
export function examine(checks: readonly Check[], onDone: () => void = () => {}): Promise<readonly Examined[]> {
  const one = async ({ area, look: findings }: Check): Promise<Examined> => {
    const signal = AbortSignal.timeout(patience_ms);
    const late = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => late.reject(new Error(`no answer in ${patience_ms / 1_000} s`)));
    try {
      return { area, findings: await Promise.race([findings(signal), late.promise]) };
    } catch (error) {
      return { area, findings: [broken('look', reasonOf(error), 'mend what this says and run it again')] };
    } finally {
      onDone();
    }
  };
  return Promise.all(checks.map(one));
}

/** The worst of all findings. */
export function verdictOf(examined: readonly Examined[]): Verdict {
  const verdicts = new Set(examined.flatMap(({ findings }) => findings.map(({ verdict }) => verdict)));
  return verdicts.has('broken') ? 'broken' : verdicts.has('look') ? 'look' : 'fine';
}
