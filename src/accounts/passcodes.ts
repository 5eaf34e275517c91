/** Codes that are mailed: six digits, kept as salted scrypt hashes, for few tries and a short time. */
import { randomBytes, randomInt, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/** What is kept of a code. */
export interface KeptCode {
  readonly salt: string;
  readonly codeHash: string;
}

/** Both take the same work, whatever they are asked. */
export interface Passcodes {
  make(): Promise<KeptCode & { readonly code: string }>;
  matches(code: string, kept: KeptCode): Promise<boolean>;
}

const codeDigits = 6;
const saltBytes = 16;
const hashBytes = 32;
/** About 40 ms: to try all codes against a stolen hash takes hours, and a code lives for minutes. */
const productCost: ScryptCost = { N: 2 ** 14, r: 8, p: 1 };

export type ScryptCost = Pick<ScryptOptions, 'N' | 'r' | 'p'>;

const wellFormed = new RegExp(`^[0-9]{${codeDigits}}$`);

export const isPasscode = (text: string): boolean => wellFormed.test(text);

export const createPasscodes = (cost: ScryptCost): Passcodes => ({
  async make() {
    const code = String(randomInt(10 ** codeDigits)).padStart(codeDigits, '0');
    const salt = randomBytes(saltBytes).toString('hex');
    return { code, salt, codeHash: (await hashOf(code, salt, cost)).toString('hex') };
  },
  matches: async (code, { salt, codeHash }) =>
    timingSafeEqual(await hashOf(code, salt, cost), Buffer.from(codeHash, 'hex')),
});

export const scryptPasscodes = createPasscodes(productCost);

/** Not on the thread of requests. */
const hashOf = (code: string, salt: string, cost: ScryptCost): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(code, Buffer.from(salt, 'hex'), hashBytes, cost, (error, key) => (error ? reject(error) : resolve(key)));
  });
