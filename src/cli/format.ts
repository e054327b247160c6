/** Numbers and times as people read them; each carries its unit. */

const units = ["B", "kB", "MB", "GB", "TB"] as const;

/** `512 B`, `1.2 MB`: three significant digits at most, powers of 1000. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.5 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** `now`, `5 min ago`, `3 h ago`, `2 d ago`, then the date. A time to come (a clock that jumped) is `now`. */
export function formatAge(thenMs: number, nowMs: number): string {
  const age = nowMs - thenMs;
  if (age < minute) return "now";
  if (age < hour) return `${Math.floor(age / minute)} min ago`;
  if (age < day) return `${Math.floor(age / hour)} h ago`;
  if (age < 14 * day) return `${Math.floor(age / day)} d ago`;
  return new Date(thenMs).toISOString().slice(0, 10);
}

/** A folder as people write it: the home folder as `~`. */
export function formatFolder(folder: string, home: string): string {
  if (home !== "" && (folder === home || folder.startsWith(`${home}/`)))
    return `~${folder.slice(home.length)}`;
  return folder;
}

/** A word as a POSIX shell takes it: bare where it may be, else in single quotes. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
