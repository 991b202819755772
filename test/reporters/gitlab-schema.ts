/**
 * What GitLab's documentation asks of a Code Quality report (docs.gitlab.com/ci/testing/code_quality, "Code Quality report
 * format"), with what the Code Climate specification says of the other members that an issue may have; and of a job of
 * `.gitlab-ci.yml` (docs.gitlab.com/ci/yaml) with artifacts and rules. Written from the texts, strict: nothing else is allowed.
 */
const position = {
  type: "object",
  additionalProperties: false,
  required: ["line", "column"],
  properties: { line: { type: "integer", minimum: 1 }, column: { type: "integer", minimum: 1 } },
};
const location = {
  type: "object",
  additionalProperties: false,
  required: ["path"],
  properties: {
    // relative to the repository, without ./
    path: { type: "string", minLength: 1, not: { pattern: "^(\\./|/)" } },
    lines: {
      type: "object",
      additionalProperties: false,
      required: ["begin"],
      properties: { begin: { type: "integer", minimum: 1 }, end: { type: "integer", minimum: 1 } },
    },
    positions: {
      type: "object",
      additionalProperties: false,
      required: ["begin", "end"],
      properties: { begin: position, end: position },
    },
  },
  oneOf: [{ required: ["lines"] }, { required: ["positions"] }],
};

export const codeQualitySchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "array",
  items: {
    type: "object",
    additionalProperties: false,
    required: ["description", "check_name", "fingerprint", "severity", "location"],
    properties: {
      type: { const: "issue" },
      description: { type: "string", minLength: 1 },
      check_name: { type: "string", minLength: 1 },
      fingerprint: { type: "string", minLength: 1 },
      severity: { enum: ["info", "minor", "major", "critical", "blocker"] },
      location,
      other_locations: { type: "array", items: location },
      content: {
        type: "object",
        additionalProperties: false,
        required: ["body"],
        properties: { body: { type: "string", minLength: 1 } },
      },
      categories: {
        type: "array",
        minItems: 1,
        items: {
          enum: [
            "Bug Risk",
            "Clarity",
            "Compatibility",
            "Complexity",
            "Duplication",
            "Performance",
            "Security",
            "Style",
          ],
        },
      },
    },
  },
};

const strings = { type: "array", minItems: 1, items: { type: "string", minLength: 1 } };

export const gitlabJobSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  minProperties: 1,
  additionalProperties: {
    type: "object",
    additionalProperties: false,
    required: ["script"],
    properties: {
      stage: { type: "string", minLength: 1 },
      image: { type: "string", minLength: 1 },
      variables: { type: "object", additionalProperties: { type: "string" } },
      before_script: strings,
      script: strings,
      allow_failure: { type: "boolean" },
      artifacts: {
        type: "object",
        additionalProperties: false,
        properties: {
          when: { enum: ["on_success", "on_failure", "always"] },
          expire_in: { type: "string" },
          paths: strings,
          reports: {
            type: "object",
            additionalProperties: false,
            properties: {
              codequality: { anyOf: [{ type: "string" }, strings] },
              junit: { anyOf: [{ type: "string" }, strings] },
              sast: { anyOf: [{ type: "string" }, strings] },
            },
          },
        },
      },
      rules: {
        type: "array",
        minItems: 1,
        items: {
          type: "object",
          additionalProperties: false,
          properties: {
            if: { type: "string", pattern: '^\\$[A-Z_]+( (==|!=|=~) ("[^"]*"|\\$[A-Z_]+|/[^/]+/))?$' },
            when: { enum: ["on_success", "manual", "always", "never", "delayed"] },
            changes: strings,
            exists: strings,
          },
        },
      },
    },
  },
};
