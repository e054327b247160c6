/** What a request must be before anything of it is looked at: pure checks of its head, in one order, on every route. */
import { isIP } from "node:net";
import { BODY_BYTES_MAX, TARGET_MAX } from "./limits.ts";

/** Why a request is not served. `code` is stable; the message is for people and holds nothing of the request. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 410 | 413 | 414 | 415 | 429 | 500 | 503;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The head of a request. */
export interface RequestHead {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  /** Names and values by turns, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** Where the connection arrived. */
  readonly localAddress: string;
  readonly localPort: number;
  readonly isTls: boolean;
}

export interface GateRules {
  /** Further origins under which the server is reached (`https://name[:port]`), as its operator told. */
  readonly origins: readonly string[];
  /** True where a proxy stands before it: then the address it listens at is reached by the proxy alone. */
  readonly isBehindProxy: boolean;
}

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST"]);

function refuse(status: Refusal["status"], code: string, message: string): Refusal {
  return { status, code, message };
}

/** All values of a header. */
function valuesOf(head: RequestHead, name: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < head.rawHeaders.length; at += 2)
    if (head.rawHeaders[at]?.toLowerCase() === name) values.push(head.rawHeaders[at + 1] ?? "");
  return values;
}

/** A host with its port, as it is compared; undefined where the text is none. */
function authorityOf(text: string, isTls: boolean): string | undefined {
  const match = /^([a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?$/.exec(text.toLowerCase());
  if (match === null) return undefined;
  return `${match[1]}:${match[2] ?? (isTls ? 443 : 80)}`;
}

/** An address as it stands in a Host header. */
function literalOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, "");
  return isIP(plain) === 6 ? `[${plain.toLowerCase()}]` : plain;
}

function isLoopback(literal: string): boolean {
  return literal.startsWith("127.") || literal === "[::1]";
}

/** Whether an origin of the operator's words is one: a scheme, a host, nothing behind it. */
export function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text;
}

function isOurHost(head: RequestHead, rules: GateRules, authority: string): boolean {
  const literal = literalOf(head.localAddress);
  if (authority === `${literal}:${head.localPort}`) return true;
  // A name that anybody can point at this address is not ours: only the one that every system keeps for itself.
  if (isLoopback(literal) && authority === `localhost:${head.localPort}`) return true;
  return rules.origins.some((origin) => {
    const url = new URL(origin);
    return (
      authorityOf(url.host, url.protocol === "https:") === authority ||
      url.host === authority.replace(/:(80|443)$/, "")
    );
  });
}

function checkSite(head: RequestHead, rules: GateRules): Refusal | undefined {
  const hosts = valuesOf(head, "host");
  const authority = hosts.length === 1 ? authorityOf(hosts[0] ?? "", head.isTls) : undefined;
  if (authority === undefined || !isOurHost(head, rules, authority))
    return refuse(403, "foreign-host", "This server is not reached under that name.");
  const origins = valuesOf(head, "origin");
  if (origins.length > 1) return refuse(403, "foreign-origin", "Other pages may not ask this server.");
  const [origin] = origins;
  if (origin !== undefined && !isOurOrigin(head, rules, origin, authority))
    return refuse(403, "foreign-origin", "Other pages may not ask this server.");
  const [site] = valuesOf(head, "sec-fetch-site");
  const isApi = /^\/api(?:[/?]|$)/.test(head.target);
  // A link from elsewhere may open the page; nothing else may come from there.
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    const [mode] = valuesOf(head, "sec-fetch-mode");
    if (isApi || mode !== "navigate" || head.method !== "GET")
      return refuse(403, "foreign-origin", "Other pages may not ask this server.");
  }
  return undefined;
}

function isOurOrigin(head: RequestHead, rules: GateRules, origin: string, authority: string): boolean {
  if (rules.origins.includes(origin)) return true;
  if (rules.isBehindProxy || !isOrigin(origin)) return false;
  const { protocol, host } = new URL(origin);
  return protocol === (head.isTls ? "https:" : "http:") && authorityOf(host, head.isTls) === authority;
}

/** Letters, digits and a few marks, without escapes, empty parts or dots alone: no path of ours needs more. */
function isPlainPath(path: string): boolean {
  return path === "/" || /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/.test(path);
}

function checkTarget({ target }: RequestHead): Refusal | undefined {
  if (target.length > TARGET_MAX) return refuse(414, "long-target", "The path and query are too long.");
  const path = target.split("?", 1)[0] ?? "";
  if (!isPlainPath(path) || target.includes("#") || /[^\x21-\x7e]/.test(target))
    return refuse(400, "bad-target", "That is no path of this server.");
  return undefined;
}

function checkBody(head: RequestHead): Refusal | undefined {
  const lengths = valuesOf(head, "content-length");
  const codings = valuesOf(head, "transfer-encoding");
  if (head.method !== "POST") {
    const hasBody = codings.length > 0 || lengths.some((length) => length !== "0");
    return hasBody ? refuse(400, "unexpected-body", "A request of this method has no body.") : undefined;
  }
  if (valuesOf(head, "content-encoding").length > 0)
    return refuse(415, "bad-content-type", "A body is plain JSON.");
  const types = valuesOf(head, "content-type");
  // Of the types that a form of another page can send without asking, none is this one.
  if (types.length !== 1 || !/^application\/json(?:;\s*charset=utf-8)?$/i.test(types[0] ?? ""))
    return refuse(415, "bad-content-type", "A body is application/json.");
  if (lengths.some((length) => !/^\d{1,15}$/.test(length) || Number(length) > BODY_BYTES_MAX))
    return refuse(413, "large-body", `A body is at most ${BODY_BYTES_MAX} bytes.`);
  return undefined;
}

/** Why a request is refused by its head alone; undefined where it may be looked at. */
export function checkRequest(head: RequestHead, rules: GateRules): Refusal | undefined {
  const foreign = checkSite(head, rules);
  if (foreign !== undefined) return foreign;
  if (!methods.has(head.method))
    return {
      ...refuse(405, "bad-method", "That method is not served."),
      headers: { allow: [...methods].join(", ") },
    };
  return checkTarget(head) ?? checkBody(head);
}

/** The client that a request counts for: the peer, or what the proxy before us says of it. An IPv6 client is its network. */
export function clientOf(peer: string, forwarded: string | undefined, isBehindProxy: boolean): string {
  const last = isBehindProxy ? forwarded?.split(",").at(-1)?.trim() : undefined;
  const address = (last !== undefined && isIP(last) !== 0 ? last : peer).replace(/^::ffff:(?=\d+\.)/, "");
  return isIP(address) === 6 ? networkOf(address) : address;
}

/** The first 64 bits of an IPv6 address: one client has all the others. */
function networkOf(address: string): string {
  const bare = address.split("%", 1)[0] ?? address;
  const [left = "", right] = bare.split("::");
  const head = left === "" ? [] : left.split(":");
  const tail = right === undefined || right === "" ? [] : right.split(":");
  const zeros =
    right === undefined ? [] : new Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(":")}::`;
}
