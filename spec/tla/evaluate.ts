/**
 * An interpreter for the part of TLA+ that the modules here use, so that they run in the tests without Java. Expressions are compiled
 * to functions; an action is run by finding the values of primed variables that make it true, conjunct by conjunct.
 */
import type { Node } from "web-tree-sitter";
import { fail, field, parts } from "./grammar.ts";
import type { Definition, Module } from "./module.ts";
import { definitionOf } from "./module.ts";
import type { Value } from "./values.ts";
import {
  asBoolean,
  asNumber,
  asRecord,
  asSequence,
  asSet,
  isEqual,
  keyOf,
  ValueRecord,
  ValueSet,
} from "./values.ts";

/** Values of the variables. */
export type State = Readonly<Record<string, Value>>;

/** Where an expression is evaluated: the state, and what is known of the next one. */
interface Place {
  readonly now: State;
  readonly next: State | undefined;
}

/** Local names and their values, the innermost first. */
interface Env {
  readonly value: () => Value;
  readonly up: Env | undefined;
}

/** Local names in the order of `Env`. */
interface Scope {
  readonly name: string;
  readonly up: Scope | undefined;
}

type Evaluate = (env: Env | undefined, place: Place) => Value;
/** All next states that make an action true, beginning with what is known of it. */
type Act = (env: Env | undefined, place: Place) => readonly State[];

const once = (value: () => Value): (() => Value) => {
  let known: Value | undefined;
  return () => {
    known ??= value();
    return known;
  };
};

const constant =
  (value: Value): (() => Value) =>
  () =>
    value;

type Infix = (a: () => Value, b: () => Value) => Value;
const infix: Readonly<Record<string, Infix>> = {
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

const library: Readonly<Record<string, (value: Value) => Value>> = {
  Len: (value) => asSequence(value).length,
  Cardinality: (value) => asSet(value).size,
};

export class Interpreter {
  private readonly module: Module;
  private readonly constants: Readonly<Record<string, Value>>;
  private readonly bodies = new Map<string, Evaluate>();
  private readonly acts = new Map<string, Act>();
  private readonly primed = new Map<string, boolean>();

  /** `constants` gives a value to each constant, and may give one to a definition instead of its own. */
  constructor(module: Module, constants: Readonly<Record<string, Value>>) {
    this.module = module;
    this.constants = constants;
    for (const name of module.constants) {
      if (constants[name] === undefined) throw new Error(`TLA+: no value for the constant ${name}`);
    }
  }

  /** The value of a definition without parameters in a state; of a definition about steps, with the next state. */
  value(name: string, now: State, next?: State): Value {
    return this.body(this.definition(name))(undefined, { now, next });
  }

  /** The next states that an action allows. */
  successors(name: string, now: State): readonly State[] {
    return this.actionOf(this.definition(name))(undefined, { now, next: {} });
  }

  /** The states that an initial predicate allows: an action on unprimed variables. */
  initial(name: string): readonly State[] {
    const act = this.act(this.definition(name).body, undefined, true);
    return act(undefined, { now: {}, next: {} });
  }

  private definition(name: string): Definition {
    const definition = this.module.definitions.get(name);
    if (definition === undefined) throw new Error(`TLA+: no definition of ${name}`);
    return definition;
  }

  private body(definition: Definition): Evaluate {
    let body = this.bodies.get(definition.name);
    if (body === undefined) {
      // A definition may be asked for while it is compiled, by itself or another: it is looked up when it runs.
      body = this.compile(definition.body, scopeOf(definition.params));
      this.bodies.set(definition.name, body);
    }
    return body;
  }

  private actionOf(definition: Definition, isInitial = false): Act {
    const name = isInitial ? `${definition.name} initially` : definition.name;
    let act = this.acts.get(name);
    if (act === undefined) {
      act = this.act(definition.body, scopeOf(definition.params), isInitial);
      this.acts.set(name, act);
    }
    return act;
  }

  // Expressions

  private compile(node: Node, scope: Scope | undefined): Evaluate {
    switch (node.type) {
      case "nat_number":
        return constantly(Number(node.text));
      case "boolean":
        return constantly(node.text === "TRUE");
      case "string":
        return constantly(JSON.parse(node.text) as string);
      case "boolean_set":
        return constantly(new ValueSet([false, true]));
      case "parentheses":
        return this.compile(only(node), scope);
      case "identifier_ref":
        return this.reference(node, scope);
      case "bound_op":
        return this.application(node, scope);
      case "bound_infix_op":
        return this.infix(node, scope);
      case "bound_prefix_op":
        return this.prefix(node, scope);
      case "bound_postfix_op": {
        const name = field(node, "lhs").text;
        return (_env, { next }) => next?.[name] ?? fail(node, "no next state");
      }
      case "conj_list":
      case "disj_list": {
        const items = parts(node).map((item) => this.compile(parts(item)[1] ?? fail(item, "empty"), scope));
        const isAll = node.type === "conj_list";
        return (env, place) =>
          isAll
            ? items.every((item) => asBoolean(item(env, place)))
            : items.some((item) => asBoolean(item(env, place)));
      }
      case "if_then_else": {
        const [test, yes, no] = ["if", "then", "else"].map((name) => this.compile(field(node, name), scope));
        return (env, place) => (asBoolean(test!(env, place)) ? yes!(env, place) : no!(env, place));
      }
      case "case":
        return this.cases(node, (arm) => this.compile(arm, scope), scope);
      case "let_in": {
        const { inner, bind } = this.letIn(node, scope);
        const body = this.compile(field(node, "expression"), inner);
        return (env, place) => body(bind(env, place), place);
      }
      default:
        return this.compileData(node, scope);
    }
  }

  private compileData(node: Node, scope: Scope | undefined): Evaluate {
    switch (node.type) {
      case "tuple_literal": {
        const items = parts(node)
          .filter(({ type }) => !/_bracket$/.test(type))
          .map((item) => this.compile(item, scope));
        return (env, place) => items.map((item) => item(env, place));
      }
      case "finite_set_literal": {
        const items = parts(node).map((item) => this.compile(item, scope));
        return (env, place) => new ValueSet(items.map((item) => item(env, place)));
      }
      case "record_literal": {
        const items = parts(node).filter(({ type }) => type !== "all_map_to");
        const fields: (readonly [string, Evaluate])[] = [];
        for (let i = 0; i < items.length; i += 2)
          fields.push([items[i]!.text, this.compile(items[i + 1]!, scope)]);
        return (env, place) =>
          new ValueRecord(fields.map(([name, value]) => [name, value(env, place)] as const));
      }
      case "record_value": {
        const [record, name] = parts(node);
        const value = this.compile(record!, scope);
        return (env, place) => asRecord(value(env, place)).get(name!.text);
      }
      case "function_evaluation": {
        const [list, index] = parts(node).map((part) => this.compile(part, scope));
        return (env, place) => {
          const at = asNumber(index!(env, place));
          return asSequence(list!(env, place))[at - 1] ?? fail(node, `no item ${at}`);
        };
      }
      case "except":
        return this.except(node, scope);
      case "set_filter":
      case "set_map": {
        const isFilter = node.type === "set_filter";
        const generator = field(node, "generator");
        const set = this.compile(field(generator, "set"), scope);
        const name = field(generator, "intro").text;
        const body = this.compile(field(node, isFilter ? "filter" : "map"), { name, up: scope });
        return (env, place) => {
          const at = (value: Value): Value => body({ value: constant(value), up: env }, place);
          const values = [...asSet(set(env, place)).values()];
          return new ValueSet(isFilter ? values.filter((value) => asBoolean(at(value))) : values.map(at));
        };
      }
      case "bounded_quantification": {
        const { inner, choices } = this.bounds(node, scope);
        const body = this.compile(field(node, "expression"), inner);
        const isAll = field(node, "quantifier").type === "forall";
        return (env, place) => {
          const holds = (choice: Env | undefined): boolean => asBoolean(body(choice, place));
          return isAll ? choices(env, place).every(holds) : choices(env, place).some(holds);
        };
      }
      case "step_expr_or_stutter": {
        // [A]_v as a predicate on one step.
        const [action, subscript] = parts(node);
        const holds = this.compile(action!, scope);
        const stutters = this.unchanged(subscript!);
        return (env, place) => asBoolean(stutters(env, place)) || asBoolean(holds(env, place));
      }
      default:
        return fail(node, "an expression that is not interpreted");
    }
  }

  private reference(node: Node, scope: Scope | undefined): Evaluate {
    const name = node.text;
    let depth = 0;
    for (let at = scope; at !== undefined; at = at.up, depth += 1) {
      if (at.name !== name) continue;
      const hops = depth;
      return (env) => {
        let here = env;
        for (let i = 0; i < hops; i += 1) here = here?.up;
        return here?.value() ?? fail(node, "no value");
      };
    }
    const given = this.constants[name];
    if (given !== undefined) return constantly(given);
    if (this.module.variables.has(name)) return (_env, { now }) => now[name] ?? fail(node, "no value");
    const definition = this.module.definitions.get(name) ?? fail(node, "unknown name");
    return (_env, place) => this.body(definition)(undefined, place);
  }

  private application(node: Node, scope: Scope | undefined): Evaluate {
    const name = field(node, "name").text;
    const args = argumentsOf(node).map((arg) => this.compile(arg, scope));
    const known = library[name];
    if (known !== undefined) return (env, place) => known(args[0]!(env, place));
    const definition = this.module.definitions.get(name) ?? fail(node, "unknown operator");
    if (definition.params.length !== args.length) fail(node, "arguments do not fit");
    return (env, place) => this.body(definition)(bindAll(args, env, place), place);
  }

  private infix(node: Node, scope: Scope | undefined): Evaluate {
    const operator = infix[field(node, "symbol").type] ?? fail(node, "operator that is not interpreted");
    const left = this.compile(field(node, "lhs"), scope);
    const right = this.compile(field(node, "rhs"), scope);
    return (env, place) =>
      operator(
        () => left(env, place),
        () => right(env, place),
      );
  }

  private prefix(node: Node, scope: Scope | undefined): Evaluate {
    const operand = field(node, "rhs");
    switch (field(node, "symbol").type) {
      case "enabled": {
        const act = this.act(operand, scope, false);
        return (env, { now }) => act(env, { now, next: {} }).length > 0;
      }
      case "unchanged":
        return this.unchanged(operand);
      case "domain": {
        const value = this.compile(operand, scope);
        return (env, place) => new ValueSet(asRecord(value(env, place)).fields.keys());
      }
      case "lnot": {
        const value = this.compile(operand, scope);
        return (env, place) => !asBoolean(value(env, place));
      }
      case "negative": {
        const value = this.compile(operand, scope);
        return (env, place) => -asNumber(value(env, place));
      }
      case "always":
        return this.compile(operand, scope);
      default:
        return fail(node, "operator that is not interpreted");
    }
  }

  private except(node: Node, scope: Scope | undefined): Evaluate {
    const start = this.compile(field(node, "expr_to_update"), scope);
    const updates = parts(node)
      .filter(({ type }) => type === "except_update")
      .map((update) => {
        const path = parts(parts(update)[0] ?? fail(update, "no place")).map((part) => only(part).text);
        return { path, value: this.compile(field(update, "new_val"), scope) };
      });
    const put = (record: ValueRecord, path: readonly string[], value: Value): ValueRecord => {
      const [name = "", ...rest] = path;
      return record.with(name, rest.length === 0 ? value : put(asRecord(record.get(name)), rest, value));
    };
    return (env, place) =>
      updates.reduce(
        (record, { path, value }) => put(record, path, value(env, place)),
        asRecord(start(env, place)),
      );
  }

  /** A CASE as whatever its arms are compiled to. */
  private cases<Result>(
    node: Node,
    compileArm: (arm: Node) => (env: Env | undefined, place: Place) => Result,
    scope: Scope | undefined,
  ): (env: Env | undefined, place: Place) => Result {
    const arms = parts(node)
      .filter(({ type }) => type !== "case_box")
      .map((arm) => {
        const inside = parts(arm).filter(({ type }) => type !== "case_arrow");
        const isOther = arm.type === "other_arm";
        return {
          test: isOther ? undefined : this.compile(inside[0]!, scope),
          run: compileArm(inside.at(-1)!),
        };
      });
    return (env, place) => {
      const arm = arms.find(({ test }) => test === undefined || asBoolean(test(env, place)));
      return arm === undefined ? fail(node, "no arm fits") : arm.run(env, place);
    };
  }

  private letIn(
    node: Node,
    scope: Scope | undefined,
  ): {
    readonly inner: Scope | undefined;
    readonly bind: (env: Env | undefined, place: Place) => Env | undefined;
  } {
    let inner = scope;
    const values: Evaluate[] = [];
    for (const child of node.childrenForFieldName("definitions")) {
      const { name, params, body } = definitionOf(child ?? fail(node, "no definition"));
      if (params.length > 0) fail(node, "a local operator with parameters is not interpreted");
      values.push(this.compile(body, inner));
      inner = { name, up: inner };
    }
    const bind = (env: Env | undefined, place: Place): Env | undefined =>
      values.reduce<Env | undefined>((up, value) => ({ value: once(() => value(up, place)), up }), env);
    return { inner, bind };
  }

  /** The bound names of a quantifier, and every choice of their values. */
  private bounds(
    node: Node,
    scope: Scope | undefined,
  ): {
    readonly inner: Scope | undefined;
    readonly choices: (env: Env | undefined, place: Place) => (Env | undefined)[];
  } {
    let inner = scope;
    const sets: Evaluate[] = [];
    for (const child of node.childrenForFieldName("bound")) {
      if (child?.type !== "quantifier_bound") continue;
      sets.push(this.compile(field(child, "set"), scope));
      inner = { name: field(child, "intro").text, up: inner };
    }
    const choices = (env: Env | undefined, place: Place): (Env | undefined)[] => {
      let all: (Env | undefined)[] = [env];
      for (const set of sets) {
        // The sets of one quantifier do not see its own names.
        const values = [...asSet(set(env, place)).values()];
        all = all.flatMap((up) => values.map((value) => ({ value: constant(value), up })));
      }
      return all;
    };
    if (sets.length > 1 && scope !== undefined)
      fail(node, "several bounds under local names are not interpreted");
    return { inner, choices };
  }

  // Actions

  /** Whether an expression speaks of the next state, by itself or through a definition. */
  private isAction(node: Node): boolean {
    if (node.type === "bound_postfix_op") return true;
    if (node.type === "bound_prefix_op" && field(node, "symbol").type === "enabled") return false;
    if (node.type === "bound_prefix_op" && field(node, "symbol").type === "unchanged") return true;
    if (node.type === "identifier_ref") {
      const definition = this.module.definitions.get(node.text);
      if (definition === undefined || this.constants[node.text] !== undefined) return false;
      let known = this.primed.get(node.text);
      if (known === undefined) {
        this.primed.set(node.text, false);
        known = this.isAction(definition.body);
        this.primed.set(node.text, known);
      }
      return known;
    }
    return parts(node).some((child) => this.isAction(child));
  }

  private act(node: Node, scope: Scope | undefined, isInitial: boolean): Act {
    const again = (inner: Node, innerScope = scope): Act => this.act(inner, innerScope, isInitial);
    if (!isInitial && !this.isAction(node)) return this.guard(node, scope);
    switch (node.type) {
      case "parentheses":
        return again(only(node));
      case "conj_list":
        return all(parts(node).map((item) => again(parts(item)[1]!)));
      case "disj_list":
        return any(parts(node).map((item) => again(parts(item)[1]!)));
      case "if_then_else": {
        const test = this.compile(field(node, "if"), scope);
        const yes = again(field(node, "then"));
        const no = again(field(node, "else"));
        return (env, place) => (asBoolean(test(env, place)) ? yes(env, place) : no(env, place));
      }
      case "case":
        return this.cases(node, again, scope);
      case "let_in": {
        const { inner, bind } = this.letIn(node, scope);
        const body = again(field(node, "expression"), inner);
        return (env, place) => body(bind(env, place), place);
      }
      case "bounded_quantification": {
        if (field(node, "quantifier").type !== "exists") break;
        const { inner, choices } = this.bounds(node, scope);
        const body = again(field(node, "expression"), inner);
        return (env, place) => choices(env, place).flatMap((choice) => body(choice, place));
      }
      case "identifier_ref": {
        const definition = this.module.definitions.get(node.text);
        if (definition === undefined) break;
        return (_env, place) => this.actionOf(definition, isInitial)(undefined, place);
      }
      case "bound_op": {
        const definition = this.module.definitions.get(field(node, "name").text);
        if (definition === undefined) break;
        const args = argumentsOf(node).map((arg) => this.compile(arg, scope));
        return (env, place) => this.actionOf(definition, isInitial)(bindAll(args, env, place), place);
      }
      case "bound_prefix_op": {
        const operand = field(node, "rhs");
        if (field(node, "symbol").type !== "unchanged") break;
        const names = this.variables(operand);
        return (_env, place) =>
          names.reduce<readonly State[]>(
            (states, name) => states.flatMap((next) => assign(next, name, place.now[name]!)),
            [place.next ?? {}],
          );
      }
      case "bound_infix_op":
        return this.infixAct(node, scope, isInitial);
      default:
    }
    return this.guard(node, scope);
  }

  private infixAct(node: Node, scope: Scope | undefined, isInitial: boolean): Act {
    const symbol = field(node, "symbol").type;
    const [left, right] = [field(node, "lhs"), field(node, "rhs")];
    if (symbol === "land" || symbol === "lor") {
      const both = [left, right].map((side) => this.act(side, scope, isInitial));
      return symbol === "land" ? all(both) : any(both);
    }
    const isVariable = isInitial
      ? left.type === "identifier_ref" && this.module.variables.has(left.text)
      : left.type === "bound_postfix_op";
    if (symbol !== "eq" || !isVariable) return this.guard(node, scope);
    const name = isInitial ? left.text : field(left, "lhs").text;
    const value = this.compile(right, scope);
    return (env, place) => assign(place.next ?? {}, name, value(env, place));
  }

  /** The variables of a tuple, of a single one, or of a definition that names them. */
  private variables(node: Node): readonly string[] {
    if (node.type !== "identifier_ref") {
      return parts(node)
        .filter(({ type }) => type === "identifier_ref")
        .flatMap((part) => this.variables(part));
    }
    const definition = this.module.definitions.get(node.text);
    return definition === undefined ? [node.text] : this.variables(definition.body);
  }

  /** Whether variables keep their values, as a predicate on one step. */
  private unchanged(node: Node): Evaluate {
    const names = this.variables(node);
    return (_env, { now, next }) =>
      names.every((name) => isEqual(now[name]!, next?.[name] ?? fail(node, "no next state")));
  }

  private guard(node: Node, scope: Scope | undefined): Act {
    const test = this.compile(node, scope);
    return (env, place) => (asBoolean(test(env, place)) ? [place.next ?? {}] : []);
  }
}

function constantly(value: Value): Evaluate {
  return () => value;
}

function scopeOf(params: readonly string[]): Scope | undefined {
  return params.reduce<Scope | undefined>((up, name) => ({ name, up }), undefined);
}

function bindAll(args: readonly Evaluate[], env: Env | undefined, place: Place): Env | undefined {
  return args.reduce<Env | undefined>((up, arg) => ({ value: once(() => arg(env, place)), up }), undefined);
}

function argumentsOf(node: Node): readonly Node[] {
  return parts(node).slice(1);
}

function only(node: Node): Node {
  const [inner, ...rest] = parts(node);
  return inner === undefined || rest.length > 0 ? fail(node, "not one part") : inner;
}

/** The next state with a value; none where it has another already. */
function assign(next: State, name: string, value: Value): readonly State[] {
  const known = next[name];
  if (known === undefined) return [{ ...next, [name]: value }];
  return isEqual(known, value) ? [next] : [];
}

function all(acts: readonly Act[]): Act {
  return (env, place) => {
    let states: readonly State[] = [place.next ?? {}];
    for (const act of acts) {
      states = states.flatMap((next) => act(env, { now: place.now, next }));
      if (states.length === 0) break;
    }
    return states;
  };
}

function any(acts: readonly Act[]): Act {
  return (env, place) => acts.flatMap((act) => act(env, place));
}

/** A text that is equal exactly for equal states. */
export function stateKey(state: State): string {
  return Object.keys(state)
    .sort()
    .map((name) => keyOf(state[name]!))
    .join(";");
}
