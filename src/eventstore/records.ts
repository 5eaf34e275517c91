import type { AllStreamResolvedEvent, ResolvedEvent } from '@eventstore/db-client';
import { assert } from '../../domain/decider.ts';
import type { EventMetadata, StoredEvent } from '../../domain/event.ts';

/** An event as the client hands it over → as this product knows it. */
export function storedEvent(resolved: ResolvedEvent | AllStreamResolvedEvent): StoredEvent {
  const { event } = resolved;
  assert(
    event?.position !== undefined,
    'a store of version 22.6 or later tells the position of every event it returns',
  );
  return {
    stream: event.streamId,
    revision: event.revision,
    position: event.position.commit,
    id: event.id,
    type: event.type,
    data: event.data,
    metadata: event.metadata as unknown as EventMetadata,
  };
}
