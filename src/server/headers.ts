/** Headers of every answer. */
import type { ServerResponse } from "node:http";

/** The policy of an answer; `styleHash` lets in the one style sheet of that SHA-256, in base64, within the document. */
export function policyOf(styleHash?: string): string {
  return policy.replace(
    "style-src 'self'",
    styleHash === undefined ? "style-src 'self'" : `style-src 'sha256-${styleHash}'`,
  );
}

const policy: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const YEAR_S = 31_536_000;

/** Set on the raw response, before anything else: also on refusals and failures. */
export function setSecurityHeaders(out: ServerResponse, isHttps: boolean): void {
  out.setHeader("content-security-policy", policy);
  out.setHeader("x-content-type-options", "nosniff");
  out.setHeader("x-frame-options", "DENY");
  out.setHeader("referrer-policy", "no-referrer");
  out.setHeader("cross-origin-opener-policy", "same-origin");
  out.setHeader("cross-origin-resource-policy", "same-origin");
  out.setHeader("permissions-policy", "camera=(), microphone=(), geolocation=()");
  out.setHeader("cache-control", "no-store");
  if (isHttps) out.setHeader("strict-transport-security", `max-age=${YEAR_S}`);
}

/** A lane must reach the client as it is written: no proxy may hold it back, pack it or keep it. */
export const laneHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};
