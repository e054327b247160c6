/** The list of sessions: further back, and a search over them. */
import { LIST_MAX } from "../limits.ts";
import { type Listed, listItemHtml } from "../list.ts";
import { ApiError, ask, byId, fragmentValue, wordsOf } from "./api.ts";
import { SearchView } from "./search.ts";
import { agoWords, tellTimes } from "./times.ts";

/** A list that was put away for longer is read anew when it is seen again. */
const oldMs = 30_000;

export function startList(): void {
  tellTimes(document, agoWords);
  const more = document.getElementById("more") as HTMLButtonElement | null;
  more?.addEventListener("click", () => void showMore(more));
  const search = new SearchView();
  const words = fragmentValue("q");
  if (words !== undefined) void search.search(words);
  let seenAt = Date.now();
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") seenAt = Date.now();
    else if (Date.now() - seenAt > oldMs && !search.isShown) void renew();
  });
}

/** Where the server is not reached, what is there stays. */
async function renew(): Promise<void> {
  try {
    await ask("/api/me");
  } catch (error) {
    if (error instanceof TypeError) return;
    if (!(error instanceof ApiError)) throw error;
  }
  location.reload();
}

async function showMore(button: HTMLButtonElement): Promise<void> {
  button.disabled = true;
  try {
    const before = encodeURIComponent(button.dataset["before"] ?? "");
    const told = await ask<{ readonly sessions: readonly Listed[]; readonly left: number }>(
      `/api/sessions?limit=${LIST_MAX}&before=${before}`,
    );
    const list = byId("sessions");
    list.insertAdjacentHTML("beforeend", told.sessions.map(listItemHtml).join(""));
    tellTimes(list, agoWords);
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
