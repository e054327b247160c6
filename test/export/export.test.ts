/** What an export may hold: everything that was said, nothing that acts, and, redacted, nothing that must not leave. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { Marked } from "marked";
import { describe, expect, test } from "vitest";
import {
  createHtmlExporter,
  createJsonExporter,
  createMarkdownExporter,
  createRedactor,
  type Exporter,
  htmlStyle,
  safeMarkdown,
} from "../../src/export/index.ts";
import { FINDINGS_MAX } from "../../src/export/limits.ts";
import type { Entry } from "../../src/transcript/index.ts";

const styleHash = createHash("sha256").update(htmlStyle).digest("base64");
const info = { agent: "claude-code", id: "s1", path: "/x/s1.jsonl", title: "A title" } as const;

function exported(exporter: Exporter, entries: readonly Entry[]): string {
  return (
    exporter.start(info) +
    entries.map((entry, at) => exporter.item({ entry, position: String(at) })).join("") +
    exporter.end()
  );
}

const prompt = (body: string): Entry => ({ kind: "delivered", name: "@0", sender: "user", body, time: 0 });
const answer = (text: string): Entry => ({
  kind: "model",
  name: "@1",
  blocks: [
    { kind: "thinking", text },
    { kind: "text", text },
    {
      kind: "tool-use",
      id: "t",
      name: text,
      inputSummary: text,
      subject: text,
      changes: [{ path: text, patch: text }],
      outcome: { state: "failed", note: text },
    },
    { kind: "other", type: text, text },
    { kind: "attachment", attachment: { mediaType: text, name: text } },
  ],
  usage: { output_tokens: 3 },
});
const everywhere = (text: string): readonly Entry[] => [
  { kind: "delivered", name: "@a", sender: "system", topic: text, body: text },
  prompt(text),
  answer(text),
  {
    kind: "tool-result",
    name: "@2",
    toolUseId: "t",
    content: text,
    isError: true,
    call: { name: text, inputSummary: text, entry: "@1" },
  },
  { kind: "streaming", name: "@3", thinking: text, text },
  { kind: "wounded", name: "@4", wound: { kind: "spoke", words: text } },
  { kind: "compacted", name: "@5", summary: text },
  { kind: "raw", name: "@6", reason: text, text, damaged: true },
  { kind: "delivered", name: "@7", sender: text, senderName: text, epitaph: text, body: text, offPath: true },
];

const hostile = [
  "<script>alert(1)</script>",
  '<img src=x onerror="alert(1)">',
  "`a\n<script>alert(1)</script>\n`",
  "x ` y\n` <img src=x onerror=alert(1)> `",
  "- ```\n  <b>\n  ```\n<script>x</script>",
  "[a](javascript:alert(1)) [b](data:text/html,x) ![c](http://h/p.png)",
  "[x]: javascript:alert(1)\n[x]",
  "</style></title></pre><svg onload=alert(1)>",
  "\u001B[2J\u001B]0;x\u0007\u202Eevil\u009B",
  "&lt;script&gt; &#60;script> &NotAThing;",
  "\uD800 lone",
  `${"> ".repeat(200)}deep`,
  "<!--",
  "<![CDATA[",
  "<a href='x' b=\"",
  "--!>",
];

/** The tags of a page, each by its name and the names of its attributes. */
function tagsOf(html: string): readonly string[] {
  return [...html.matchAll(/<([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>/g)].map(
    ([, name, attributes]) =>
      `${name} ${[...(attributes ?? "").matchAll(/([a-z-]+)(?:="[^"]*")?/g)].map(([, a]) => a).join(" ")}`,
  );
}

const allowedTags =
  /^(?:html|head|meta|title|style|body|header|h[1-6]|p|a|main|section|div|span|pre|code|details|summary|b|strong|em|del|ul|ol|li|table|thead|tbody|tr|th|td|blockquote|hr|br|nav|time) /;

describe("HTML", () => {
  test.each(hostile)("every field is inert: %j", (text) => {
    const html = exported(createHtmlExporter({ styleHash }), everywhere(text));
    for (const tag of tagsOf(html)) {
      expect(tag).toMatch(allowedTags);
      expect(tag).not.toMatch(/ (?:on[a-z]+|src|srcset|style)\b/);
    }
    // Whatever stands between tags has no opening sign: nothing but the tags above is a tag.
    const rest = html
      .replace(/<style>[\s\S]*?<\/style>/, "")
      .replace(/<!doctype html>/, "")
      .replace(/<\/?[a-z][a-z0-9]*(?:\s+[a-z-]+(?:="[^"<>]*")?)*\s*>/g, "");
    expect(rest).not.toMatch(/[<>]/);
    expect(html).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/);
    for (const [, href] of html.matchAll(/href="([^"]*)"/g)) expect(href).toMatch(/^(?:#|https?:|mailto:)/);
  });

  test("any text at all stays text", () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom(
            "<",
            ">",
            "`",
            "\n",
            "a",
            '"',
            "&",
            "[",
            "]",
            "(",
            ")",
            "!",
            "|",
            "-",
            " ",
            "*",
            ":",
          ),
        }),
        (text) => {
          const html = exported(createHtmlExporter({ styleHash }), everywhere(text));
          for (const tag of tagsOf(html)) expect(tag).toMatch(allowedTags);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("a policy that lets in the one style sheet; an anchor a turn, and a list of them", () => {
    const html = exported(createHtmlExporter({ styleHash }), [
      prompt("first"),
      answer("a"),
      prompt("second"),
    ]);
    expect(html).toContain(`default-src 'none'; style-src 'sha256-${styleHash}'`);
    expect([...html.matchAll(/<section class="turn" id="([^"]*)"/g)].map(([, id]) => id)).toEqual([
      "turn-1",
      "turn-2",
    ]);
    expect(html).toContain('<a href="#turn-2" dir="auto">second</a>');
  });
});

describe("Markdown", () => {
  const marked = new Marked({ gfm: true });
  const actsIn = (text: string): readonly string[] => {
    const found: string[] = [];
    void marked.walkTokens(marked.lexer(text), (token) => {
      if (token.type === "html" || token.type === "image") found.push(token.raw);
      if (token.type === "link" && !/^(?:https?|mailto):/i.test(String(token["href"]))) found.push(token.raw);
    });
    return found;
  };

  test.each(hostile)("nothing acts where it is rendered: %j", (text) => {
    expect(actsIn(exported(createMarkdownExporter(), everywhere(text)))).toEqual([]);
  });

  test("nothing acts, whatever the text", () => {
    const sign = fc.constantFrom(
      "<b>",
      "`",
      "```",
      "\n",
      "\n\n",
      "a",
      "- ",
      "> ",
      "    ",
      "![x](y)",
      "[x](javascript:y)",
      "\\",
      "*",
      "~~~",
    );
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 30 }), (signs) => {
        expect(actsIn(exported(createMarkdownExporter(), everywhere(signs.join(""))))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test("a code span that looks like a fence closes nothing and opens nothing", () => {
    expect(actsIn(exported(createMarkdownExporter(), everywhere("<b>\n```<b>```")))).toEqual([]);
  });

  test("what does no harm stays as it was written; an open fence is closed", () => {
    expect(safeMarkdown("a `Array<string>` b\n\n- c")).toBe("a `Array<string>` b\n\n- c\n\n");
    expect(safeMarkdown("```ts\nlet a;")).toBe("```ts\nlet a;\n```\n\n");
  });
});

test("JSON is one document with an entry a line, and holds what it was given", () => {
  const entries = everywhere("\u001B[2J \u009B \u202E \uD800 text");
  const json = exported(createJsonExporter(), entries);
  expect(json).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E]/);
  const read = JSON.parse(json) as { entries: (Entry & { position: string })[]; session: unknown };
  expect(read.session).toEqual(info);
  expect(read.entries).toEqual(entries.map((entry, at) => ({ position: String(at), ...entry })));
  expect(json.trimEnd().split("\n")).toHaveLength(entries.length + 2);
});

describe("redaction", () => {
  // Made of parts, so that no scanner of this source takes them for real ones.
  const secrets: Readonly<Record<string, string>> = {
    "an API key": `sk-${"ant-api03-"}Ab3${"dE5fG7hJ9".repeat(3)}`,
    "a GitHub token": `ghp${"_"}${"a1B2c3D4e5".repeat(3)}F6g7h8`,
    "an AWS key": `AKIA${"IOSFODNN7EXAMPLE"}`,
    "a JSON web token": `eyJ${"hbGciOiJIUzI1NiJ9"}.eyJzdWIiOiIxIn0.dBjftJeZ4CVPmB92K27uhbUJU1p1r`,
    "a private key": `-----BEGIN RSA PRIVATE ${"KEY"}-----\nMIIEow\nabc\n-----END RSA PRIVATE ${"KEY"}-----`,
    "a private key that was cut": `-----BEGIN ${"PRIVATE KEY"}-----\nMIIEow`,
    "an e-mail address": "first.last+tag@mail.example.org",
    "a mixed word of many bits": "aB3dE5gH7jK9mN1pQ4sT6vW8",
    "a long hexadecimal number": "0123456789abcdef0123456789abcdef",
  };

  test.each(Object.entries(secrets))("%s is replaced in every field of every kind", (_, secret) => {
    const redactor = createRedactor();
    const clean = redactor.redact(everywhere(`before ${secret} after`), "x");
    expect(JSON.stringify(clean)).not.toContain(JSON.stringify(secret).slice(1, -1));
    expect(JSON.stringify(clean)).toContain("[redacted: ");
    expect(redactor.findings.length).toBeGreaterThan(10);
  });

  test.each([
    ["Authorization: Bearer abcdefgh12345678", "abcdefgh12345678"],
    ['{"password": "hunter22"}', "hunter22"],
    ['{\\"api_key\\":\\"hunter22\\"}', "hunter22"],
    ["export DB_PASSWORD=hunter22", "hunter22"],
    ["tool --token hunter22 --flag", "hunter22"],
    ["postgres://me:hunter22@host/db", "hunter22"],
    ["https://h/x?access_token=hunter22&y=1", "hunter22"],
  ])("%s", (text, secret) => {
    expect(createRedactor().redact(text, "x")).not.toContain(secret);
  });

  test("home folders and names, in every form", () => {
    const redactor = createRedactor({ homes: ["/home/somebody"], users: ["somebody"] });
    const text = "/home/somebody/a /Users/else/b C:\\Users\\third\\c -home-somebody-project Somebody";
    expect(redactor.redact(text, "x")).toBe(
      "~/a /Users/[user]/b C:\\Users\\[user]\\c -home-[user]-project [user]",
    );
  });

  test("what is no secret stays", () => {
    const text =
      "a plain sentence, `npm run build`, src/a/b.ts, 3f2504e0-4f89-11d3-9a0c-0305e82c3301, token: true";
    expect(createRedactor().redact(text, "x")).toBe(text);
  });

  test("every finding is counted, and as many are named as the list holds", () => {
    const redactor = createRedactor();
    redactor.redact("a@example.org ".repeat(FINDINGS_MAX + 1), "x");
    expect(redactor.findings).toHaveLength(FINDINGS_MAX);
    expect(redactor.counts.get("e-mail")).toBe(FINDINGS_MAX + 1);
  });

  test("long runs of what a secret begins with cost no more than their length", () => {
    for (const part of ["eyJ", "sk-", "a@", "token=", "-----BEGIN PRIVATE KEY-----", "/home/", "Aa1"])
      expect(createRedactor().redact(part.repeat(300_000), "x")).toBeTypeOf("string");
  });
});
