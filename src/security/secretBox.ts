import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Encrypts secrets at rest. The context (owner and purpose) is authenticated: a ciphertext opens only in its own context. */
export interface SecretBox {
  seal(plain: string, context: string): string;
  /** @throws SecretBoxError if sealed under another key or for another context, or changed */
  open(sealed: string, context: string): string;
}

export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
}

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;
const format = 'v1';

/**
 * AES-256-GCM under master keys of 32 bytes. Sealed text: `v1.<key id>.<base64url of IV, ciphertext, tag>`. A random IV of 96 bits is safe
 * for 2^32 secrets per key.
 *
 * @param current seals and opens
 * @param former only open: for texts sealed before the master key was changed
 */
export function createSecretBox(current: Uint8Array, former: readonly Uint8Array[] = []): SecretBox {
  const keys = new Map([...former, current].map((key) => [keyIdOf(key), key]));
  const currentId = keyIdOf(current);
  return {
    seal(plain, context) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, current, iv).setAAD(associated(currentId, context));
      const sealed = Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${format}.${currentId}.${sealed.toString('base64url')}`;
    },

    open(sealed, context) {
      const [version, keyId = '', text = ''] = sealed.split('.');
      if (version !== format) throw new SecretBoxError(`the secret for ${context} is not sealed in format ${format}`);
      const key = keys.get(keyId);
      if (!key) {
        throw new SecretBoxError(
          `the secret for ${context} is sealed under master key ${keyId}, but the keys given are ${[...keys.keys()].join(', ')}: start with the key it was sealed under`,
        );
      }
      const bytes = Buffer.from(text, 'base64url');
      const end = bytes.length - tagBytes;
      try {
        const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
          .setAAD(associated(keyId, context))
          .setAuthTag(bytes.subarray(Math.max(0, end)));
        return Buffer.concat([decipher.update(bytes.subarray(ivBytes, end)), decipher.final()]).toString('utf8');
      } catch (error) {
        const message = `the secret for ${context} cannot be opened: it was changed, or sealed for something else`;
        throw new SecretBoxError(message, { cause: error });
      }
    },
  };
}

/** True if a sealed text names this key. */
export const isSealedUnder = (key: Uint8Array, sealed: string): boolean => sealed.startsWith(sealedPrefix(key));

/** Prefix of every text sealed under the key. */
export const sealedPrefix = (key: Uint8Array): string => `${format}.${keyIdOf(key)}.`;

/**
 * Reads a master key from configuration.
 *
 * @param text 64 hex characters
 * @throws SecretBoxError with a key's format; the text itself is not repeated
 */
export function parseMasterKey(text: string): Uint8Array {
  if (!/^[0-9a-fA-F]{64}$/.test(text)) {
    throw new SecretBoxError(
      `a master key is ${keyBytes} bytes as ${2 * keyBytes} hex characters: openssl rand -hex 32`,
    );
  }
  return Buffer.from(text, 'hex');
}

/** Identifies a key without revealing it. @throws SecretBoxError for a key of another length */
export function keyIdOf(key: Uint8Array): string {
  if (key.length !== keyBytes) throw new SecretBoxError(`a master key has ${keyBytes} bytes, not ${key.length}`);
  return createHash('sha256').update('payment-intents secret box key id').update(key).digest('hex').slice(0, 8);
}

const associated = (keyId: string, context: string): Buffer => Buffer.from(`${format}.${keyId}.${context}`, 'utf8');
