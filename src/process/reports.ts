/** Reports of the API and the workers to telemetry. */

export interface RequestSeen {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly duration_s: number;
}

export type WorkReport =
  | { readonly worker: string; readonly kind: 'done'; readonly key: string }
  /** Interrupted, not failed: the next runner continues it. */
  | { readonly worker: string; readonly kind: 'interrupted'; readonly key: string }
  | { readonly worker: string; readonly kind: 'failed'; readonly key: string; readonly error: unknown }
  /** The list could not be read, or a failure not recorded: retried after a pause. */
  | { readonly worker: string; readonly kind: 'stalled'; readonly error: unknown };
