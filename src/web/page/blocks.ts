/** The blocks that are on the page: found by name, grown in place, rolled up when their turn is over, and bounded in number. */
import { beginsTurn } from "../../html/index.ts";
import type { ContentBlock, Entry } from "../../transcript/index.ts";
import { CHEAP_DRAW_MS, DRAW_PAUSES, HELD_ENTRIES_MAX, HIDDEN_FRAME_MS, TRIMMED_ENTRIES } from "../limits.ts";
import { articleHtml, CONTINUED, type Placed, placedOf, rollWords, turnHtml } from "../turns.ts";

/** With the next frame of the screen; a page that is not seen gets none. */
export function onFrame(act: () => void): void {
  if (document.visibilityState === "visible") requestAnimationFrame(act);
  else setTimeout(act, HIDDEN_FRAME_MS);
}

type ToolUseBlock = ContentBlock & { readonly kind: "tool-use" };

export class Blocks {
  readonly #turns: HTMLElement;
  readonly #articles = new Map<string, HTMLElement>();
  /** Blocks that may still change, in log order. */
  readonly #pending = new Map<string, Entry>();
  readonly #dirty = new Set<string>();
  #isDrawDue = false;
  /** What the last drawing took. */
  #drawMs = 0;
  readonly #onDrawn: () => void;

  constructor(turns: HTMLElement, pending: readonly Entry[], onDrawn: () => void) {
    this.#turns = turns;
    this.#onDrawn = onDrawn;
    this.index();
    for (const entry of pending) this.#pending.set(entry.name, entry);
  }

  /** Turns that stand before all others; a turn that was begun among them goes on in what was the first section. */
  prepend(html: string): void {
    const first = this.#turns.firstElementChild;
    this.#turns.insertAdjacentHTML("afterbegin", html);
    let last: Element | undefined;
    for (
      let each = this.#turns.firstElementChild;
      each !== null && each !== first;
      each = each.nextElementSibling
    ) {
      last = each;
      for (const article of each.querySelectorAll("article.entry")) this.#note(article);
    }
    if (first === null || last === undefined || first.hasAttribute("data-prompt")) return;
    const seam = last.lastElementChild;
    last.append(...[...first.children].filter((child) => child.tagName !== "H2"));
    first.remove();
    joinRolls(seam, seam?.nextElementSibling);
  }

  /** Entries that come after all that are shown, oldest first; those that are shown already are put in their place. */
  extend(placed: readonly Placed[]): void {
    for (const each of placed)
      if (this.#articles.has(each.entry.name)) this.#replace(each);
      else this.#append(each);
  }

  /** All of the page is another; nothing of it may still change until `stand` tells what does. */
  renew(html: string): void {
    this.#turns.innerHTML = html;
    this.#dirty.clear();
    this.#pending.clear();
    this.index();
  }

  /** Finds the blocks of the document again. */
  index(): void {
    this.#articles.clear();
    for (const article of this.#turns.querySelectorAll<HTMLElement>("article.entry"))
      this.#articles.set(article.dataset["name"] ?? "", article);
  }

  has(name: string): boolean {
    return this.#articles.has(name);
  }

  /** The position of the last block that has one. */
  get lastAt(): string | undefined {
    const all = this.#turns.querySelectorAll<HTMLElement>("article[data-at]");
    return all[all.length - 1]?.dataset["at"];
  }

  /** The call as the transcript has it, where it is not finished. */
  call(id: string): ToolUseBlock | undefined {
    for (const entry of this.#pending.values())
      for (const block of entry.kind === "model" ? entry.blocks : [])
        if (block.kind === "tool-use" && block.id === id) return block;
    return undefined;
  }

  pending(name: string): Entry | undefined {
    return this.#pending.get(name);
  }

  /** All that is not finished is this now. */
  stand(pending: readonly Entry[]): void {
    const names = new Set(pending.map(({ name }) => name));
    for (const name of [...this.#pending.keys()]) if (!names.has(name)) this.drop(name);
    for (const entry of pending) this.open(entry);
  }

  /** A block that may still change. True where it is new to the page. */
  open(entry: Entry): boolean {
    this.#pending.set(entry.name, entry);
    const isNew = !this.#articles.has(entry.name);
    if (isNew) this.#append({ entry });
    else this.#redraw(entry.name);
    return isNew;
  }

  change(entry: Entry, was: string = entry.name): boolean {
    const article = this.#articles.get(was);
    if (was !== entry.name) {
      this.#pending.delete(was);
      this.#dirty.delete(was);
      if (article !== undefined) {
        this.#articles.delete(was);
        this.#articles.set(entry.name, article);
      }
    }
    return this.open(entry);
  }

  /** A block that will not change any more; `at` is the position just before it. True where it is new to the page. */
  finish(entry: Entry, at: string): boolean {
    const isNew = !this.#articles.has(entry.name);
    this.#pending.delete(entry.name);
    this.#dirty.delete(entry.name);
    const placed = placedOf(entry, at);
    if (isNew) this.#append(placed);
    else this.#replace(placed);
    return isNew;
  }

  drop(name: string): void {
    this.#pending.delete(name);
    this.#dirty.delete(name);
    const article = this.#articles.get(name);
    this.#articles.delete(name);
    const section = article?.closest("section");
    article?.remove();
    if (section?.querySelector("article") === null) section.remove();
  }

  /** Puts another entry in the place of one that is shown. */
  show(entry: Entry, at?: string): void {
    if (this.#articles.has(entry.name)) this.#replace(placedOf(entry, at));
  }

  #append(placed: Placed): void {
    const before = [...this.#pending.keys()]
      .map((name) => (name === placed.entry.name ? undefined : this.#articles.get(name)))
      .find((article) => article !== undefined);
    const isPending = this.#pending.has(placed.entry.name);
    if (beginsTurn(placed.entry) || this.#turns.lastElementChild === null) {
      this.roll();
      this.#turns.insertAdjacentHTML("beforeend", turnHtml([placed], false));
      const section = this.#turns.lastElementChild;
      this.#note(section?.querySelector("article") ?? null);
      // What is not finished stands after all that is.
      if (!isPending)
        for (const name of this.#pending.keys()) {
          const article = this.#articles.get(name);
          if (name !== placed.entry.name && article !== undefined) section?.append(article);
        }
      return;
    }
    if (before !== undefined && !isPending) {
      before.insertAdjacentHTML("beforebegin", articleHtml(placed));
      this.#note(before.previousElementSibling);
      return;
    }
    const last = this.#turns.lastElementChild;
    last.insertAdjacentHTML("beforeend", articleHtml(placed));
    this.#note(last.lastElementChild);
  }

  #note(article: Element | null): void {
    if (article instanceof HTMLElement) this.#articles.set(article.dataset["name"] ?? "", article);
  }

  /** What stands open stays open, and what has the focus keeps it. */
  #replace({ at, ...told }: Placed): void {
    const old = this.#articles.get(told.entry.name);
    if (old === undefined) return;
    const place = at ?? old.dataset["at"];
    const placed = place === undefined ? told : { ...told, at: place };
    const open = [...old.querySelectorAll("details")].map((each) => each.open);
    const focused = [...old.querySelectorAll<HTMLElement>("summary,button,[tabindex]")].indexOf(
      document.activeElement as HTMLElement,
    );
    old.insertAdjacentHTML("beforebegin", articleHtml(placed));
    const fresh = old.previousElementSibling as HTMLElement;
    old.remove();
    for (const [index, each] of [...fresh.querySelectorAll("details")].entries())
      each.open = open[index] ?? each.open;
    if (focused >= 0)
      fresh
        .querySelectorAll<HTMLElement>("summary,button,[tabindex]")
        [focused]?.focus({ preventScroll: true });
    this.#articles.set(placed.entry.name, fresh);
  }

  /** Draws a changed block with the next frame of the screen: however often it grows, once; what takes long to draw, more rarely. */
  #redraw(name: string): void {
    this.#dirty.add(name);
    if (this.#isDrawDue) return;
    this.#isDrawDue = true;
    const draw = (): void => {
      this.#isDrawDue = false;
      const start = performance.now();
      for (const each of this.#dirty) {
        const entry = this.#pending.get(each);
        if (entry !== undefined) this.#replace({ entry });
      }
      this.#dirty.clear();
      this.#onDrawn();
      this.#drawMs = performance.now() - start;
    };
    if (this.#drawMs < CHEAP_DRAW_MS) onFrame(draw);
    else setTimeout(() => onFrame(draw), this.#drawMs * DRAW_PAUSES);
  }

  /** The newest turn is over: neighbouring steps become one line. */
  roll(): void {
    const section = this.#turns.lastElementChild;
    if (section === null) return;
    let run: HTMLElement[] = [];
    const close = (): void => {
      if (run.length > 1) rollUp(run);
      run = [];
    };
    for (const child of [...section.children]) {
      const isStep = child.matches("article.step:not(.running)");
      if (isStep) run.push(child as HTMLElement);
      else close();
    }
    close();
  }

  /** Lets go of what is furthest above; the position where older blocks are read from, where some went. */
  trimAbove(): string | undefined {
    if (!this.#trim((articles, count) => articles.slice(0, count))) return undefined;
    const first = this.#turns.firstElementChild;
    // The prompt may have gone, and the rest of its turn not.
    if (first?.querySelector("article.delivered") === null) {
      first.removeAttribute("data-prompt");
      const words = first.querySelector("h2>span");
      if (words !== null) {
        words.className = "";
        words.textContent = CONTINUED;
      }
    }
    return this.#turns.querySelector<HTMLElement>("article[data-at]")?.dataset["at"];
  }

  /** Lets go of what is furthest below, and of all that is not finished; true where something went. */
  trimBelow(): boolean {
    if (!this.#trim((articles, count) => articles.slice(-count))) return false;
    for (const name of [...this.#pending.keys()]) this.drop(name);
    return true;
  }

  /** Many at once, so that it is not done with each block. */
  #trim(choose: (articles: readonly HTMLElement[], count: number) => readonly HTMLElement[]): boolean {
    if (this.#articles.size <= HELD_ENTRIES_MAX) return false;
    const all = [...this.#turns.querySelectorAll<HTMLElement>("article.entry")];
    const rolls = new Set<Element>();
    for (const article of choose(all, this.#articles.size - HELD_ENTRIES_MAX + TRIMMED_ENTRIES)) {
      const name = article.dataset["name"] ?? "";
      this.#articles.delete(name);
      this.#pending.delete(name);
      const roll = article.closest("details.roll");
      if (roll !== null) rolls.add(roll);
      article.remove();
    }
    for (const roll of rolls)
      if (roll.querySelector("article") === null) roll.remove();
      else tellRoll(roll);
    for (const section of [...this.#turns.children])
      if (section.querySelector("article") === null) section.remove();
    return true;
  }

  /** The entries between two positions are off the conversation's path. */
  leave(from: string, to: string): void {
    let isLeft = false;
    for (const article of this.#turns.querySelectorAll<HTMLElement>("article[data-at]")) {
      const { at } = article.dataset;
      if (at === from) isLeft = true;
      if (at === to) isLeft = false;
      if (isLeft) article.classList.add("left");
    }
  }
}

function rollUp(steps: readonly HTMLElement[]): void {
  const [first] = steps;
  if (first === undefined) return;
  const roll = document.createElement("details");
  roll.className = "roll";
  // What was being read stays in sight.
  roll.open = steps.some((step) => step.contains(document.activeElement));
  first.before(roll);
  roll.append(document.createElement("summary"), ...steps);
  tellRoll(roll);
  joinRolls(roll.previousElementSibling, roll);
}

/** The line of a roll says what is in it. */
function tellRoll(roll: Element): void {
  const summary = roll.querySelector("summary");
  if (summary === null) return;
  const steps = [...roll.children].filter((child) => child.matches("article.step")) as HTMLElement[];
  summary.textContent = rollWords(
    steps.map(({ dataset }) => ({
      calls: Number(dataset["calls"] ?? 0),
      bad: Number(dataset["bad"] ?? 0),
      thoughts: Number(dataset["thoughts"] ?? 0),
    })),
  );
}

/** Steps that follow each other are one roll. */
function joinRolls(before: Element | null, after: Element | null | undefined): void {
  const isRoll = (each: Element | null | undefined): each is HTMLDetailsElement =>
    each?.matches("details.roll") === true;
  if (!isRoll(before) || !isRoll(after)) return;
  before.open ||= after.open;
  before.append(...[...after.children].filter((child) => child.tagName !== "SUMMARY"));
  after.remove();
  tellRoll(before);
}
