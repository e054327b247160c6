/** A real Chromium for tests: one a file, found where it is installed. */
import { accessSync, constants, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return false;
  }
}

/** The browser's program: CHROMIUM_PATH, else the first of the usual names on PATH. Throws where there is none: its tests are not passed over. */
export function chromiumPath(): string {
  const own = process.env["CHROMIUM_PATH"];
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const all =
    own === undefined ? folders.flatMap((folder) => names.map((name) => join(folder, name))) : [own];
  const found = all.find(isProgram);
  if (found === undefined)
    throw new Error("these tests need Chromium: install it, or name its program in CHROMIUM_PATH");
  return found;
}

export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: chromiumPath(), args: ["--no-sandbox"] });
}

/** A phone of these days. */
export const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
};

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds wrong with the page as it is now, one line each. Runs beside the page's own policy. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  const found = (await page.evaluate(
    `(() => { const module = undefined, exports = undefined; ${axe}; return window.axe.run(document); })()`,
  )) as {
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly target: unknown; readonly failureSummary?: string }[];
    }[];
  };
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${String(target)}: ${failureSummary}`),
  );
}
