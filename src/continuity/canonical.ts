/** One text for equal values. */

/** An array or object being printed: its members, and the next one's index. `keys` is absent for an array. */
interface Frame {
  readonly node: object;
  readonly keys: readonly string[] | undefined;
  readonly members: readonly unknown[];
  index: number;
}

/**
 * The canonical JSON text of a value: keys in code-unit order, no spaces, fields that are undefined left out, so that an explicit
 * undefined and a missing field are equal. Numbers and strings print as JSON does (NaN and the infinities as `null`, a lone surrogate
 * as an escape); undefined and functions print as `undefined`; `toJSON` is not called. Nothing recurses, so that no depth of nesting
 * in a hostile record overflows the stack. Throws a TypeError for a cycle and for a bigint.
 */
export function canonicalJson(value: unknown): string {
  if (!isContainer(value)) return leafText(value);
  const open = new Set<object>([value]);
  const frames: Frame[] = [frameOf(value)];
  let out = Array.isArray(value) ? "[" : "{";
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (frame.index === frame.members.length) {
      out += frame.keys === undefined ? "]" : "}";
      open.delete(frame.node);
      frames.pop();
      continue;
    }
    if (frame.index > 0) out += ",";
    if (frame.keys !== undefined) out += `${JSON.stringify(frame.keys[frame.index])}:`;
    const member = frame.members[frame.index];
    frame.index += 1;
    if (!isContainer(member)) {
      out += leafText(member);
      continue;
    }
    if (open.has(member)) throw new TypeError("a value that contains itself has no canonical text");
    open.add(member);
    frames.push(frameOf(member));
    out += Array.isArray(member) ? "[" : "{";
  }
  return out;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function leafText(value: unknown): string {
  return JSON.stringify(value) ?? "undefined";
}

function frameOf(node: object): Frame {
  // A copy: holes of a sparse array become undefined members.
  if (Array.isArray(node)) return { node, keys: undefined, members: Array.from(node), index: 0 };
  const fields = node as Readonly<Record<string, unknown>>;
  const keys = Object.keys(fields)
    .filter((key) => fields[key] !== undefined)
    .sort();
  return { node, keys, members: keys.map((key) => fields[key]), index: 0 };
}
