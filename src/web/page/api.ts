/** The server's routes, as the page asks them. */

/** A refusal of the server's, in its words. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** What else the answer said. */
  readonly body: { readonly [field: string]: unknown };
  constructor(status: number, body: { readonly [field: string]: unknown }) {
    const error = body["error"] as { readonly code?: string; readonly message?: string } | undefined;
    super(error?.message ?? `The server answered ${status}.`);
    this.name = "ApiError";
    this.status = status;
    this.code = error?.code ?? "";
    this.body = body;
  }
}

/** Asks for JSON. Rejects with an ApiError where the server refuses, with a TypeError where it is not reached. */
export async function ask<T>(path: string, body?: unknown): Promise<T> {
  const answer = await fetch(path, {
    method: body === undefined ? "GET" : "POST",
    cache: "no-store",
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const told = (await answer.json().catch(() => ({}))) as { readonly [field: string]: unknown };
  if (answer.ok) return told as T;
  throw new ApiError(answer.status, told);
}

/** What went wrong, for a person. */
export function wordsOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (error instanceof TypeError) return "The server is not reached.";
  throw error;
}

/** What the address' fragment has under a name: never sent to a server. */
export function fragmentValue(name: string): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get(name) ?? undefined;
}

export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the document has no #${id}`);
  return found as T;
}
