/** Where a rule is explained. */
export function ruleUrl(id: string): string {
  return `https://github.com/quorumlint/quorumlint/blob/main/docs/rules/${id}.md`;
}
