/** Lines in file order to items: joins the records that were split over lines. */
import type { ResolvedLimits } from "./limits.ts";
import {
  closeBrace,
  judgeLine,
  judgeRange,
  type Line,
  openObjectStart,
  recordOf,
  type Shape,
  shapeOf,
  tailByte,
} from "./line.ts";
import { parseJson } from "./parse.ts";
import type { ObjectScanner } from "./scan.ts";
import type { LineItem } from "./types.ts";

const lineFeedByte: Buffer = Buffer.from("\n");

/** Whether a line that holds only `{` begins an object, by the last byte of the line with content above it (undefined: none). */
export function beginsObject(tailAbove: number | undefined): boolean {
  return tailAbove === undefined || tailAbove === closeBrace || tailAbove === 0;
}

/** An object that began in its first line and has not ended yet. */
interface Group {
  readonly lines: Line[];
  /** Index in the first line where the object begins. */
  readonly start: number;
  readonly scanner: ObjectScanner;
}

/**
 * Takes the lines of a log one after another and gives their items as soon as they are settled. A group of lines is held only from an
 * opener on, and only while it may still become one record: until it does, a border or another opener comes, or a line starts more
 * than `joinBytesMax` bytes below. What a line gives therefore depends on no line above the nearest border or opener, nor on one
 * farther above than that.
 */
export class Joiner {
  readonly #limits: ResolvedLimits;
  readonly #parse: boolean;
  #group: Group | undefined;
  #tailAbove: number | undefined;

  /** `tailAbove`: the last byte that is no white space above the first line; undefined at the head of the log. */
  constructor(limits: ResolvedLimits, parse: boolean, tailAbove: number | undefined) {
    this.#limits = limits;
    this.#parse = parse;
    this.#tailAbove = tailAbove;
  }

  /** The offset of the first line that is held back; undefined where none is. */
  get heldFrom(): number | undefined {
    return this.#group?.lines[0]?.start;
  }

  /** Takes the next line, finished or the log's last; `known` is its shape where the caller has it. */
  push(line: Line, known?: Shape): LineItem[] {
    const shape = this.#resolve(known ?? shapeOf(line, this.#parse));
    if (shape.kind !== "blank") this.#tailAbove = tailByte(line);
    switch (shape.kind) {
      case "blank":
        // Too far below to be joined, it ends nothing either.
        return this.#group !== undefined && this.#isInReach(this.#group, line)
          ? this.#add(this.#group, line)
          : [];
      case "border": {
        const items = this.flush();
        items.push(...shape.items);
        return items;
      }
      case "opener": {
        const items = this.flush();
        items.push(...this.#open(line));
        return items;
      }
      default:
        return this.#group === undefined ? judgeLine(line) : this.#add(this.#group, line);
    }
  }

  /** Gives up on what is held: its lines stand alone. */
  flush(): LineItem[] {
    const group = this.#group;
    this.#group = undefined;
    return group === undefined ? [] : group.lines.flatMap(judgeLine);
  }

  /**
   * What the unfinished last line of a growing log is sure to give whatever follows it: a whole record, alone or with the held lines.
   * Lines held above a whole record are given up; otherwise nothing changes, and the line is to be pushed when it is finished.
   */
  peek(line: Line): LineItem[] {
    const shape = shapeOf(line, true);
    if (shape.kind === "border") {
      // What stands behind the record may still grow.
      const records = shape.items.findLastIndex((item) => item.type === "record") + 1;
      return records > 0 ? [...this.flush(), ...shape.items.slice(0, records)] : [];
    }
    const group = this.#group;
    if (group === undefined || shape.kind !== "other") return [];
    if (!this.#isInReach(group, line)) return [];
    const trial: Group = { lines: [...group.lines, line], start: group.start, scanner: group.scanner.copy() };
    trial.scanner.feed(lineFeedByte);
    const after = trial.scanner.feed(line.bytes);
    if (after < 0) return [];
    return (this.#join(trial, after) ?? []).filter((item) => item.end <= line.start + after);
  }

  #resolve(shape: Shape): Shape {
    if (shape.kind !== "lone") return shape;
    return { kind: beginsObject(this.#tailAbove) ? "opener" : "other" };
  }

  #isInReach(group: Group, line: Line): boolean {
    // By the line's start: a last line that still grows stays in reach.
    return line.start - (group.lines[0]?.start ?? 0) <= this.#limits.joinBytesMax;
  }

  #open(line: Line): LineItem[] {
    const open = openObjectStart(line);
    if (open === undefined) return judgeLine(line);
    this.#group = { lines: [line], ...open };
    return [];
  }

  #add(group: Group, line: Line): LineItem[] {
    if (!this.#isInReach(group, line)) {
      const items = this.flush();
      items.push(...judgeLine(line));
      return items;
    }
    group.lines.push(line);
    group.scanner.feed(lineFeedByte);
    const after = group.scanner.feed(line.bytes);
    if (after < 0) return [];
    const joined = this.#join(group, after);
    if (joined === undefined) return this.flush();
    this.#group = undefined;
    return joined;
  }

  /** The items of a group whose object ends at index `after` of its last line; undefined where the sum does not parse. */
  #join(group: Group, after: number): LineItem[] | undefined {
    const first = group.lines[0];
    const last = group.lines.at(-1);
    if (first === undefined || last === undefined) return undefined;
    const parts: Buffer[] = [first.bytes.subarray(group.start)];
    for (const line of group.lines.slice(1, -1)) parts.push(lineFeedByte, line.bytes);
    parts.push(lineFeedByte, last.bytes.subarray(0, after));
    const parsed = parseJson(Buffer.concat(parts));
    if (!parsed.ok) return undefined;
    const items = judgeLine({
      start: first.start,
      end: first.start + group.start,
      bytes: first.bytes.subarray(0, group.start),
    }).map(
      (item): LineItem =>
        item.type === "record" && item.recovered === undefined ? { ...item, recovered: "glued" } : item,
    );
    const joined = recordOf(
      first.start + group.start,
      last.start + after,
      { ok: true, value: parsed.value },
      "split",
    );
    items.push(joined, ...judgeRange(last.bytes, last.start, after, last.bytes.length));
    return items;
  }
}
