/** What an export must not carry: how secrets, keys, addresses and places of a person look. */

export type SecretKind =
  | "private key"
  | "key"
  | "token"
  | "password"
  | "possible secret"
  | "e-mail"
  | "home folder"
  | "user name";

export interface SecretRule {
  readonly kind: SecretKind;
  /** Global; the group `secret`, where it has one, is what is replaced, else the whole match. Linear: no start is tried within a run. */
  readonly pattern: RegExp;
  /** Whether what was found is one after all. */
  readonly isSecret?: (found: string) => boolean;
  /** What stands there instead; absent: the kind in brackets. */
  readonly instead?: string;
}

/** Nothing of a word stands before it. */
const fresh = "(?<![A-Za-z0-9_-])";

const prefixes = [
  "sk-",
  "sk_live_",
  "sk_test_",
  "rk_live_",
  "rk_test_",
  "pk_live_",
  "whsec_",
  "gh[opusr]_",
  "github_pat_",
  "glpat-",
  "gldt-",
  "xox[abeoprs]-",
  "xapp-",
  "A(?:KIA|SIA|GPA|IDA|ROA)(?=[A-Z0-9]{8})",
  "AIza",
  "ya29\\.",
  "GOCSPX-",
  "npm_",
  "pypi-",
  "hf_",
  "SG\\.",
  "dop_v1_",
  "doo_v1_",
  "shp(?:at|ca|pa|ss)_",
  "AGE-SECRET-KEY-1",
  "xai-",
  "gsk_",
  "pplx-",
  "r8_",
  "tskey-",
  "hv[sbr]\\.",
  "lin_api_",
  "ntn_",
  "figd_",
  "eyJ(?=[A-Za-z0-9_-]*\\.)",
].join("|");

const names =
  "(?:[A-Za-z0-9_.-]{0,64}?(?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d|passphrase|pwd|credentials?|private[_-]?key|auth[_-]?key|cookie|client[_-]?secret))";

function isMixed(text: string): boolean {
  return /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text);
}

/** Bits a character, by how often each stands in the text. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const sign of text) counts.set(sign, (counts.get(sign) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

const possibleEntropyMin = 3.5;

/** In the order in which they are tried; what one replaced is not looked at by those after it. */
export const secretRules: readonly SecretRule[] = [
  {
    kind: "private key",
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
  { kind: "key", pattern: new RegExp(`${fresh}(?:${prefixes})[A-Za-z0-9_.~+/=-]{6,}`, "g") },
  {
    kind: "token",
    pattern: /\b(?:bearer|basic|digest|negotiate)\s+(?<secret>[A-Za-z0-9_.~+/=-]{8,})/gi,
  },
  { kind: "password", pattern: /:\/\/(?<secret>[^\s/@"'<>]{1,256}:[^\s/@"'<>]{1,256})@/g },
  {
    kind: "password",
    pattern: new RegExp(
      `(?<![A-Za-z0-9_.-])${names}(?:\\\\?["'])?\\s{0,4}(?::|=>?|:=)\\s{0,4}(?:\\\\?["'])?(?<secret>[^\\s"'\\\\,;&<>(){}\\[\\]]{4,})`,
      "gi",
    ),
    isSecret: (found) =>
      !/^(?:true|false|null|none|undefined|string|number|process\.env.*|os\.environ.*|\$.*)$/i.test(found),
  },
  {
    kind: "password",
    pattern: /(?<![\w-])--?(?:password|passwd|token|secret|api-?key)[ =](?<secret>[^\s"'\\,;]{4,})/gi,
  },
  {
    kind: "e-mail",
    pattern: /(?<![\w.+%-])[\w.+%-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])/g,
  },
  {
    kind: "possible secret",
    pattern: /(?<![A-Za-z0-9+_=-])[A-Za-z0-9+_=-]{24,}/g,
    isSecret: (found) =>
      /^[0-9a-f]{32,}$/i.test(found) || (isMixed(found) && entropyOf(found) >= possibleEntropyMin),
  },
];

/** Home folders of anybody: what is replaced is the person's name in them. */
export const homeRule: SecretRule = {
  kind: "home folder",
  pattern:
    /(?:\/home\/|\/Users\/|[A-Za-z]:(?:\\{1,2}|\/)Users(?:\\{1,2}|\/))(?<secret>[^\s/\\"'<>:|?*,;)\]}]{1,64})/g,
  isSecret: (found) => found !== "[user]",
  instead: "[user]",
};
