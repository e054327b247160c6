/** Values of TLA+, as far as the modules here use them: whole numbers, booleans, strings, sets, records and sequences. */

export type Value = number | boolean | string | ValueSet | ValueRecord | readonly Value[];

/** A finite set. */
export class ValueSet {
  private readonly items: ReadonlyMap<string, Value>;
  private text: string | undefined;

  constructor(values: Iterable<Value>) {
    const items = new Map<string, Value>();
    for (const value of values) items.set(keyOf(value), value);
    this.items = items;
  }

  get size(): number {
    return this.items.size;
  }

  has(value: Value): boolean {
    return this.items.has(keyOf(value));
  }

  values(): Iterable<Value> {
    return this.items.values();
  }

  key(): string {
    this.text ??= `{${[...this.items.keys()].sort().join(",")}}`;
    return this.text;
  }
}

/** A record: a function from field names. */
export class ValueRecord {
  readonly fields: ReadonlyMap<string, Value>;
  private text: string | undefined;

  constructor(fields: Iterable<readonly [string, Value]>) {
    this.fields = new Map(fields);
  }

  get(name: string): Value {
    const value = this.fields.get(name);
    if (value === undefined) throw new Error(`TLA+: no field ${name} in ${keyOf(this)}`);
    return value;
  }

  with(name: string, value: Value): ValueRecord {
    this.get(name);
    return new ValueRecord(new Map(this.fields).set(name, value));
  }

  key(): string {
    if (this.text === undefined) {
      const names = [...this.fields.keys()].sort();
      this.text = `[${names.map((name) => `${name}:${keyOf(this.get(name))}`).join(",")}]`;
    }
    return this.text;
  }
}

/** A text that is equal exactly for equal values. */
export function keyOf(value: Value): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object") return String(value);
  if (value instanceof ValueSet || value instanceof ValueRecord) return value.key();
  return `<${value.map(keyOf).join(",")}>`;
}

export function isEqual(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object") return false;
  return keyOf(a) === keyOf(b);
}

function wrong(wanted: string, value: Value): never {
  throw new Error(`TLA+: ${keyOf(value)} is no ${wanted}`);
}

export function asNumber(value: Value): number {
  return typeof value === "number" ? value : wrong("number", value);
}

export function asBoolean(value: Value): boolean {
  return typeof value === "boolean" ? value : wrong("boolean", value);
}

export function asSet(value: Value): ValueSet {
  return value instanceof ValueSet ? value : wrong("set", value);
}

export function asRecord(value: Value): ValueRecord {
  return value instanceof ValueRecord ? value : wrong("record", value);
}

export function asSequence(value: Value): readonly Value[] {
  return Array.isArray(value) ? (value as readonly Value[]) : wrong("sequence", value);
}

/** The value of JSON, as the Json module of TLA+ reads it: objects are records, arrays sequences. */
export function fromJson(json: unknown): Value {
  if (typeof json === "number" || typeof json === "boolean" || typeof json === "string") return json;
  if (Array.isArray(json)) return json.map(fromJson);
  if (typeof json === "object" && json !== null) {
    return new ValueRecord(Object.entries(json).map(([name, value]) => [name, fromJson(value)] as const));
  }
  throw new Error(`TLA+: no value of ${String(json)}`);
}
