/** Carries the filter's stand-ins through a parser of markup or code: as marks that mean nothing there, given back in the end. */
import { createSanitizer, type SafeLine, type Span } from "../text/index.ts";

const open = "\ufdd0";
const close = "\ufdd1";
const digitBase = 0xfdd2;
const mark = /\ufdd0([\ufdd2-\ufde1]+)\ufdd1/g;
/** The filter lets no noncharacter pass, so any left alone is a mark that a parser has torn. */
const torn = /[\ufdd0-\ufdef]/g;

/** A line whose stand-ins are marks. `dangers` is shared by the lines of one text. */
export class GuardedSource {
  private readonly dangers: string[] = [];
  private readonly sanitizer = createSanitizer({ tab: 4 });

  /** One raw line, without its line feed, safe and with marks for stand-ins. */
  line(raw: string): string {
    const safe: SafeLine = this.sanitizer.push(`${raw}\n`)[0] ?? [];
    return safe.map((span) => (span.tone === "danger" ? this.markOf(span.text) : span.text)).join("");
  }

  private markOf(text: string): string {
    const digits = this.dangers.length.toString(16);
    this.dangers.push(text);
    let code = "";
    for (const digit of digits) code += String.fromCharCode(digitBase + Number.parseInt(digit, 16));
    return open + code + close;
  }

  /** `text` as spans in `style`, marks as their stand-ins in the tone `danger`. */
  reveal(text: string, style: Omit<Span, "text">): readonly Span[] {
    if (!torn.test(text)) return text === "" ? [] : [{ text, ...style }];
    torn.lastIndex = 0;
    const spans: Span[] = [];
    let from = 0;
    for (const match of text.matchAll(mark)) {
      this.add(spans, text.slice(from, match.index), style);
      const number = [...match[1]!].map((char) => (char.charCodeAt(0) - digitBase).toString(16)).join("");
      const danger = this.dangers[Number.parseInt(number, 16)];
      if (danger !== undefined) spans.push({ text: danger, tone: "danger" });
      from = match.index + match[0].length;
    }
    this.add(spans, text.slice(from), style);
    return spans;
  }

  private add(spans: Span[], text: string, style: Omit<Span, "text">): void {
    const whole = text.replace(torn, "");
    if (whole !== "") spans.push({ text: whole, ...style });
  }

  /** The plain text of a marked one. */
  plain(text: string): string {
    return this.reveal(text, {})
      .map((span) => span.text)
      .join("");
  }
}
