/** The operators of TLA+ that the modules here use, on values. */
import type { Value } from "./values.ts";
import { asBoolean, asNumber, asSequence, asSet, isEqual, ValueSet } from "./values.ts";

/** On arguments that are evaluated when they are asked for. */
type Infix = (a: () => Value, b: () => Value) => Value;
/** By the name that the grammar gives to the operator. */
export const infix: Readonly<Record<string, Infix>> = {
  land: (a, b) => asBoolean(a()) && asBoolean(b()),
  lor: (a, b) => asBoolean(a()) || asBoolean(b()),
  implies: (a, b) => !asBoolean(a()) || asBoolean(b()),
  iff: (a, b) => asBoolean(a()) === asBoolean(b()),
  eq: (a, b) => isEqual(a(), b()),
  neq: (a, b) => !isEqual(a(), b()),
  lt: (a, b) => asNumber(a()) < asNumber(b()),
  leq: (a, b) => asNumber(a()) <= asNumber(b()),
  gt: (a, b) => asNumber(a()) > asNumber(b()),
  geq: (a, b) => asNumber(a()) >= asNumber(b()),
  plus: (a, b) => asNumber(a()) + asNumber(b()),
  minus: (a, b) => asNumber(a()) - asNumber(b()),
  mod: (a, b) => asNumber(a()) % asNumber(b()),
  in: (a, b) => asSet(b()).has(a()),
  notin: (a, b) => !asSet(b()).has(a()),
  cup: (a, b) => new ValueSet([...asSet(a()).values(), ...asSet(b()).values()]),
  cap: (a, b) => {
    const right = asSet(b());
    return new ValueSet([...asSet(a()).values()].filter((value) => right.has(value)));
  },
  setminus: (a, b) => {
    const right = asSet(b());
    return new ValueSet([...asSet(a()).values()].filter((value) => !right.has(value)));
  },
  subseteq: (a, b) => {
    const right = asSet(b());
    return [...asSet(a()).values()].every((value) => right.has(value));
  },
  dots_2: (a, b) => {
    const from = asNumber(a());
    return new ValueSet(Array.from({ length: Math.max(0, asNumber(b()) - from + 1) }, (_, i) => from + i));
  },
  circ: (a, b) => [...asSequence(a()), ...asSequence(b())],
};

/** By name. */
export const library: Readonly<Record<string, (value: Value) => Value>> = {
  Len: (value) => asSequence(value).length,
  Cardinality: (value) => asSet(value).size,
};
