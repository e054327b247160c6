/** Styled text between the renderer and the screen: what a line is, before it becomes bytes. */

/** What a piece of text means; the theme says how that looks at the terminal's colour depth. */
export type Tone =
  | "text"
  | "dim"
  | "strong"
  | "emphasis"
  | "prompt"
  | "heading"
  | "link"
  | "code"
  | "good"
  | "bad"
  | "warn"
  | "running"
  | "rule"
  | "added"
  | "removed"
  | "hunk"
  | "danger" // a visible stand-in for something that was not let through
  | "keyword"
  | "string"
  | "number"
  | "comment"
  | "name"
  | "type";

/** `text` is safe: it went through the one filter and holds no control, escape or direction-changing character, no tab, no line break. */
export interface Span {
  readonly text: string;
  readonly tone?: Tone;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly inverse?: boolean;
}

/**
 * One logical line. `fit`: laid out for a width, never wider than it, printed as one row. `flow`: printed unbroken, so that the
 * terminal wraps it, re-wraps it on a resize, and copies it whole.
 */
export interface Line {
  readonly spans: readonly Span[];
  readonly wrap: "fit" | "flow";
}

export type ColorDepth = "none" | "16" | "256" | "true";

export interface Theme {
  readonly depth: ColorDepth;
  readonly background: "dark" | "light";
}
