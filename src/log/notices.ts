/** What a person is told of the log, in whole sentences. */
import type { DiskEvent } from "./disk.ts";
import { errnoWords, type LogError } from "./errors.ts";
import type { LogNotice, WriteProblem } from "./writer-types.ts";

function counted(count: number): string {
  return count === 1 ? "1 record" : `${count} records`;
}

export function writeFailedNotice(code: string, path: string): LogNotice {
  return {
    code: "write-failed",
    tone: "error",
    text: `The session is not being saved: ${errnoWords(code)}. What is said is kept in memory and written when that is possible again.`,
    details: { code, path },
  };
}

export function recoveredNotice(records: number): LogNotice {
  return {
    code: "write-recovered",
    tone: "information",
    text: `The session is being saved again, with ${counted(records)} that had been held back.`,
    details: { records },
  };
}

export function missedNotice(isRefused: boolean, heldRecords: number, heldBytes: number): LogNotice {
  const why = isRefused ? "The disk has refused for too long" : "More is recorded than the disk takes";
  return {
    code: "records-missed",
    tone: "error",
    text: `${why}: from here on the session is not recorded, until that changes. ${counted(heldRecords)} of it in memory.`,
    details: { heldRecords, heldBytes },
  };
}

export function leaseLostNotice(error: LogError): LogNotice {
  return { code: "lease-lost", tone: "error", text: `${error.message}.` };
}

export function truncatedNotice(path: string, records: number): LogNotice {
  return {
    code: "log-truncated",
    tone: "error",
    text: `Another program has cut the session's log: it lost ${counted(records)}. The session goes on behind what is left.`,
    details: { path, records },
  };
}

/** Of what another program did to the file, and what was done about it. */
export function diskNotice(event: DiskEvent, path: string): LogNotice {
  switch (event.type) {
    case "removed":
      return {
        code: "log-removed",
        tone: "warning",
        text: "The session's log was removed by another program. It was written again, whole; contents kept beside it may be missing.",
        details: { path },
      };
    case "replaced":
      return {
        code: "log-replaced",
        tone: "warning",
        text: `The session's log was replaced by another file. That file is kept as ${event.keptAs}; the log was written again, whole.`,
        details: { path, keptAs: event.keptAs },
      };
    case "foreign":
      return {
        code: "foreign-bytes",
        tone: "warning",
        text: `Another program wrote ${event.bytes} bytes into the session's log. They were taken out and are kept as ${event.keptAs}.`,
        details: { path, start: event.start, bytes: event.bytes, keptAs: event.keptAs },
      };
  }
}

/** The one sentence that is told when a log is closed. */
export function closingWords(closed: {
  readonly id: string;
  readonly saved: boolean;
  readonly unsavedRecords: number;
  /** Long texts of which only the start is in the log. */
  readonly blobsLost: number;
  readonly isLost: boolean;
  readonly isPublished: boolean;
  readonly problem: WriteProblem | undefined;
}): string {
  const { id, unsavedRecords, blobsLost } = closed;
  if (closed.saved) return `Session ${id} is saved.`;
  const are = unsavedRecords === 1 ? "is" : "are";
  if (closed.isLost)
    return `Session ${id} was taken over by another process; ${counted(unsavedRecords)} of this one ${are} not in its log.`;
  const why = closed.problem === undefined ? "" : `: ${errnoWords(closed.problem.code)}`;
  if (!closed.isPublished) return `Session ${id} was NOT saved${why}. There is nothing to resume.`;
  if (unsavedRecords === 0)
    return `Session ${id} is saved but for the rest of ${blobsLost === 1 ? "1 long text" : `${blobsLost} long texts`}, of which the start is in its log: there was no room on the disk.`;
  return `${counted(unsavedRecords)} of session ${id} ${are} NOT saved${why}. What was saved before can be resumed.`;
}
