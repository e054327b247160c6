/**
 * An interpreter for the part of TLA+ that the modules here use, so that they run in the tests without Java. Expressions are compiled
 * to functions; an action is run by finding the values of primed variables that make it true, conjunct by conjunct.
 */
import type { Node } from "web-tree-sitter";
import type { Act, Scope, State } from "./env.ts";
import { argumentsOf, bindAll, only, scopeOf } from "./env.ts";
import { Expressions } from "./expressions.ts";
import { field, parts } from "./grammar.ts";
import type { Definition } from "./module.ts";
import type { Value } from "./values.ts";
import { asBoolean, isEqual } from "./values.ts";

export class Interpreter extends Expressions {
  private readonly acts = new Map<string, Act>();
  private readonly primed = new Map<string, boolean>();

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

  private actionOf(definition: Definition, isInitial = false): Act {
    const name = isInitial ? `${definition.name} initially` : definition.name;
    let act = this.acts.get(name);
    if (act === undefined) {
      act = this.act(definition.body, scopeOf(definition.params), isInitial);
      this.acts.set(name, act);
    }
    return act;
  }

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

  protected override act(node: Node, scope: Scope | undefined, isInitial: boolean): Act {
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

  private guard(node: Node, scope: Scope | undefined): Act {
    const test = this.compile(node, scope);
    return (env, place) => (asBoolean(test(env, place)) ? [place.next ?? {}] : []);
  }
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
