/** What a shell is given and what it gives. */
import type { DrivenSession, Session } from "../../session/index.ts";
import type { Clock, TerminalPort } from "../port.ts";
import type { Notice } from "../render/index.ts";
import type { Line, Theme } from "../text/index.ts";
import type { LayoutOptions } from "./growing-block.ts";

export type ResizeWay = "adopt" | "reprint";

/** What talking to the agent needs beyond showing its session. */
export interface TalkSpec {
  /** The session that is shown. */
  readonly session: DrivenSession;
  /** Who answers, in the words that others see. */
  readonly by: string;
  /** Lets the person edit a text in a program of theirs, which has the terminal meanwhile; undefined: it is to stay as it was. */
  readonly editText?: (text: string) => Promise<string | undefined>;
}

export interface ShellOptions {
  readonly port: TerminalPort;
  readonly clock: Clock;
  /** Milliseconds since the epoch, for what is shown. */
  readonly now: () => number;
  readonly session: Session;
  readonly theme: Theme;
  /** Whether the terminal knows synchronized output. */
  readonly isSynchronized: boolean;
  readonly resizeWay: ResizeWay;
  /** Whether the terminal takes OSC strings: the window's title becomes the session's, prompts are marked. Default: neither. */
  readonly hasStrings?: boolean;
  readonly layout: Pick<LayoutOptions, "time" | "highlighter" | "moreKey">;
  /** Lines that head the transcript and that end it, at a width. */
  readonly head?: (width: number) => readonly Line[];
  readonly foot?: (width: number) => readonly Line[];
  /** Takes the lines of the window's trace. */
  readonly trace?: (line: string) => void;
  /** Said once the session is shown. */
  readonly greeting?: Notice;
  /** Absent: the session is only followed. */
  readonly talk?: TalkSpec;
  /** Stops the process as Ctrl+Z does and resolves when it goes on. Absent: Ctrl+Z does nothing. */
  readonly stopProcess?: () => Promise<void>;
}

/** Why a shell ended. */
export type ShellEnd = "quit" | "interrupted" | "terminated" | "hung-up";

export interface Shell {
  /**
   * Shows the session and follows it until it is ended. Whatever happens, the terminal's modes are undone. Rejects for what is a bug or
   * where the log cannot be read.
   */
  run(): Promise<ShellEnd>;
  end(why: ShellEnd): void;
  /** Undoes the terminal's modes at once, for a process that is about to die. */
  rescue(): void;
}
