/** One line about a problem of a document's schema. */

import type { SchemaProblem } from "./schema-problem.js";

const suggestion = (problem: SchemaProblem): string =>
  problem.nearest === undefined ? "" : `; did you mean "${problem.nearest}"?`;
const remark = (problem: SchemaProblem): string => (problem.note === undefined ? "" : `: ${problem.note}`);

/** What is wrong, without its place: `"repliacs" is no field of StatefulSetSpec; did you mean "replicas"?` */
export function describeProblem(problem: SchemaProblem): string {
  const { field, of, expected, got, note } = problem;
  switch (problem.code) {
    case "no-kind":
      return `"${field}" ${got === undefined ? "is missing" : `is ${got}, not ${expected}`}: every Kubernetes object has a string there`;
    case "unknown-kind":
      return `${got} is not ${expected}${note === undefined ? suggestion(problem) : `; it is in ${note}`}`;
    case "unknown-version":
      return `Kubernetes has no API version ${got}${suggestion(problem)}`;
    case "removed-api":
      return `${got} is gone since Kubernetes ${note}${expected === undefined ? ", without a successor" : `; use ${expected}`}`;
    case "future-api":
      return `${got} has this kind only since Kubernetes ${note}`;
    case "unknown-field":
      return `"${field}" is no field of ${of}${note === undefined ? suggestion(problem) : `; ${note}`}`;
    case "wrong-type":
      return `"${field}" must be ${expected}, not ${got}`;
    case "missing":
      if (expected !== undefined) return `"${field}" needs ${expected}`;
      return `${of} needs "${field}"${remark(problem)}`;
    case "enum":
      return `"${field}" must be ${expected?.startsWith("one of ") ? expected : expected?.includes(", ") ? `one of ${expected}` : expected}, not ${got}${suggestion(problem)}`;
    case "pattern":
    case "range":
      return `"${field}" must be ${expected}, not ${got}${suggestion(problem)}`;
    case "duplicate":
      return `${got} stands here twice as "${field}"`;
    case "conflict":
      return `"${field}" cannot stand like this${remark(problem)}`;
  }
}
