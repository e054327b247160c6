/** Replaces what an export must not carry, in every text of a value, and keeps the list of what was replaced where. Pure. */
import { FINDINGS_MAX } from "./limits.ts";
import { homeRule, type SecretKind, type SecretRule, secretRules } from "./secrets.ts";

export interface Finding {
  /** Where it stood, in the words of the caller. */
  readonly where: string;
  readonly kind: SecretKind;
  /** Code units that were replaced. */
  readonly length: number;
}

export interface Redactor {
  /** The same value with every text in it redacted, the keys of its objects too; numbers, truth values and shapes stay. */
  redact<T>(value: T, where: string): T;
  /** What was replaced, in order, at most `FINDINGS_MAX` of them. */
  readonly findings: readonly Finding[];
  /** How many of each kind. */
  readonly counts: ReadonlyMap<SecretKind, number>;
}

export interface RedactorOptions {
  /** Home folders of the person whose session it is; each becomes `~`. */
  readonly homes?: readonly string[];
  /** Names of the person's account: replaced where they stand as a word. Those shorter than `USER_NAME_MIN` are not. */
  readonly users?: readonly string[];
}

/** Shorter names would be found in words that have nothing to do with them. */
export const USER_NAME_MIN = 4;
/** Names of accounts that name nobody. */
const nobody: ReadonlySet<string> = new Set(["root", "user", "admin", "node", "ubuntu", "debian", "runner"]);

function quote(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function ownRules(options: RedactorOptions): readonly SecretRule[] {
  const homes = (options.homes ?? [])
    .filter((home) => home.length > 1)
    .map((home) => home.replace(/[/\\]+$/, ""));
  const users = (options.users ?? []).filter((user) => user.length >= USER_NAME_MIN && !nobody.has(user));
  const forms = homes.flatMap((home) => [
    { text: home, instead: "~" },
    { text: home.replaceAll("\\", "\\\\"), instead: "~" },
    // As a folder's name that was made of it: each sign that is no letter or digit is a dash.
    { text: home.replace(/[^A-Za-z0-9]/g, "-"), instead: "-home-[user]" },
  ]);
  return [
    ...forms.map(
      ({ text, instead }): SecretRule => ({
        kind: "home folder",
        pattern: new RegExp(`${quote(text)}(?![A-Za-z0-9_])`, "g"),
        instead,
      }),
    ),
    homeRule,
    ...users.map(
      (user): SecretRule => ({
        kind: "user name",
        pattern: new RegExp(`(?<![A-Za-z0-9])${quote(user)}(?![A-Za-z0-9])`, "gi"),
        instead: "[user]",
      }),
    ),
  ];
}

/** Redacts with the rules of `secrets.ts`. Linear in the texts. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  const rules = [...ownRules(options), ...secretRules];
  const findings: Finding[] = [];
  const counts = new Map<SecretKind, number>();

  function found(where: string, kind: SecretKind, length: number): void {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (findings.length < FINDINGS_MAX) findings.push({ where, kind, length });
  }

  function redactText(text: string, where: string): string {
    let out = text;
    for (const { kind, pattern, isSecret, instead } of rules) {
      out = out.replace(pattern, (match: string, ...rest: unknown[]) => {
        const groups = rest.at(-1) as { readonly secret?: string } | string;
        const secret = typeof groups === "string" ? match : (groups.secret ?? match);
        if (/^\[redacted: /.test(secret) || (isSecret !== undefined && !isSecret(secret))) return match;
        found(where, kind, secret.length);
        const at = match.lastIndexOf(secret);
        return match.slice(0, at) + (instead ?? `[redacted: ${kind}]`) + match.slice(at + secret.length);
      });
    }
    return out;
  }

  function redactValue(value: unknown, where: string): unknown {
    if (typeof value === "string") return redactText(value, where);
    if (Array.isArray(value)) return value.map((item) => redactValue(item, where));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [redactText(key, where), redactValue(item, where)]),
    );
  }

  return {
    redact: <T>(value: T, where: string): T => redactValue(value, where) as T,
    findings,
    counts,
  };
}
