/** The blocks that are on the page: found by name, grown in place, rolled up when their turn is over, and bounded in number. */
import { beginsTurn } from "../../html/index.ts";
import type { Entry } from "../../transcript/index.ts";
import { HELD_ENTRIES_MAX } from "../limits.ts";
import { articleHtml, type Placed, rollWords, turnHtml } from "../turns.ts";

export class Blocks {
  readonly #turns: HTMLElement;
  readonly #articles = new Map<string, HTMLElement>();
  /** Blocks that may still change, in log order. */
  readonly #pending = new Map<string, Entry>();
  readonly #dirty = new Set<string>();
  #isDrawDue = false;
  readonly #onDrawn: () => void;

  constructor(turns: HTMLElement, pending: readonly Entry[], onDrawn: () => void) {
    this.#turns = turns;
    this.#onDrawn = onDrawn;
    this.index();
    for (const entry of pending) this.#pending.set(entry.name, entry);
  }

  /** Turns that stand before all others. */
  prepend(html: string): void {
    const first = this.#turns.firstElementChild;
    this.#turns.insertAdjacentHTML("afterbegin", html);
    for (
      let each = this.#turns.firstElementChild;
      each !== null && each !== first;
      each = each.nextElementSibling
    )
      for (const article of each.querySelectorAll("article.entry")) this.#note(article);
  }

  /** Finds the blocks of the document again, where all of it is another. */
  index(): void {
    this.#articles.clear();
    for (const article of this.#turns.querySelectorAll<HTMLElement>("article.entry"))
      this.#articles.set(article.dataset["name"] ?? "", article);
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
    const { cut, ...whole } = entry as Entry & { readonly cut?: number };
    const placed: Placed = { entry: whole as Entry, at, ...(cut === undefined ? {} : { cut }) };
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
  show(placed: Placed): void {
    if (this.#articles.has(placed.entry.name)) this.#replace(placed);
  }

  #append(placed: Placed): void {
    const before = [...this.#pending.keys()]
      .map((name) => (name === placed.entry.name ? undefined : this.#articles.get(name)))
      .find((article) => article !== undefined);
    const isPending = this.#pending.has(placed.entry.name);
    if (beginsTurn(placed.entry) || this.#turns.lastElementChild === null) {
      this.roll();
      this.#turns.insertAdjacentHTML("beforeend", turnHtml([placed], false));
      this.#note(this.#turns.lastElementChild?.querySelector("article") ?? null);
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
  #replace(placed: Placed): void {
    const old = this.#articles.get(placed.entry.name);
    if (old === undefined) return;
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

  /** Draws a changed block with the next frame of the screen: however often it grows, once. */
  #redraw(name: string): void {
    this.#dirty.add(name);
    if (this.#isDrawDue) return;
    this.#isDrawDue = true;
    const draw = (): void => {
      this.#isDrawDue = false;
      for (const each of this.#dirty) {
        const entry = this.#pending.get(each);
        if (entry !== undefined) this.#replace({ entry });
      }
      this.#dirty.clear();
      this.#onDrawn();
    };
    // A page that is not seen gets no frames.
    if (document.visibilityState === "visible") requestAnimationFrame(draw);
    else setTimeout(draw, 250);
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
    let start: string | undefined;
    while (this.#articles.size > HELD_ENTRIES_MAX && this.#turns.children.length > 1) {
      const [section, next] = this.#turns.children;
      this.#forget(section);
      start = next?.querySelector<HTMLElement>("article[data-at]")?.dataset["at"] ?? start;
    }
    return start;
  }

  /** Lets go of what is furthest below; true where something went. */
  trimBelow(): boolean {
    let isTrimmed = false;
    while (this.#articles.size > HELD_ENTRIES_MAX && this.#turns.children.length > 1) {
      this.#forget(this.#turns.lastElementChild);
      isTrimmed = true;
    }
    return isTrimmed;
  }

  #forget(section: Element | null | undefined): void {
    for (const article of section?.querySelectorAll<HTMLElement>("article.entry") ?? []) {
      const name = article.dataset["name"] ?? "";
      this.#articles.delete(name);
      this.#pending.delete(name);
    }
    section?.remove();
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
  const summary = document.createElement("summary");
  summary.textContent = rollWords(
    steps.map(({ dataset }) => ({
      calls: Number(dataset["calls"] ?? 0),
      bad: Number(dataset["bad"] ?? 0),
      thoughts: Number(dataset["thoughts"] ?? 0),
    })),
  );
  first.before(roll);
  roll.append(summary, ...steps);
}
