/** What the API and the workers report to telemetry. */

export interface RequestSeen {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly duration_s: number;
}

export type WorkReport =
  | { readonly worker: string; readonly kind: 'done'; readonly key: string }
  /** Stopped in the middle, not failed: whoever runs next takes it up again. */
  | { readonly worker: string; readonly kind: 'interrupted'; readonly key: string }
  | { readonly worker: string; readonly kind: 'failed'; readonly key: string; readonly error: unknown }
  /** The list itself could not be read, or a failure not be noted: tried again after a pause. */
  | { readonly worker: string; readonly kind: 'stalled'; readonly error: unknown };
