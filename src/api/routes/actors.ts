/** Who did something, as an app's owner is told: no operator's name, and nobody's id. */

/**
 * @param cause of an event
 * @param developerId of the owner who asks
 */
export function actorText(cause: string, developerId: string): string {
  const [kind, id = ''] = cause.split(/:(.*)/s);
  switch (kind) {
    case 'developer':
      return id === developerId ? 'you' : 'another owner';
    case 'operator':
      return 'the operator';
    case 'key':
      return `key ${id}`;
    default:
      return 'the service';
  }
}
