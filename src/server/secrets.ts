/** Secrets: random texts, and the hashes under which they are stored. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const idLetters = "abcdefghijklmnopqrstuvwxyz234567";
/** Without I, L, O and U, which people take for something else. */
const codeLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const ID_LENGTH = 12;
const SECRET_BYTES = 32;
const CODE_LENGTH = 10;

function letters(alphabet: string, length: number): string {
  // 256 is a multiple of 32: each letter is as likely as any other.
  return Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join("");
}

/** A key's id: public, names it in lists and in the access log. */
export function makeKeyId(): string {
  return letters(idLetters, ID_LENGTH);
}

export function isKeyId(text: string): boolean {
  return /^[a-z2-7]{12}$/.test(text);
}

/** What a client sends: the key's id and 256 random bits. */
export function makeSecret(keyId: string): string {
  return `hansard_${keyId}_${randomBytes(SECRET_BYTES).toString("base64url")}`;
}

/** The key's id in a secret; undefined where the text cannot be one. */
export function keyIdOf(secret: string): string | undefined {
  return /^hansard_([a-z2-7]{12})_[A-Za-z0-9_-]{43}$/.exec(secret)?.[1];
}

/** A one-time code of 50 random bits, in two groups that can be read aloud. */
export function makeCode(): string {
  const text = letters(codeLetters, CODE_LENGTH);
  return `${text.slice(0, CODE_LENGTH / 2)}-${text.slice(CODE_LENGTH / 2)}`;
}

/** The code as it was made, from what a person typed; undefined where it cannot be one. */
export function normalizeCode(typed: string): string | undefined {
  if (typed.length > 4 * CODE_LENGTH) return undefined;
  const text = typed.toUpperCase().replace(/[\s-]/g, "").replace(/O/g, "0").replace(/[IL]/g, "1");
  if (!/^[0-9A-HJKMNP-TV-Z]{10}$/.test(text)) return undefined;
  return `${text.slice(0, CODE_LENGTH / 2)}-${text.slice(CODE_LENGTH / 2)}`;
}

/** Secrets have more than enough randomness of their own: no salt and no slow hash is needed. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Whether a secret has the stored hash, in a time that does not tell how much of it fits. */
export function hasHash(secret: string, hash: string): boolean {
  const given = Buffer.from(hashSecret(secret), "hex");
  const stored = Buffer.from(hash, "hex");
  return given.length === stored.length && timingSafeEqual(given, stored);
}
