/** What requests say: bodies and queries, bounded and strictly read. */
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type { Refusal } from "./gate.ts";
import { BODY_BYTES_MAX, LABEL_MAX, PROMPT_MAX } from "./limits.ts";

/** An expected refusal on its way to the one place that answers it. */
export class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.name = "Refused";
    this.refusal = refusal;
  }
}

export function refused(status: Refusal["status"], code: string, message: string): Refused {
  return new Refused({ status, code, message });
}

const idMax = 512;

export const exchangeBody = z.strictObject({
  code: z.string().max(64),
  /** What the person calls the device. */
  label: z
    .string()
    .max(4 * LABEL_MAX)
    .optional(),
  /** `bearer`: the key is answered, for programs. Without it a cookie is set. */
  as: z.enum(["cookie", "bearer"]).optional(),
});

export const answerBody = z.strictObject({
  approval: z.string().min(1).max(idMax),
  option: z.string().min(1).max(idMax),
});

export const promptBody = z.strictObject({ text: z.string().min(1).max(PROMPT_MAX) });

export const emptyBody = z.strictObject({});

/** All bytes of a body. Throws where it is longer than a body may be: what is left of it is not waited for. */
async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX)
      throw new Refused({
        status: 413,
        code: "large-body",
        message: `A body is at most ${BODY_BYTES_MAX} bytes.`,
        headers: { connection: "close" },
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function isCutOff(error: unknown): boolean {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code === "ECONNRESET" || code === "ERR_STREAM_PREMATURE_CLOSE";
}

/** The body of a request, as `shape` has it. Throws a Refused that names no value of it. */
export async function readJsonBody<T>(incoming: IncomingMessage, shape: z.ZodType<T>): Promise<T> {
  const bytes = await readBody(incoming).catch((error: unknown) => {
    if (!isCutOff(error)) throw error;
    throw refused(400, "cut-body", "The body ended before its end.");
  });
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError)
      throw refused(400, "bad-json", "The body is not JSON.");
    throw error;
  }
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const places = parsed.error.issues.map(({ path }) => path.join(".")).filter((place) => place !== "");
  const where = places.length === 0 ? "" : ` (${[...new Set(places)].slice(0, 4).join(", ")})`;
  throw refused(400, "bad-body", `The body has not the fields it needs${where}.`);
}

/** A whole number of a query, within bounds; `fallback` where it is absent. Throws a Refused where it is none. */
export function countOf(text: string | undefined, name: string, fallback: number, max: number): number {
  if (text === undefined) return fallback;
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1)
    throw refused(400, "bad-query", `${name} is a whole number of at least 1.`);
  return Math.min(Number(text), max);
}
