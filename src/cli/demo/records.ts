/** Builds the records of a made session in the shape of a Claude Code log. Deterministic: ids count up, time is given. */

export interface Recorder {
  prompt(text: string): object;
  /** One API message; the returned functions add its lines. */
  message(): {
    /** A line that holds the text so far; a later one continues it. */
    text(text: string, done?: boolean): object;
    thinking(text: string): object;
    call(id: string, name: string, input: object): object;
  };
  result(
    id: string,
    content: string,
    facts: { readonly isError?: boolean; readonly detail?: object | string },
  ): object;
  compaction(before: number, after: number, summary: string): readonly object[];
  turnEnd(durationMs: number): object;
  title(text: string): object;
}

/** A recorder for one session. `now` is asked for each record's time stamp. */
export function createRecorder(sessionId: string, cwd: string, now: () => number): Recorder {
  let serial = 0;
  let parent: string | null = null;
  let messages = 0;

  function envelope(type: string): Record<string, unknown> {
    serial += 1;
    const uuid = `00000000-0000-4000-8000-${String(serial).padStart(12, "0")}`;
    const made = {
      parentUuid: parent,
      isSidechain: false,
      userType: "external",
      cwd,
      sessionId,
      version: "2.1.0",
      gitBranch: "main",
      type,
      uuid,
      timestamp: new Date(now()).toISOString(),
    };
    parent = uuid;
    return made;
  }

  return {
    prompt: (text) => ({ ...envelope("user"), message: { role: "user", content: text } }),
    message() {
      messages += 1;
      const id = `msg_demo_${messages}`;
      const line = (block: object, stop: string | null, outputTokens: number): object => ({
        ...envelope("assistant"),
        requestId: `req_demo_${messages}`,
        message: {
          id,
          type: "message",
          role: "assistant",
          model: "claude-demo-1",
          content: [block],
          stop_reason: stop,
          usage: { input_tokens: 1200 + messages * 310, output_tokens: outputTokens },
        },
      });
      return {
        text: (text, done = false) =>
          line({ type: "text", text }, done ? "end_turn" : null, Math.ceil(text.length / 4)),
        thinking: (text) =>
          line({ type: "thinking", thinking: text, signature: "" }, null, Math.ceil(text.length / 4)),
        call: (callId, name, input) => line({ type: "tool_use", id: callId, name, input }, "tool_use", 60),
      };
    },
    result: (id, content, facts) => ({
      ...envelope("user"),
      message: {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: id,
            content,
            ...(facts.isError === true ? { is_error: true } : {}),
          },
        ],
      },
      ...(facts.detail === undefined ? {} : { toolUseResult: facts.detail }),
    }),
    compaction(before, after, summary) {
      const logical = parent;
      parent = null;
      const boundary = {
        ...envelope("system"),
        subtype: "compact_boundary",
        content: "Conversation compacted",
        logicalParentUuid: logical,
        compactMetadata: { trigger: "auto", preTokens: before, postTokens: after },
      };
      const note = {
        ...envelope("user"),
        isCompactSummary: true,
        isVisibleInTranscriptOnly: true,
        message: { role: "user", content: summary },
      };
      return [boundary, note];
    },
    turnEnd: (durationMs) => ({ ...envelope("system"), subtype: "turn_duration", durationMs, isMeta: false }),
    title: (text) => ({ type: "custom-title", customTitle: text, sessionId }),
  };
}
