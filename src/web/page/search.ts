/** A search, over all sessions or within one: asked, shown, and chosen from. */
import { HITS_MAX } from "../limits.ts";
import { type Hit, hitHtml } from "../list.ts";
import { ApiError, ask, byId, wordsOf } from "./api.ts";
import { localWords, tellTimes } from "./times.ts";

export interface SearchOptions {
  /** Only in this session. */
  readonly session?: string;
  /** A hit was chosen; without it, its link is followed. */
  readonly onChosen?: (at: string) => void;
}

/** The document's search. Over all sessions its words stand in the address' fragment, so that the way back leads to them. */
export class SearchView {
  readonly #options: SearchOptions;
  readonly #hits = byId("hits");
  readonly #words = byId<HTMLInputElement>("words");
  #asked = 0;

  constructor(options: SearchOptions = {}) {
    this.#options = options;
    byId<HTMLFormElement>("search").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.search(this.#words.value.trim());
    });
    const { onChosen } = options;
    if (onChosen === undefined) return;
    this.#hits.addEventListener("click", (event) => {
      const at = (event.target as Element).closest<HTMLElement>("a[data-at]")?.dataset["at"];
      if (at === undefined) return;
      event.preventDefault();
      onChosen(at);
    });
  }

  get isShown(): boolean {
    return !this.#hits.hidden || this.#words.value !== "";
  }

  /** Looks for the words; only the newest search is shown. */
  async search(words: string): Promise<void> {
    const rows = this.#hits.querySelector("ul") as HTMLElement;
    const note = this.#hits.querySelector("p") as HTMLElement;
    const { session } = this.#options;
    this.#asked += 1;
    const own = this.#asked;
    this.#words.value = words;
    this.#hits.hidden = words === "";
    rows.innerHTML = "";
    if (session === undefined)
      history.replaceState(null, "", words === "" ? location.pathname : `#q=${encodeURIComponent(words)}`);
    if (words === "") return;
    note.textContent = "Looking …";
    const within = session === undefined ? "" : `&session=${encodeURIComponent(session)}`;
    try {
      const { hits } = await ask<{ readonly hits: readonly Hit[] }>(
        `/api/search?limit=${HITS_MAX}&q=${encodeURIComponent(words)}${within}`,
      );
      if (own !== this.#asked) return;
      const told = session === undefined ? hits : hits.map(({ title: _, ...hit }) => hit);
      rows.innerHTML = told.map((hit) => hitHtml(hit, words)).join("");
      tellTimes(rows, localWords);
      note.textContent =
        hits.length === 0
          ? "Nothing was found."
          : `${hits.length === HITS_MAX ? "The newest " : ""}${hits.length} found`;
    } catch (error) {
      if (own !== this.#asked) return;
      note.textContent =
        error instanceof ApiError && error.code === "no-search"
          ? "This server has no search."
          : wordsOf(error);
    }
  }
}
