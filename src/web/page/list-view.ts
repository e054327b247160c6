/** The list of sessions: further back, and a search over them. */
import { HITS_MAX, LIST_MAX } from "../limits.ts";
import { type Hit, hitHtml, type Listed, listItemHtml } from "../list.ts";
import { ApiError, ask, byId, wordsOf } from "./api.ts";

export function startList(): void {
  const more = document.getElementById("more") as HTMLButtonElement | null;
  more?.addEventListener("click", () => void showMore(more));
  const form = byId<HTMLFormElement>("search");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void search(byId<HTMLInputElement>("words").value.trim());
  });
  // A page that was put away shows what has come since.
  let seenAt = Date.now();
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") seenAt = Date.now();
    else if (Date.now() - seenAt > 30_000 && byId("hits").hidden) location.reload();
  });
}

async function showMore(button: HTMLButtonElement): Promise<void> {
  button.disabled = true;
  try {
    const before = encodeURIComponent(button.dataset["before"] ?? "");
    const told = await ask<{ readonly sessions: readonly Listed[]; readonly left: number }>(
      `/api/sessions?limit=${LIST_MAX}&before=${before}`,
    );
    byId("sessions").insertAdjacentHTML("beforeend", told.sessions.map(listItemHtml).join(""));
    const last = told.sessions.at(-1);
    if (told.left === 0 || last === undefined) button.remove();
    else {
      button.dataset["before"] = last.id;
      button.textContent = `${told.left} older`;
    }
  } catch (error) {
    button.textContent = `${wordsOf(error)} Try again.`;
  } finally {
    button.disabled = false;
  }
}

let asked = 0;

async function search(words: string): Promise<void> {
  const hits = byId("hits");
  const rows = hits.querySelector("ul") as HTMLElement;
  const note = hits.querySelector("p") as HTMLElement;
  hits.hidden = words === "";
  if (words === "") return;
  asked += 1;
  const own = asked;
  note.textContent = "Looking …";
  try {
    const told = await ask<{ readonly hits: readonly Hit[] }>(
      `/api/search?limit=${HITS_MAX}&q=${encodeURIComponent(words)}`,
    );
    if (own !== asked) return;
    rows.innerHTML = told.hits.map(hitHtml).join("");
    note.textContent = told.hits.length === 0 ? "Nothing was found." : "";
  } catch (error) {
    if (own !== asked) return;
    rows.innerHTML = "";
    note.textContent =
      error instanceof ApiError && error.code === "no-search" ? "This server has no search." : wordsOf(error);
  }
}
