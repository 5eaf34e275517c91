/** An app's keys: what owners send, and what the service answers. */
import Type from 'typebox';
import { keyScopes } from '../../../domain/merchant/events.ts';
import { keyNameMax } from '../../../domain/merchant/keys.ts';
import { closed, oneOf, orNull, Time, TimeOrNull, TimeSent, Uuid } from '../schemas/base.ts';

const { Array: List, Object: Shape, Optional } = Type;

const KeyName = Type.String({
  minLength: 1,
  maxLength: 2 * keyNameMax,
  description: `1 to ${keyNameMax} visible characters on one line`,
});
const KeyScope = oneOf(keyScopes, {
  title: 'KeyScope',
  description:
    'orders: creates and reads payments. admin: also reads lists, statistics and deliveries. No key changes settings.',
});

export const KeyRequest = Shape(
  { name: KeyName, scope: Optional(orNull(KeyScope)), expiresAt: Optional(orNull(TimeSent)) },
  {
    ...closed,
    title: 'KeyRequest',
    description: 'scope is orders unless admin is chosen. From expiresAt on, the key is refused.',
    examples: [{ name: 'till 1', scope: 'orders', expiresAt: null }],
  },
);
export const KeyNameRequest = Shape(
  { name: KeyName },
  { ...closed, title: 'KeyNameRequest', examples: [{ name: 'till 2' }] },
);
/** No format: a text that is no key's id is answered like the id of no key. */
export const KeyPath = Shape({ id: Type.String({ description: 'The key’s id.' }) }, closed);

const keyProperties = { keyId: Uuid, name: Type.String(), scope: KeyScope, hint: Type.String(), expiresAt: TimeOrNull };

export const NewKeyResponse = Shape(
  { ...keyProperties, key: Type.String() },
  { title: 'NewKeyResponse', description: 'The key is shown here and never again.' },
);

export const KeysResponse = Shape(
  {
    data: List(
      Shape(
        {
          ...keyProperties,
          createdAt: Time,
          createdBy: Type.String({ description: 'you, another owner, or the operator' }),
          lastUsedAt: Type.Unsafe<string | null>({ ...TimeOrNull, description: 'To the hour; null for never.' }),
          revokedAt: TimeOrNull,
        },
        { title: 'IssuedKey' },
      ),
    ),
  },
  { title: 'KeysResponse', description: 'All that the app ever had, oldest first.' },
);
