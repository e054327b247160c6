/** Every bound of driving an agent. */

const kib = 1024;
const mib = 1024 * kib;

// ---- the wire ----

/** Bytes of one message of the agent. Of a longer one the long texts are cut; where that does not help, its head and its tail say what it was. */
export const messageBytesMax: number = 32 * mib;
/** Bytes, as written, that are kept of each text of such a message. */
export const longTextBytesMax: number = 8 * mib;
/** Bytes kept of the start and of the end of a message that is too long. */
export const messageHeadBytes: number = 8 * kib;
export const messageTailBytes: number = 4 * kib;
/** Lines that are no messages: this many are told one by one, the rest is counted. */
export const badLinesToldMax = 5;
/** Characters shown of such a line. */
export const badLineCharsMax = 200;
/** Bytes kept of what the agent said on stderr, for the sentence that tells why it ended. */
export const stderrBytesMax: number = 8 * kib;
/** Lines of it that the sentence quotes, and characters of each. */
export const stderrLinesTold = 3;
export const stderrLineCharsMax = 300;

// ---- starting and ending ----

/** How long an agent may take to answer `initialize` and to open its session: some are fetched from the network first. */
export const startMsMax = 120_000;
/** Pauses of the ladder at the end: stdin is closed, then SIGTERM, then SIGKILL. */
export const closeGraceMs = 2_000;
export const terminateGraceMs = 2_000;
/** How long the pipes of a process that has ended are read on, where something that it had started holds them open. */
export const pipesGraceMs = 1_000;
/** How long a cancelled turn may go on before it counts as ended without the agent's word. */
export const cancelGraceMs = 30_000;

/** How long a message that comes outside of a turn may pause before it counts as over. */
export const lateSealMs = 500;

/** Updates and odd things that are kept between the opening of the agent's session and the making of ours. */
export const earlyMax = 100;

// ---- prompts ----

/** Prompts that wait behind the running turn. */
export const promptsQueuedMax = 64;
/** Bytes of one prompt. */
export const promptBytesMax: number = mib;

// ---- what an agent tells ----

/** Characters of one message of the model; more goes on in a further message, so nothing is lost. */
export const spokenCharsMax: number = mib;
/** Pieces (text, thinking, attachments) of one message; more go on in a further one. */
export const spokenPiecesMax = 64;
/** Bytes of a call's output that stay with the call; the whole of a longer one is in a blob. */
export const outputBytesMax: number = mib;
/** Characters of it that are shown. */
export const outputShownCharsMax: number = 256 * kib;
/** Characters of long outputs that are kept for blobs, over all running calls; beyond it only the start of an output is kept. */
export const outputHeldCharsMax: number = 64 * mib;
/** Calls of one turn that are not finished; the oldest counts as unanswered when one more begins. */
export const callsOpenMax = 256;
/** File changes kept of one call, and characters of each text of them. */
export const changesMax = 64;
export const changeCharsMax: number = 256 * kib;
/** Bytes of a call's input that are recorded; of a longer one a piece is. */
export const inputBytesMax: number = mib;
/** Characters of names, titles, ids and labels. */
export const wordCharsMax = 1_000;
export const idCharsMax = 512;
/** Code points of an input's summary. */
export const inputSummaryMax = 200;
export const planStepsMax = 200;
export const modesMax = 64;
export const commandsMax = 500;
export const optionsMax = 16;
export const approvalsMax = 64;
/** Updates of an unknown kind that are kept and shown in one turn; more are counted. */
export const unknownUpdatesMax = 50;
/** Bytes of one that are kept. */
export const unknownBytesMax: number = 4 * kib;
/** Characters of a compaction's summary. */
export const summaryCharsMax: number = 256 * kib;

// ---- between the agent and those who watch ----

/** Work that waits to be recorded and told before the agent is read on. */
export const workPendingMax = 256;
/** Changes that wait to be read before the agent is held up, and for how long it is. */
export const changesBehindMax = 1_024;
export const behindMsMax = 5_000;
/** Changes kept for those who read them, and characters of their entries; one who is further behind reads the tail again. */
export const changesKeptMax = 4_096;
export const changesKeptCharsMax: number = 16 * mib;

// ---- the step directory, answers and prompts of other processes ----

/** Steps that stay on disk. */
export const stepsKeptMax = 8;
/** Bytes of one step's response; further deltas are left out of the stream (they are in the log). */
export const responseBytesMax: number = 8 * mib;
/** Bytes that wait to be written to a response before whoever tells more has to wait. */
export const responsePendingBytesMax: number = mib;
/** Bytes of a call's output in the step directory. */
export const captureBytesMax: number = mib;
/** Bytes of an answer or a prompt of another process. */
export const answerBytesMax: number = 64 * kib;
/** How often folders are looked at besides what the system's watcher says. */
export const lookEveryMs = 500;
/** Prompts listed of the inbox at one look. */
export const inboxListMax = 1_000;

// ---- handoffs ----

/** Bytes of one request of the handoff tool: a note of its greatest length, written as JSON, with room. */
export const handoffRequestBytesMax: number = 64 * kib;
/** Tools that may ask at once. */
export const handoffCallsMax = 8;
/** Bytes of all note blocks that are replayed together. */
export const handoffBlocksBytesMax: number = 128 * kib;
/** How long a note of the agent's tool waits for the agent to report the call that it is of. */
export const handoffCallMs = 500;
/** Pause before a write barrier of a handoff is tried again. */
export const handoffWaitMs = 250;

// ---- taking a session up again without the agent's help ----

/** Entries that are looked at, and bytes that are quoted, to tell a new agent what was said. */
export const contextEntriesMax = 200;
export const contextBytesMax: number = 64 * kib;
/** Bytes of one entry's text in it. */
export const contextEntryBytesMax: number = 8 * kib;
