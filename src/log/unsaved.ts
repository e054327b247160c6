/** A writer that keeps nothing: for sessions that are not to be saved. It checks as the real one does and touches no disk. */

import { type BlobRef, blobRefOf } from "./blobs.ts";
import { LogError } from "./errors.ts";
import { emptyState, type TailState } from "./fold.ts";
import { blobBytesMax } from "./limits.ts";
import { nowOf } from "./now.ts";
import type { LogPorts } from "./ports.ts";
import { advancePlan, fillIn, type TurnPlan } from "./prepare.ts";
import type { RecordSpec, SessionBody } from "./records.ts";
import type {
  Appended,
  Closed,
  Flushed,
  LogWriter,
  OpenedState,
  RecordPlace,
  WriterStatus,
} from "./writer-types.ts";

/**
 * The writer of a session that is not saved. Records are checked and numbered, and nothing of them is kept; a payload is measured and
 * dropped. Its places have no bytes.
 */
export function createUnsavedLog(
  session: Omit<SessionBody, "kind">,
  ports: Pick<LogPorts, "clock" | "randomId">,
): LogWriter {
  let plan: TurnPlan = { open: undefined, turns: 0 };
  let tail: TailState = emptyState;
  let closed: Closed | undefined;

  function take(specs: readonly RecordSpec[]): Appended {
    if (closed !== undefined) throw new LogError("closed", `session ${session.id} is closed`);
    let next = { plan, leafTurnId: tail.leafTurnId, seqNext: tail.seqNext };
    const places: RecordPlace[] = [];
    for (const spec of specs) {
      const body = fillIn(spec, {
        nowMs: nowOf(ports.clock),
        leafTurnId: next.leafTurnId,
        plan: next.plan,
        randomId: ports.randomId,
      }) as { readonly kind: string; readonly turnId?: string };
      places.push({
        seq: next.seqNext,
        start: 0,
        end: 0,
        ...(body.turnId === undefined ? {} : { turnId: body.turnId }),
      });
      next = {
        plan: advancePlan(next.plan, body.kind),
        leafTurnId: body.kind === "message" ? body.turnId : next.leafTurnId,
        seqNext: next.seqNext + 1,
      };
    }
    plan = next.plan;
    const openTurn = plan.open === undefined ? undefined : { turn: plan.open, offset: 0 };
    tail = { ...tail, leafTurnId: next.leafTurnId, seqNext: next.seqNext, turns: plan.turns, openTurn };
    return { state: "unsaved", places };
  }

  const opened: OpenedState = { state: "new", tail: emptyState };
  const status = (): WriterStatus => ({
    savedSeqEnd: 1,
    seqNext: tail.seqNext,
    heldRecords: 0,
    heldBytes: 0,
    missedRecords: 0,
    isLost: false,
  });
  return {
    mode: "unsaved",
    id: session.id,
    session: { kind: "session", ...session },
    opened,
    get tail(): TailState {
      return tail;
    },
    async append(specs): Promise<Appended> {
      return take(Array.isArray(specs) ? (specs as readonly RecordSpec[]) : [specs as RecordSpec]);
    },
    async flush(): Promise<Flushed> {
      return { saved: false, savedSeqEnd: 1 };
    },
    async putBlob(payload): Promise<BlobRef> {
      const parts: Uint8Array[] = [];
      let bytes = 0;
      for await (const part of payload instanceof Uint8Array ? [payload] : payload) {
        bytes += part.length;
        if (bytes > blobBytesMax) throw new LogError("too-large", `a blob is at most ${blobBytesMax} bytes`);
        parts.push(part);
      }
      return blobRefOf(Buffer.concat(parts));
    },
    status,
    async close(): Promise<Closed> {
      closed ??= {
        saved: false,
        unsavedRecords: tail.seqNext - 1,
        message: "The session was not saved, as asked.",
      };
      return closed;
    },
  };
}
