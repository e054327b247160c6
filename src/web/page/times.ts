/** Times in the reader's own zone and words, clocks that run, and how long ago something was. */

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const year = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const hour = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

/** `0:05`, `12:40`, `3 h 7 min`. */
export function clockWords(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${minutes}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A time as the reader's own clock has it; the day only where it is not today. */
export function localWords(time: number, now: number): string {
  const [then, today] = [new Date(time), new Date(now)];
  if (then.toDateString() === today.toDateString()) return hour.format(then);
  const date = then.getFullYear() === today.getFullYear() ? day.format(then) : year.format(then);
  return `${date}, ${hour.format(then)}`;
}

/** How long ago, where it was lately; else the time. */
export function agoWords(time: number, now: number): string {
  const minutes = Math.floor((now - time) / 60_000);
  if (minutes < 0 || minutes >= 12 * 60) return localWords(time, now);
  if (minutes < 1) return "just now";
  return minutes < 60 ? `${minutes} min ago` : `${Math.floor(minutes / 60)} h ago`;
}

/** Tells the times below an element that are not told yet. */
export function tellTimes(root: ParentNode, words: (time: number, now: number) => string): void {
  const now = Date.now();
  for (const each of root.querySelectorAll<HTMLTimeElement>("time:not([title])")) {
    const time = Date.parse(each.dateTime);
    // The exact one stays at hand.
    each.title = each.textContent ?? "";
    each.textContent = words(time, now);
  }
}

/** Moves the clocks of what runs. */
export function turnClocks(root: ParentNode): void {
  const now = Date.now();
  for (const clock of root.querySelectorAll<HTMLElement>(".clock")) {
    const words = `for ${clockWords(now - Number(clock.dataset["since"]))}`;
    if (clock.textContent !== words) clock.textContent = words;
  }
}
