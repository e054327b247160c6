/** Text that does nothing wherever it is put: no control, no reordering, no half character. */

const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
const reordering = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;
const loneSurrogates = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** The character as people see it: a picture of a control, the code of what reorders. */
function pictureOf(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\uFFFD";
}

/** The text with line breaks as `\n`, each other control as its picture, and each bidirectional control as its code. Linear. */
export function inertText(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(controls, pictureOf)
    .replace(reordering, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`)
    .replace(loneSurrogates, "\uFFFD");
}

/** As `inertText`, in one line. */
export function inertLine(text: string): string {
  return inertText(text)
    .replace(/\s*\n\s*/g, " ")
    .trim();
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text for HTML, between tags or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return inertText(text).replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}

/** Schemes that a link may have; any other is shown, never linked. */
const schemes: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** The address where it may be linked: absolute, of an allowed scheme, without a name and password in it. */
export function safeAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (!schemes.has(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  return url.href;
}
